// figures.h -- numbers as people read them; a dash for what was not measured.
#pragma once

#include <string>

#include "report/statistics.h"

namespace linnet {

std::string percent(double share);                       // 0.36374: "36.37"
std::string percent_interval(const Interval& interval);  // "36.1 to 36.9"
std::string signed_points(double difference);            // "+1.25", in percentage points
std::string points_interval(const Interval& interval);   // "-0.3 to +1.9"
std::string p_value(double p);                           // "0.031", "< 0.001"
std::string duration(double seconds);                    // "3 min 1 s", "2.5 h"
std::string quantity(double value);                      // "1.23 M", "45.0 k"
std::string whole(double value);                         // "21,019,658"

}  // namespace linnet
