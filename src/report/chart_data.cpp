// chart_data.cpp -- cells and learning curves as JSON.
#include "report/chart_data.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "report/paper_table.h"
#include "report/report_tables.h"
#include "report/run_curves.h"

namespace linnet {
namespace {

using Json = nlohmann::ordered_json;

// Six digits are more than a screen can show, and a third of the page's size.
Json number(double value) {
  if (!std::isfinite(value)) return Json();
  const double unit = std::pow(10, std::floor(std::log10(std::max(std::abs(value), 1e-12))) - 5);
  return std::round(value / unit) * unit;
}

Json numbers(const std::vector<double>& values, double scale = 1) {
  Json list = Json::array();
  for (const double value : values) list.push_back(number(value * scale));
  return list;
}

Json band_json(const ArenaCell& cell, double RunCurvePoint::*x, double RunCurvePoint::*y,
               double scale) {
  const CurveBand band = curve_band(cell.runs, x, y);
  return {{"x", numbers(band.x)},
          {"mean", numbers(band.mean, scale)},
          {"low", numbers(band.low, scale)},
          {"high", numbers(band.high, scale)}};
}

Json curves_json(const ArenaCell& cell) {
  Json json;
  for (const auto& [name, x] :
       {std::pair("steps", &RunCurvePoint::step), std::pair("seconds", &RunCurvePoint::seconds)}) {
    json[name]["accuracy"] = band_json(cell, x, &RunCurvePoint::validation_accuracy, 100);
    json[name]["loss"] = band_json(cell, x, &RunCurvePoint::validation_loss, 1);
  }
  return json;
}

Json cell_json(const ArenaBoard& board, const ArenaCell& cell) {
  Json json;
  json["row"] = std::ranges::find(board.rows, cell.label) - board.rows.begin();
  json["mean"] = number(cell.mean * 100);
  json["low"] = number(cell.interval.low * 100);
  json["high"] = number(cell.interval.high * 100);
  json["paper"] = number(cell.paper * 100);
  json["seeds"] = Json::array();
  for (const RunRecord* run : cell.runs)
    json["seeds"].push_back({{"seed", run->seed}, {"accuracy", number(run->test.accuracy * 100)}});
  json["seconds"] = number(cell.costs.seconds);
  json["parameters"] = number(cell.costs.parameters);
  json["tokens_per_s"] = number(cell.costs.tokens_per_s);
  json["peak_mb"] = number(cell.costs.peak_mb);
  json["curves"] = curves_json(cell);
  return json;
}

// Inference and training: what was measured of each mixer, by the length.
Json lengths_json(const std::vector<LengthPoint>& points) {
  Json modes = Json::array();
  for (const bool training : {false, true}) {
    std::vector<std::string> names;
    std::map<std::string, Json> lines;
    for (const LengthPoint& point : points) {
      if (point.training != training) continue;
      if (!lines.contains(point.mixer)) names.push_back(point.mixer);
      lines[point.mixer].push_back({{"x", point.length},
                                    {"time", number(1e6 * point.seconds / point.length)},
                                    {"memory", number(point.memory_mb)}});
    }
    Json mixers = Json::array();
    for (const std::string& name : names)
      mixers.push_back({{"name", name}, {"points", lines[name]}});
    modes.push_back({{"softmax", std::ranges::find(names, "softmax") - names.begin()},
                     {"mixers", std::move(mixers)}});
  }
  return modes;
}

}  // namespace

Json chart_data(const ArenaSummary& summary) {
  Json boards = Json::array();
  for (const ArenaBoard& board : summary.boards) {
    Json json;
    json["rows"] = Json::array();
    for (const std::string& label : board.rows) json["rows"].push_back(label_title(label));
    json["against"] = std::ranges::find(board.rows, board.against) - board.rows.begin();
    json["tasks"] = Json::array();
    for (const ArenaTask& task : board.tasks) {
      Json cells = Json::array(), references = Json::array();
      for (const ArenaCell& cell : task.cells) {
        if (!cell.runs.empty()) cells.push_back(cell_json(board, cell));
      }
      for (const ReferenceScore& reference : task.references)
        references.push_back(
            {{"name", reference.name}, {"accuracy", number(reference.accuracy * 100)}});
      json["tasks"].push_back(
          {{"title", task_title(task.task)}, {"references", references}, {"cells", cells}});
    }
    boards.push_back(std::move(json));
  }
  return {{"boards", std::move(boards)}, {"lengths", lengths_json(summary.lengths)}};
}

}  // namespace linnet
