// run_records_fuzz.cpp -- any bytes give records that every form of the report can show, or one
// clear Error with file and line.
//
//   run_records_fuzz tests/fuzz/corpus/run_records
#include <cstdint>
#include <string_view>

#include "core/error.h"
#include "core/utf8.h"
#include "report/report_page.h"
#include "report/report_text.h"
#include "train/run_identity.h"

namespace {

void check_message(std::string_view message) {
  LINNET_ASSERT(message.starts_with("[f:") || message.starts_with("[report] "));
  LINNET_ASSERT(message.size() < 2000);
  for (const char c : message) LINNET_ASSERT(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    linnet::RunRecords records;
    linnet::add_run_records(text, "f", records, linnet::with_defaults);
    const linnet::ArenaSummary summary = linnet::summarize(records, "");
    const std::string page = linnet::report_page(summary, "fuzz");
    LINNET_ASSERT(linnet::is_utf8(page));
    LINNET_ASSERT(linnet::is_utf8(linnet::markdown_report(summary, "fuzz")));
    linnet::csv_report(summary);
    linnet::json_report(summary);
  } catch (const linnet::Error& error) {
    check_message(error.what());
  }
  return 0;
}
