// safetensors_test.cpp -- round trips, and every kind of hostile file refused by a clear sentence.
#include "models/safetensors.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/error.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

std::string with_length(uint64_t length, std::string_view rest) {
  std::string file(sizeof length, '\0');
  std::memcpy(file.data(), &length, sizeof length);
  return file.append(rest);
}

std::string file_of(std::string_view header, size_t data_bytes = 0) {
  return with_length(header.size(), header) + std::string(data_bytes, '\x3f');
}

// A header with one tensor "a".
std::string one(std::string_view dtype, std::string_view shape, std::string_view offsets) {
  return std::string("{\"a\":{\"dtype\":") + std::string(dtype) +
         ",\"shape\":" + std::string(shape) + ",\"data_offsets\":" + std::string(offsets) + "}}";
}

// "" when the file is accepted.
std::string fault(std::string_view file) {
  try {
    SafetensorsFile::parse(bytes_of(file), "x.safetensors");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

void expect_fault(std::string_view file, std::string_view part) {
  const std::string found = fault(file);
  EXPECT_TRUE(found.starts_with("[x.safetensors] ")) << found;
  EXPECT_NE(found.find(part), std::string::npos) << found << "\nshould hold: " << part;
  EXPECT_LT(found.size(), 500u);
  for (const char c : found) EXPECT_TRUE(c >= 0x20 && c < 0x7f) << found;
}

class SafetensorsTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "linnet_safetensors_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    path_ = folder_ / "model.safetensors";
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string content() const { return read_file(path_, 1 << 20); }
  // Of opening the file and reading a tensor from it; "" when there is none.
  std::string read_fault(const std::vector<int64_t>& shape, std::string_view name = "w") const {
    std::vector<float> out(64);
    try {
      SafetensorsFile::open(path_).read(name, out.data(), shape);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  fs::path folder_, path_;
  const std::vector<float> w_ = {1,
                                 -2,
                                 3.5f,
                                 std::numeric_limits<float>::infinity(),
                                 std::numeric_limits<float>::quiet_NaN(),
                                 -0.0f};
  const std::vector<float> b_ = {7};
};

TEST_F(SafetensorsTest, RoundTripIsExactAndAligned) {
  const Tensor tensors[] = {{"w", {2, 3}, w_.data()},
                            {"scalar", {}, b_.data()},
                            {"empty", {4, 0, 2}, nullptr},
                            {"", {1, 1}, b_.data()},
                            {"gr\xc3\xbc\xc3\x9f \"\\\n", {1}, b_.data()}};
  write_safetensors(path_, tensors, {{"format", "pt"}, {"note", "two\nlines, \xe2\x82\xac"}});
  const SafetensorsFile file = SafetensorsFile::open(path_);
  EXPECT_EQ(file.tensors().size(), 5u);
  EXPECT_EQ(file.metadata(), (std::map<std::string, std::string>{
                                 {"format", "pt"}, {"note", "two\nlines, \xe2\x82\xac"}}));
  for (const Tensor& tensor : tensors) {
    const TensorInfo& info = file.tensors().at(tensor.name);
    EXPECT_EQ(info.dtype, "F32");
    EXPECT_EQ(info.shape, tensor.shape);
    std::vector<float> out((info.end - info.begin) / sizeof(float));
    file.read(tensor.name, out.data(), tensor.shape);
    if (!out.empty()) {
      EXPECT_EQ(std::memcmp(out.data(), tensor.data, info.end - info.begin), 0);
    }
  }
  uint64_t length = 0;
  std::memcpy(&length, content().data(), sizeof length);
  EXPECT_EQ((8 + length) % 64, 0u);
  EXPECT_EQ(content()[8], '{');
}

TEST_F(SafetensorsTest, WritesWhatTheFormatSays) {
  const Tensor tensors[] = {{"w", {2, 3}, w_.data()}, {"b", {}, b_.data()}};
  write_safetensors(path_, tensors, {{"k", "v"}});
  const auto header = nlohmann::json::parse(content().substr(8, content().find("   ") - 8));
  EXPECT_EQ(header, nlohmann::json::parse(
                        R"({"__metadata__": {"k": "v"},
                            "b": {"dtype": "F32", "shape": [], "data_offsets": [0, 4]},
                            "w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [4, 28]}})"));
}

TEST_F(SafetensorsTest, OrderOfTheTensorsDoesNotMatter) {
  const Tensor ab[] = {{"a", {6}, w_.data()}, {"b", {1}, b_.data()}};
  const Tensor ba[] = {ab[1], ab[0]};
  write_safetensors(path_, ab, {});
  const std::string first = content();
  write_safetensors(path_, ba, {});
  EXPECT_EQ(content(), first);
}

TEST_F(SafetensorsTest, NoTensors) {
  write_safetensors(path_, {}, {});
  const SafetensorsFile file = SafetensorsFile::open(path_);
  EXPECT_TRUE(file.tensors().empty());
  EXPECT_TRUE(file.metadata().empty());
}

TEST_F(SafetensorsTest, ReadNamesFileTensorExpectedAndFound) {
  const Tensor tensors[] = {{"w", {2, 3}, w_.data()}};
  write_safetensors(path_, tensors, {});
  const std::string place = "[" + path_.string() + "] ";
  EXPECT_EQ(read_fault({2, 3}), "");
  EXPECT_EQ(read_fault({3, 2}), place + "tensor \"w\" should be F32 [3, 2], but is F32 [2, 3]");
  EXPECT_EQ(read_fault({6}), place + "tensor \"w\" should be F32 [6], but is F32 [2, 3]");
  EXPECT_EQ(read_fault({2}, "v\x1b"),
            place + "tensor \"v\\x1b\", F32 [2], is none of the 1 in the file");
  write_file(path_, file_of(one("\"BF16\"", "[2,3]", "[0,12]"), 12));
  EXPECT_EQ(read_fault({2, 3}, "a"),
            place + "tensor \"a\" should be F32 [2, 3], but is BF16 [2, 3]");
}

TEST_F(SafetensorsTest, ReadsUnalignedFloats) {
  const std::string header = R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                             R"("b":{"dtype":"F32","shape":[1],"data_offsets":[1,5]}})";
  std::string data(1, 'x');
  data.append(reinterpret_cast<const char*>(b_.data()), sizeof(float));
  const std::string file = with_length(header.size(), header) + data;
  float out = 0;
  SafetensorsFile::parse(bytes_of(file), "x").read("b", &out, {1});
  EXPECT_EQ(out, 7.0f);
}

TEST_F(SafetensorsTest, WriterRefusesWhatNobodyCouldRead) {
  const auto refused = [&](const std::vector<Tensor>& tensors,
                           const std::map<std::string, std::string>& metadata) -> std::string {
    try {
      write_safetensors(path_, tensors, metadata);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const float* data = b_.data();
  const std::string place = "[" + path_.string() + "] ";
  EXPECT_EQ(refused({{"a", {1}, data}, {"a", {1}, data}}, {}),
            place + "the tensor name \"a\" is taken");
  EXPECT_EQ(refused({{"__metadata__", {1}, data}}, {}),
            place + "the tensor name \"__metadata__\" is taken");
  EXPECT_EQ(refused({{"a", {-1, -1}, data}}, {}),
            place + "tensor \"a\" has the impossible shape [-1, -1]");
  EXPECT_EQ(refused({{"a", {1LL << 62, 4}, data}}, {}),
            place + "tensor \"a\" has the impossible shape [4611686018427387904, 4]");
  EXPECT_EQ(refused({{"\xff", {1}, data}}, {}),
            place + "a tensor name or the metadata is not UTF-8");
  EXPECT_EQ(refused({}, {{"k", "\xff"}}), place + "a tensor name or the metadata is not UTF-8");
  EXPECT_FALSE(fs::exists(path_));
}

TEST_F(SafetensorsTest, FullDiskKeepsTheOldModel) {
  const std::vector<float> large(100'000, 1.0f);
  const Tensor old_tensors[] = {{"w", {2, 3}, w_.data()}};
  const Tensor new_tensors[] = {{"w", {100'000}, large.data()}};
  write_safetensors(path_, old_tensors, {});
  rlimit before = {};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit limit = {200'000, before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ::setrlimit(RLIMIT_FSIZE, &limit);
  EXPECT_THROW(write_safetensors(path_, new_tensors, {}), Error);
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(read_fault({2, 3}), "");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

TEST(SafetensorsHostile, Length) {
  expect_fault("", "has 0 bytes");
  expect_fault("1234567", "has 7 bytes");
  expect_fault(with_length(0, ""), "not a JSON object");
  expect_fault(with_length(1ull << 63, "{}"), "header of 9223372036854775808 bytes");
  expect_fault(with_length(~0ull, "{}"), "header of 18446744073709551615 bytes");
  expect_fault(with_length(3, "{}"), "header of 3 bytes, but has only 10 in all");
  expect_fault(with_length(100'000'001, "{}"), "but the limit is 100000000");
}

TEST(SafetensorsHostile, Json) {
  expect_fault(file_of("hello"), "not a JSON object");
  expect_fault(file_of("[]"), "not a JSON object");
  expect_fault(file_of("null"), "not a JSON object");
  expect_fault(file_of("\xef\xbb\xbf{}"), "not a JSON object");
  expect_fault(file_of("{"), "the header is not JSON: parse error at line 1, column 2");
  expect_fault(file_of("{}{}"), "the header is not JSON");
  expect_fault(file_of(std::string("{}\0[", 4)), "the header is not JSON: it holds a zero byte");
  expect_fault(file_of("{} // comment"), "the header is not JSON");
  expect_fault(file_of("{\"\x1b[2J\": 1}"), "the header is not JSON");
  expect_fault(file_of("{\"a\": 1e999}"), "number overflow");
  EXPECT_EQ(fault(file_of("{}  ")), "");
}

TEST(SafetensorsHostile, Utf8) {
  expect_fault(file_of("{\"\xff\xfe\": {}}"), "ill-formed UTF-8 byte");
  expect_fault(file_of("{\"\xed\xa0\x80\": {}}"), "ill-formed UTF-8 byte");
  expect_fault(file_of("{\"\\ud800\": {}}"), "surrogate");
  expect_fault(file_of("{\"__metadata__\": {\"k\": \"\xc0\xaf\"}}"), "ill-formed UTF-8 byte");
}

TEST(SafetensorsHostile, Structure) {
  expect_fault(file_of("{\"a\": 1}"), "\"a\" must be an object, not a number");
  expect_fault(file_of("{\"a\": null}"), "\"a\" must be an object, not null");
  expect_fault(file_of("{\"a\": \"b\"}"), "\"a\" must be an object, not a string");
  expect_fault(file_of("{\"a\": {}}"), "tensor \"a\": the field \"dtype\" is missing");
  expect_fault(file_of("{\"a\": {\"dtype\": \"F32\", \"shape\": []}}"),
               "the field \"data_offsets\" is missing");
  expect_fault(file_of("{\"a\": {\"colour\": 1}}"), "the field \"colour\" is unknown");
  expect_fault(file_of(one("4", "[]", "[0,4]"), 4), "dtype must be a string, not a number");
  expect_fault(file_of(one("[]", "[]", "[0,4]"), 4), "dtype must be a string, not a list");
  expect_fault(file_of(one("\"F32\"", "{}", "[0,4]"), 4), "shape must be a list, not an object");
  expect_fault(file_of(one("\"F32\"", "true", "[0,4]"), 4), "shape must be a list, not a truth");
  expect_fault(file_of("{\"__metadata__\": []}"), "\"__metadata__\" must be an object, not a list");
  expect_fault(file_of("{\"__metadata__\": {\"k\": 1}}"), "the metadata \"k\" must be a string");
}

TEST(SafetensorsHostile, DuplicatedKeys) {
  const std::string a = "\"a\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]}";
  expect_fault(file_of("{" + a + "," + a + "}"), "\"a\" appears twice");
  expect_fault(file_of("{\"a\": {\"dtype\": \"F32\", \"dtype\": \"F32\"}}"),
               "\"dtype\" appears twice, at \"a\"");
  expect_fault(file_of("{\"__metadata__\": {}, \"__metadata__\": {}}"),
               "\"__metadata__\" appears twice");
  expect_fault(file_of("{\"__metadata__\": {\"k\": \"1\", \"k\": \"2\"}}"), "\"k\" appears twice");
}

TEST(SafetensorsHostile, DeepNestingIsRefusedWhereItBegins) {
  const std::string lists(5'000'000, '[');
  std::string objects;
  for (int i = 0; i < 1'000'000; ++i) objects += "{\"a\":";
  expect_fault(file_of(lists), "not a JSON object");
  expect_fault(file_of("{\"a\":" + lists), "\"a\" must be an object, not a list");
  expect_fault(file_of(objects), "tensor \"a\": the field \"a\" is unknown");
  expect_fault(file_of("{\"a\":{\"shape\":" + lists), "must hold whole numbers");
  expect_fault(file_of("{\"__metadata__\":{\"k\":" + objects), "the metadata \"k\"");
}

TEST(SafetensorsHostile, Offsets) {
  expect_fault(file_of(one("\"F32\"", "[1]", "[0,4]"), 3), "no range in 3 bytes of data");
  expect_fault(file_of(one("\"F32\"", "[1]", "[4,0]"), 4), "data_offsets [4, 0] are no range");
  expect_fault(file_of(one("\"F32\"", "[1]", "[-4,0]"), 4), "not a negative number");
  expect_fault(file_of(one("\"F32\"", "[1]", "[0.0,4]"), 4), "whole numbers from 0 to 2^63 - 1");
  expect_fault(file_of(one("\"F32\"", "[1]", "[0,4e0]"), 4), "not 4e0");
  expect_fault(file_of(one("\"F32\"", "[1]", "[\"0\",4]"), 4), "not a string");
  expect_fault(file_of(one("\"F32\"", "[1]", "[0]"), 4), "two numbers");
  expect_fault(file_of(one("\"F32\"", "[1]", "[0,4,8]"), 4), "data_offsets has more than 2");
  expect_fault(file_of(one("\"F32\"", "[1]", "[0,9223372036854775807]"), 4), "no range in 4 bytes");
  expect_fault(file_of(one("\"F32\"", "[1]", "[9223372036854775808,4]"), 4),
               "not 9223372036854775808");
  expect_fault(file_of(one("\"F32\"", "[1]", "[0,99999999999999999999999]"), 4),
               "not 99999999999999999999999");
}

TEST(SafetensorsHostile, TensorsMustCoverTheData) {
  const auto two = [](std::string_view first, std::string_view second) {
    const std::string tensor = "{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":";
    return "{\"a\":" + tensor + std::string(first) + "},\"b\":" + tensor + std::string(second) +
           "}}";
  };
  EXPECT_EQ(fault(file_of(two("[4,8]", "[0,4]"), 8)), "");
  expect_fault(file_of(two("[0,4]", "[3,7]"), 7), "tensor \"b\" overlaps another at byte 3");
  expect_fault(file_of(two("[0,4]", "[0,4]"), 4), "tensor \"b\" overlaps another at byte 0");
  expect_fault(file_of(two("[0,4]", "[5,9]"), 9), "bytes 4 to 5 before tensor \"b\" are a hole");
  expect_fault(file_of(two("[1,5]", "[5,9]"), 9), "bytes 0 to 1 before tensor \"a\" are a hole");
  expect_fault(file_of(two("[0,4]", "[4,8]"), 9), "the last 1 bytes of the file belong to no");
  expect_fault(file_of("{}", 5), "the last 5 bytes of the file belong to no tensor");
}

TEST(SafetensorsHostile, Shape) {
  const std::string huge = "4611686018427387904";
  expect_fault(file_of(one("\"F32\"", "[2]", "[0,4]"), 4), "F32 [2] has 8 bytes, not 4");
  expect_fault(file_of(one("\"F32\"", "[0]", "[0,4]"), 4), "F32 [0] has 0 bytes, not 4");
  expect_fault(file_of(one("\"F16\"", "[]", "[0,4]"), 4), "F16 [] has 2 bytes, not 4");
  expect_fault(file_of(one("\"F32\"", "[" + huge + ",4]", "[0,0]")), "overflows");
  expect_fault(file_of(one("\"F32\"", "[" + huge + "]", "[0,0]")), "overflows");
  expect_fault(file_of(one("\"F32\"", "[0," + huge + ",4]", "[0,0]")), "overflows");
  expect_fault(file_of(one("\"F32\"", "[-1]", "[0,4]"), 4), "shape must hold whole numbers");
  expect_fault(file_of(one("\"F32\"", "[18446744073709551615]", "[0,4]"), 4),
               "not 18446744073709551615");
  std::string ones = "[1";
  for (int i = 1; i < 100'000; ++i) ones += ",1";
  expect_fault(file_of(one("\"F32\"", ones + "]", "[0,4]"), 4), "shape has more than 16 numbers");
}

TEST(SafetensorsHostile, Dtype) {
  expect_fault(file_of(one("\"F33\"", "[1]", "[0,4]"), 4), "the dtype \"F33\" is unknown");
  expect_fault(file_of(one("\"\"", "[1]", "[0,4]"), 4), "the dtype \"\" is unknown");
  EXPECT_EQ(fault(file_of(one("\"I64\"", "[2]", "[0,16]"), 16)), "");
  EXPECT_EQ(fault(file_of(one("\"F8_E5M2\"", "[2]", "[0,2]"), 2)), "");
}

TEST(SafetensorsHostile, MessagesAreShortAndHoldNoControlCharacters) {
  expect_fault(file_of("{\"" + std::string(1'000'000, 'n') + "\": 1}"), "nnn...\" must be");
  expect_fault(file_of("{\"\\u001b]0;owned\\u0007\": 1}"), "\"\\x1b]0;owned\\x07\" must be");
  expect_fault(file_of(one("\"\\u001b[2J\"", "[1]", "[0,4]"), 4), "\"\\x1b[2J\" is unknown");
  expect_fault(file_of("{\"" + std::string(1'000'000, 'n') + "\xff"), "the header is not JSON");
  expect_fault(file_of("{\"a\": 1" + std::string(1'000'000, '0') + "}"), "overflow");
}

// A small valid file, with all that a header can hold.
std::string sample() {
  return file_of(
      R"({"__metadata__":{"k":"v"},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
      R"("b":{"dtype":"F16","shape":[],"data_offsets":[8,10]}})",
      10);
}

TEST(SafetensorsHostile, EveryTruncationIsRefused) {
  const std::string file = sample();
  ASSERT_EQ(fault(file), "");
  for (size_t n = 0; n < file.size(); ++n) {
    // A copy of its own, so that the address sanitizer sees a read beyond the end.
    const std::vector<char> part(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(n));
    EXPECT_NE(fault({part.data(), part.size()}), "") << n;
  }
}

TEST(SafetensorsHostile, EveryFlippedByteParsesOrIsRefused) {
  const std::string file = sample();
  size_t refused = 0;
  for (size_t i = 0; i < file.size() - 10; ++i)
    for (int flip = 1; flip < 256; ++flip) {
      std::string changed = file;
      changed[i] = static_cast<char>(changed[i] ^ flip);
      refused += fault(changed) != "";
    }
  EXPECT_GT(refused, (file.size() - 10) * 200);
}

}  // namespace
}  // namespace linnet
