// safetensors.cpp -- writes safetensors, and reads them with every number checked before its use.
#include "models/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <bitset>
#include <cstring>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "core/error.h"

namespace linnet {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little endian");
using nlohmann::json;
using Directory = std::map<std::string, TensorInfo, std::less<>>;

constexpr uint64_t kMaxHeader = 100'000'000;  // as in the reference implementation
constexpr size_t kLengthBytes = sizeof(uint64_t), kAlignment = 64, kMaxRank = 16;
constexpr std::string_view kMetadataKey = "__metadata__";
constexpr std::array<std::string_view, 3> kFields = {"dtype", "shape", "data_offsets"};
constexpr size_t kDtype = 0, kShape = 1;  // of kFields

using Dtype = std::pair<std::string_view, int64_t>;  // name, bytes of an item
constexpr Dtype kDtypes[] = {
    {"F32", 4},     {"F16", 2}, {"BF16", 2}, {"F64", 8}, {"F8_E4M3", 1}, {"F8_E5M2", 1},
    {"F8_E8M0", 1}, {"C64", 8}, {"I8", 1},   {"I16", 2}, {"I32", 4},     {"I64", 8},
    {"BOOL", 1},    {"U8", 1},  {"U16", 2},  {"U32", 4}, {"U64", 8}};

template <typename... Args>
[[noreturn]] void refuse(std::string_view place, fmt::format_string<Args...> why, Args&&... args) {
  throw Error(fmt::format("[{}] {}", place, fmt::format(why, std::forward<Args>(args)...)));
}

std::string text_of(const std::vector<int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

// Nothing when a dimension is negative or a product overflows; a zero hides no overflow, so that
// whoever multiplies the dimensions later, in any order, is safe.
std::optional<size_t> byte_count(const std::vector<int64_t>& shape, int64_t item) {
  int64_t bytes = item;
  bool empty = false;
  for (const int64_t n : shape) {
    if (n < 0 || __builtin_mul_overflow(bytes, std::max<int64_t>(n, 1), &bytes)) return {};
    empty |= n == 0;
  }
  return empty ? 0 : static_cast<size_t>(bytes);
}

// Takes the JSON events of a header. Only the three levels of the format have a state, so deeper
// nesting is refused where it begins; the parser itself keeps no stack frames.
class HeaderReader {
 public:
  Directory tensors;
  std::map<std::string, std::string> metadata;

  HeaderReader(std::string_view place, size_t data_size) : place_(place), data_size_(data_size) {}

  // The names and the meaning of the results are those of nlohmann::json_sax.
  bool null() { unexpected("null"); }
  bool boolean(bool) { unexpected("a truth value"); }
  bool binary(json::binary_t&) { unexpected("bytes"); }
  bool number_float(double, const std::string& text) { unexpected(printable(text)); }
  bool number_integer(int64_t) { unexpected("a negative number"); }
  bool number_unsigned(uint64_t value) {
    if (at_ != At::kList) unexpected("a number");
    if (value > INT64_MAX) unexpected(fmt::format("{}", value));
    std::vector<int64_t>& list = field_ == kShape ? info_.shape : offsets_;
    const size_t most = field_ == kShape ? kMaxRank : 2;
    if (list.size() == most) fail("{} has more than {} numbers", kFields[field_], most);
    list.push_back(static_cast<int64_t>(value));
    return true;
  }

  bool string(std::string& value) {
    if (at_ == At::kMetadata) {
      metadata[key_] = std::move(value);
      return true;
    }
    if (at_ != At::kTensor || field_ != kDtype) unexpected("a string");
    dtype_ = std::ranges::find(kDtypes, value, &Dtype::first);
    if (dtype_ == std::end(kDtypes)) fail("the dtype \"{}\" is unknown", printable(value));
    info_.dtype = dtype_->first;
    return true;
  }

  bool start_object(size_t) {
    if (at_ == At::kFile) return enter(At::kRoot);
    if (at_ != At::kRoot) unexpected("an object");
    info_ = {};
    offsets_.clear();
    seen_.reset();
    return enter(name_ == kMetadataKey ? At::kMetadata : At::kTensor);
  }
  bool end_object() {
    if (at_ == At::kTensor) add_tensor();
    return enter(At::kRoot);
  }
  bool start_array(size_t) {
    if (at_ != At::kTensor || field_ == kDtype) unexpected("a list");
    return enter(At::kList);
  }
  bool end_array() { return enter(At::kTensor); }

  bool key(std::string& key) {
    bool twice = false;
    if (at_ == At::kRoot) {
      twice = key == kMetadataKey ? std::exchange(has_metadata_, true) : tensors.contains(key);
      name_ = key;
    } else if (at_ == At::kMetadata) {
      twice = metadata.contains(key);
      key_ = key;
    } else {
      field_ = static_cast<size_t>(std::ranges::find(kFields, key) - kFields.begin());
      if (field_ == kFields.size()) fail("the field \"{}\" is unknown", printable(key));
      twice = seen_.test(field_);
      seen_.set(field_);
    }
    if (twice) refuse(place_, "\"{}\" appears twice, at \"{}\"", printable(key), printable(name_));
    return true;
  }

  bool parse_error(size_t, const std::string&, const json::exception& error) {
    // "[json.exception...] parse error at line 1, column 5: ...; last read: ...": without the
    // library's own tag, and without the tail, which can be as long as the header.
    std::string_view why = error.what();
    why = why.substr(why.find("] ") + 2);
    why = why.substr(0, why.find("; last read"));
    refuse(place_, "the header is not JSON: {}", printable(why, 200));
  }

 private:
  enum class At { kFile, kRoot, kMetadata, kTensor, kList };

  bool enter(At at) {
    at_ = at;
    return true;
  }

  template <typename... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
    refuse(place_, "tensor \"{}\": {}", printable(name_),
           fmt::format(format, std::forward<Args>(args)...));
  }

  [[noreturn]] void unexpected(std::string_view found) const {
    if (at_ == At::kList)
      fail("{} must hold whole numbers from 0 to 2^63 - 1, not {}", kFields[field_], found);
    if (at_ == At::kTensor)
      fail("{} must be {}, not {}", kFields[field_], field_ == kDtype ? "a string" : "a list",
           found);
    if (at_ == At::kMetadata)
      refuse(place_, "the metadata \"{}\" must be a string, not {}", printable(key_), found);
    refuse(place_, "\"{}\" must be an object, not {}", printable(name_), found);
  }

  void add_tensor() {
    for (size_t i = 0; i < kFields.size(); ++i)
      if (!seen_.test(i)) fail("the field \"{}\" is missing", kFields[i]);
    if (offsets_.size() != 2) fail("data_offsets must hold two numbers, begin and end");
    info_.begin = static_cast<size_t>(offsets_[0]);
    info_.end = static_cast<size_t>(offsets_[1]);
    if (info_.begin > info_.end || info_.end > data_size_)
      fail("data_offsets {} are no range in {} bytes of data", text_of(offsets_), data_size_);
    const std::optional<size_t> bytes = byte_count(info_.shape, dtype_->second);
    if (!bytes) fail("the shape {} overflows", text_of(info_.shape));
    const size_t given = info_.end - info_.begin;
    if (*bytes != given)
      fail("{} {} has {} bytes, not {}", info_.dtype, text_of(info_.shape), *bytes, given);
    tensors.emplace(std::move(name_), std::move(info_));
  }

  std::string_view place_;
  size_t data_size_;
  At at_ = At::kFile;
  bool has_metadata_ = false;
  std::string name_, key_;  // of the tensor, of the metadata
  size_t field_ = kDtype;   // of kFields
  std::bitset<kFields.size()> seen_;
  const Dtype* dtype_ = nullptr;
  TensorInfo info_;
  std::vector<int64_t> offsets_;
};

// Bytes that no tensor owns could smuggle content, bytes that two own could be a decoy.
void check_cover(std::string_view place, const Directory& tensors, size_t data_size) {
  std::vector<std::tuple<size_t, size_t, std::string_view>> order;
  for (const auto& [name, info] : tensors) order.emplace_back(info.begin, info.end, name);
  std::ranges::sort(order);
  size_t end = 0;
  for (const auto& [begin, next_end, name] : order) {
    if (begin < end)
      refuse(place, "tensor \"{}\" overlaps another at byte {}", printable(name), begin);
    if (begin > end)
      refuse(place, "bytes {} to {} before tensor \"{}\" are a hole", end, begin, printable(name));
    end = next_end;
  }
  if (end != data_size)
    refuse(place, "the last {} bytes of the file belong to no tensor", data_size - end);
}

// The directory as text with its length in front, padded.
std::string header_of(std::string_view place, std::span<const Tensor* const> tensors,
                      const std::map<std::string, std::string>& metadata) {
  json directory = json::object();  // sorts its keys
  if (!metadata.empty()) directory[std::string(kMetadataKey)] = metadata;
  size_t begin = 0;
  for (const Tensor* tensor : tensors) {
    const std::optional<size_t> bytes = byte_count(tensor->shape, sizeof(float));
    if (!bytes || tensor->shape.size() > kMaxRank)
      refuse(place, "tensor \"{}\" has the impossible shape {}", printable(tensor->name),
             text_of(tensor->shape));
    if (tensor->name == kMetadataKey || directory.contains(tensor->name))
      refuse(place, "the tensor name \"{}\" is taken", printable(tensor->name));
    directory[tensor->name] = {
        {"dtype", "F32"}, {"shape", tensor->shape}, {"data_offsets", {begin, begin + *bytes}}};
    begin += *bytes;
  }
  std::string header(kLengthBytes, '\0');
  try {
    header += directory.dump();
  } catch (const json::exception&) {
    refuse(place, "a tensor name or the metadata is not UTF-8");
  }
  header.resize((header.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  const uint64_t length = header.size() - kLengthBytes;
  if (length > kMaxHeader) refuse(place, "the header would have {} bytes", length);
  std::memcpy(header.data(), &length, kLengthBytes);
  return header;
}

}  // namespace

NewFile new_safetensors(const std::filesystem::path& path, std::span<const Tensor> tensors,
                        const std::map<std::string, std::string>& metadata) {
  std::vector<const Tensor*> order;
  for (const Tensor& tensor : tensors) order.push_back(&tensor);
  std::ranges::sort(order, {}, [](const Tensor* tensor) { return std::string_view(tensor->name); });
  const std::string header = header_of(place_of(path), order, metadata);
  std::vector<std::span<const std::byte>> parts = {std::as_bytes(std::span(header))};
  for (const Tensor* tensor : order)
    parts.emplace_back(reinterpret_cast<const std::byte*>(tensor->data),
                       *byte_count(tensor->shape, sizeof(float)));
  return NewFile(path, parts);
}

void write_safetensors(const std::filesystem::path& path, std::span<const Tensor> tensors,
                       const std::map<std::string, std::string>& metadata) {
  new_safetensors(path, tensors, metadata).put_in_place();
}

SafetensorsFile SafetensorsFile::open(const std::filesystem::path& path) {
  MappedFile map(path);
  SafetensorsFile result = parse(map.bytes(), place_of(path));
  result.map_ = std::move(map);
  return result;
}

SafetensorsFile SafetensorsFile::parse(std::span<const std::byte> file, std::string_view place) {
  SafetensorsFile result;
  result.place_ = place;
  uint64_t length = 0;
  if (file.size() < kLengthBytes)
    refuse(place, "has {} bytes, too few for a safetensors file", file.size());
  std::memcpy(&length, file.data(), kLengthBytes);
  if (length > kMaxHeader)
    refuse(place, "claims a header of {} bytes, but the limit is {}", length, kMaxHeader);
  if (length > file.size() - kLengthBytes)
    refuse(place, "claims a header of {} bytes, but has only {} in all", length, file.size());
  const std::string_view header(reinterpret_cast<const char*>(file.data()) + kLengthBytes, length);
  if (!header.starts_with('{')) refuse(place, "the header is not a JSON object");
  // The parser takes a zero byte for the end and would not see what follows.
  if (header.find('\0') != header.npos)
    refuse(place, "the header is not JSON: it holds a zero byte");
  result.data_ = file.subspan(kLengthBytes + length);
  HeaderReader reader(place, result.data_.size());
  json::sax_parse(header, &reader);
  check_cover(place, reader.tensors, result.data_.size());
  result.tensors_ = std::move(reader.tensors);
  result.metadata_ = std::move(reader.metadata);
  return result;
}

const TensorInfo& SafetensorsFile::check(std::string_view name,
                                         const std::vector<int64_t>& expected_shape) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end())
    refuse(place_, "tensor \"{}\", F32 {}, is none of the {} in the file", printable(name),
           text_of(expected_shape), tensors_.size());
  const TensorInfo& info = found->second;
  if (info.dtype != "F32" || info.shape != expected_shape)
    refuse(place_, "tensor \"{}\" should be F32 {}, but is {} {}", printable(name),
           text_of(expected_shape), info.dtype, text_of(info.shape));
  return info;
}

void SafetensorsFile::read(std::string_view name, float* out,
                           const std::vector<int64_t>& expected_shape) const {
  const TensorInfo& info = check(name, expected_shape);
  read_start(name, out, expected_shape,
             static_cast<int64_t>((info.end - info.begin) / sizeof(float)));
}

void SafetensorsFile::read_start(std::string_view name, float* out,
                                 const std::vector<int64_t>& expected_shape, int64_t count) const {
  const TensorInfo& info = check(name, expected_shape);
  const size_t bytes = static_cast<size_t>(count) * sizeof(float);
  LINNET_ASSERT(count >= 0 && bytes <= info.end - info.begin);
  // An empty tensor may come with a null `out`, which memcpy does not allow.
  if (bytes > 0) std::memcpy(out, data_.data() + info.begin, bytes);
}

}  // namespace linnet
