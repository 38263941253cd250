// figures.cpp -- formats.
#include "report/figures.h"

#include <fmt/format.h>

#include <cmath>

namespace linnet {
namespace {
constexpr const char* kNone = "-";
}

std::string percent(double share) {
  return std::isnan(share) ? kNone : fmt::format("{:.2f}", share * 100);
}

std::string percent_interval(const Interval& interval) {
  if (std::isnan(interval.low)) return kNone;
  return fmt::format("{:.2f} to {:.2f}", interval.low * 100, interval.high * 100);
}

std::string signed_points(double difference) {
  return std::isnan(difference) ? kNone : fmt::format("{:+.2f}", difference * 100);
}

std::string points_interval(const Interval& interval) {
  if (std::isnan(interval.low)) return kNone;
  return fmt::format("{:+.2f} to {:+.2f}", interval.low * 100, interval.high * 100);
}

std::string p_value(double p) {
  if (std::isnan(p)) return kNone;
  if (p < 0.001) return "< 0.001";
  return p < 0.1 ? fmt::format("{:.3f}", p) : fmt::format("{:.2f}", p);
}

std::string duration(double seconds) {
  if (std::isnan(seconds)) return kNone;
  if (seconds < 60) return fmt::format("{:.3g} s", seconds);
  if (seconds < 3600) {
    const auto rounded = std::lround(seconds);
    return fmt::format("{} min {} s", rounded / 60, rounded % 60);
  }
  return seconds < 100 * 3600 ? fmt::format("{:.1f} h", seconds / 3600)
                              : fmt::format("{:.1f} days", seconds / 86400);
}

std::string quantity(double value) {
  if (std::isnan(value)) return kNone;
  constexpr const char* kUnits[] = {"", " k", " M", " G", " T", " P", " E"};
  size_t unit = 0;
  for (; value >= 999.5 && unit + 1 < std::size(kUnits); ++unit) value /= 1000;
  return value < 10 ? fmt::format("{:.2f}{}", value, kUnits[unit])
                    : fmt::format("{:.{}f}{}", value, value < 100 ? 1 : 0, kUnits[unit]);
}

std::string whole(double value) {
  if (std::isnan(value)) return kNone;
  std::string digits = fmt::format("{:.0f}", value);
  for (size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

}  // namespace linnet
