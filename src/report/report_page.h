// report_page.h -- the report as one HTML file: tables, charts, Chart.js and data, no request to
// any network.
#pragma once

#include <string>

#include "report/arena_summary.h"

namespace linnet {

std::string report_page(const ArenaSummary& summary, const std::string& title);

}  // namespace linnet
