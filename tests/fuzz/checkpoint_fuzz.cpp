// checkpoint_fuzz.cpp -- any checkpoint takes a run one step on, or gives one clear Error.
//
//   checkpoint_fuzz tests/fuzz/corpus/checkpoint
//
// The first byte says what the rest is: the note, another entry of the metadata, or the whole file.
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>

#include "tests/fuzz/run_fuzz.h"

namespace {

using Json = nlohmann::json;

constexpr const char* kFile = "checkpoint.safetensors";
constexpr const char* kEntries[] = {"note", "steps", "seen", "seed", "lanes", "config", "format"};

struct Stopped : linnet::SmallRun {
  std::string checkpoint, metrics;
  Stopped() {
    linnet::Run run(context, folder, config, prepared, settings);
    for (int i = 0; i < 4; ++i) run.advance();
    run.save_checkpoint();
    checkpoint = read(kFile);
    metrics = read("metrics.jsonl");
  }
  std::string with_entry(const char* name, std::string_view text) const {
    uint64_t size = 0;
    std::memcpy(&size, checkpoint.data(), sizeof size);
    Json header = Json::parse(checkpoint.substr(sizeof size, size));
    header["__metadata__"][name] = text;
    const std::string changed = header.dump(-1, ' ', false, Json::error_handler_t::replace);
    const uint64_t length = changed.size();
    std::string file(sizeof length, '\0');
    std::memcpy(file.data(), &length, sizeof length);
    return file + changed + checkpoint.substr(sizeof size + size);
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Stopped stopped;
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data + 1), size - 1);
  const size_t entry = data[0];
  stopped.write(kFile, entry < std::size(kEntries) ? stopped.with_entry(kEntries[entry], rest)
                                                   : std::string(rest));
  stopped.write("metrics.jsonl", stopped.metrics);
  try {
    linnet::Run run(stopped.context, stopped.folder, stopped.config, stopped.prepared,
                    stopped.settings);
    LINNET_ASSERT(run.resumed());
    const int64_t before = run.steps();
    if (run.finished()) return 0;
    const linnet::StepResult result = run.advance();
    LINNET_ASSERT(run.steps() == before + 1 && result.tokens > 0 && result.loss >= 0);
  } catch (const linnet::Error& error) {
    linnet::check_message(error.what());
  }
  return 0;
}
