// page_assets.h -- the files of src/report/page and Chart.js, put into the program by the build.
#pragma once

#include <string_view>

namespace linnet {

extern const std::string_view kPageHtml, kPageCss, kTablesCss;
extern const std::string_view kThemeJs, kDrawingJs, kChartsJs, kChartLibraryJs;

}  // namespace linnet
