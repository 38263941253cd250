// gunzip.cpp -- zlib's inflate over the members of a gzip stream.
#include "data/gunzip.h"

#include <algorithm>

#include "core/error.h"

namespace linnet {
namespace {

constexpr int kGzipOnly = 15 + 16;  // the largest window; zlib then checks header and trailer, too

Bytef* input_of(std::string_view block) {
  return const_cast<Bytef*>(reinterpret_cast<const Bytef*>(block.data()));
}

}  // namespace

Gunzip::Gunzip(const std::string& path, std::unique_ptr<Blocks> packed, std::string_view first)
    : path_(path),
      packed_(std::move(packed)),
      block_(std::make_unique_for_overwrite<char[]>(kBlockBytes)) {
  stream_.next_in = input_of(first);
  stream_.avail_in = static_cast<uInt>(first.size());
  if (inflateInit2(&stream_, kGzipOnly) != Z_OK) throw std::bad_alloc();
}

Gunzip::~Gunzip() { inflateEnd(&stream_); }

bool Gunzip::refill() {
  if (stream_.avail_in > 0) return true;
  const std::string_view block = packed_->next();
  stream_.next_in = input_of(block);
  stream_.avail_in = static_cast<uInt>(block.size());
  return !block.empty();
}

std::string_view Gunzip::next() {
  while (state_ != State::ended) {
    const bool more = refill();
    if (state_ == State::member) {
      if (!more) cannot_unpack(path_, "the file is cut short");
      const size_t size = inflate_some();
      if (size > 0) return {block_.get(), size};
    } else if (!more) {
      state_ = State::ended;
    } else if (state_ == State::padding || *stream_.next_in == 0) {
      pass_padding();
    } else {
      if (inflateReset(&stream_) != Z_OK) cannot_unpack(path_, "zlib cannot start anew");
      state_ = State::member;
    }
  }
  return {};
}

size_t Gunzip::inflate_some() {
  stream_.next_out = reinterpret_cast<Bytef*>(block_.get());
  stream_.avail_out = static_cast<uInt>(kBlockBytes);
  const int result = ::inflate(&stream_, Z_NO_FLUSH);
  if (result == Z_STREAM_END) state_ = State::after_member;
  if (result == Z_MEM_ERROR) throw std::bad_alloc();
  // Z_BUF_ERROR: this block held too little to go on with.
  if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
    cannot_unpack(path_, stream_.msg ? stream_.msg : "no valid gzip data");
  return kBlockBytes - stream_.avail_out;
}

void Gunzip::pass_padding() {
  state_ = State::padding;
  Bytef* end = stream_.next_in + stream_.avail_in;
  if (std::any_of(stream_.next_in, end, [](Bytef byte) { return byte != 0; }))
    cannot_unpack(path_, "there is something else after its end");
  stream_.avail_in = 0;
}

}  // namespace linnet
