// faults.cpp -- a library to preload: file operations below a folder fail, are short, or the
// process dies at one.
//
//   LD_PRELOAD=libfaults.so LINNET_FAULTS_BELOW=/tmp/x LINNET_FAULTS_DO=ENOSPC LINNET_FAULTS_AT=7
//   linnet train ...
//
//   LINNET_FAULTS_BELOW  counted are operations on what is below this folder, an absolute path
//   without links LINNET_FAULTS_ON     of these kinds:
//   write,sync,rename,open,truncate,mkdir,remove,read; if not given all but
//                        read; open is one that may write
//   LINNET_FAULTS_DO     what happens: ENOSPC, EIO, EINTR, EMFILE, short (half of the bytes),
//   kill-before,
//                        kill-after, kill-short (half of the bytes, then death); of several one is
//                        drawn
//   LINNET_FAULTS_AT     to the N-th operation, from 1 on; "N-": and to all that follow
//   LINNET_FAULTS_SHARE  instead: to this share of the operations, drawn by LINNET_FAULTS_SEED
//   LINNET_FAULTS_LOG    gets a line an operation: its number, kind, path, and what happened to it
//
// stdio is seen when it opens a file, not when it writes.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace {

enum class Act { kNone, kFail, kShort, kKillBefore, kKillAfter, kKillShort };

struct Fault {
  const char* name = "";
  Act act = Act::kNone;
  int error = 0;
};

constexpr Fault kFaults[] = {
    {"ENOSPC", Act::kFail, ENOSPC},     {"EIO", Act::kFail, EIO},
    {"EINTR", Act::kFail, EINTR},       {"EMFILE", Act::kFail, EMFILE},
    {"short", Act::kShort, 0},          {"kill-before", Act::kKillBefore, 0},
    {"kill-after", Act::kKillAfter, 0}, {"kill-short", Act::kKillShort, 0},
};

std::string variable(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : otherwise;
}

// A test with a mistake in its variables must not pass for want of faults.
[[noreturn]] void refuse(std::string_view what) {
  std::fprintf(stderr, "faults: %.*s\n", static_cast<int>(what.size()), what.data());
  std::_Exit(99);
}

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

// The variables, read once: the program under test may change its environment.
struct Plan {
  std::string below = variable("LINNET_FAULTS_BELOW", "");
  std::vector<std::string> kinds =
      words(variable("LINNET_FAULTS_ON", "write,sync,rename,open,truncate,mkdir,remove"));
  std::vector<Fault> faults;
  uint64_t first = 0, last = 0;  // operations, from 1 on
  double share = std::atof(variable("LINNET_FAULTS_SHARE", "0").c_str());
  uint64_t seed = std::strtoull(variable("LINNET_FAULTS_SEED", "1").c_str(), nullptr, 10);
  std::string log = variable("LINNET_FAULTS_LOG", "");
  std::atomic<uint64_t> operations = 0;

  Plan() {
    if (below.empty() || below[0] != '/') refuse("LINNET_FAULTS_BELOW must be an absolute path");
    for (const std::string& name : words(variable("LINNET_FAULTS_DO", ""))) {
      for (const Fault& fault : kFaults)
        if (name == fault.name) faults.push_back(fault);
      if (faults.empty() || name != faults.back().name) refuse("LINNET_FAULTS_DO: no " + name);
    }
    char* end = nullptr;
    const std::string at = variable("LINNET_FAULTS_AT", "0");
    first = std::strtoull(at.c_str(), &end, 10);
    last = *end == '-' ? UINT64_MAX : first;
    if (faults.empty() && (first > 0 || share > 0)) refuse("LINNET_FAULTS_DO is missing");
  }
};

Plan& plan() {
  static Plan the_plan;
  return the_plan;
}

// A number drawn for an operation, whatever thread comes to it (splitmix64).
uint64_t draw(uint64_t n) {
  uint64_t x = (plan().seed + 1) * 0x9e3779b97f4a7c15U + n * 0xd1b54a32d192ed03U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

std::string path_of(int fd) {
  char link[32], path[PATH_MAX];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = ::readlink(link, path, sizeof path);
  return length > 0 ? std::string(path, static_cast<size_t>(length)) : "";
}

std::string path_of(int folder, const char* name) {
  if (name[0] == '/') return name;
  char here[PATH_MAX] = "";
  const std::string start = folder != AT_FDCWD                       ? path_of(folder)
                            : ::getcwd(here, sizeof here) != nullptr ? here
                                                                     : "";
  return start + "/" + name;
}

// What happens to the next operation, which is counted and logged where it is one of the plan's.
Fault next_fault(const char* kind, const std::string& path) {
  Plan& p = plan();
  bool counts = false;
  for (const std::string& one : p.kinds) counts = counts || one == kind;
  if (!counts || !path.starts_with(p.below)) return {};
  if (path.size() > p.below.size() && path[p.below.size()] != '/') return {};
  const uint64_t n = ++p.operations;
  const double chance = static_cast<double>(draw(2 * n) >> 11) * 0x1p-53;
  Fault fault;
  if ((p.first <= n && n <= p.last) || chance < p.share)
    fault = p.faults[draw(2 * n + 1) % p.faults.size()];
  if (!p.log.empty()) {
    const std::string line = std::to_string(n) + " " + kind + " " + path +
                             (fault.name[0] ? " " : "") + fault.name + "\n";
    const long file =
        ::syscall(SYS_openat, AT_FDCWD, p.log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (file < 0 || ::syscall(SYS_write, file, line.data(), line.size()) < 0)
      refuse("LINNET_FAULTS_LOG cannot be written");
    ::syscall(SYS_close, file);
  }
  return fault;
}

// The operation with its fault; `call` is told whether it has to be short.
template <typename Result, typename Call>
Result operate(const char* kind, const std::string& path, Result failed, Call call) {
  const int before = errno;
  const Fault fault = next_fault(kind, path);
  if (fault.act == Act::kKillBefore) std::raise(SIGKILL);
  if (fault.act == Act::kFail) {
    errno = fault.error;
    return failed;
  }
  errno = before;
  const Result result = call(fault.act == Act::kShort || fault.act == Act::kKillShort);
  if (fault.act == Act::kKillAfter || fault.act == Act::kKillShort) std::raise(SIGKILL);
  return result;
}

size_t part(size_t size, bool is_short) { return is_short ? (size + 1) / 2 : size; }

bool writes(int flags) { return (flags & (O_ACCMODE | O_CREAT | O_TRUNC)) != 0; }

}  // namespace

// The real function of this name and type.
#define LINNET_REAL(name) \
  static const auto real = reinterpret_cast<decltype(&::name)>(::dlsym(RTLD_NEXT, #name))

#define LINNET_OPEN(name)                                            \
  int name(const char* path, int flags, ...) {                       \
    LINNET_REAL(name);                                               \
    va_list arguments;                                               \
    va_start(arguments, flags);                                      \
    const mode_t mode = va_arg(arguments, mode_t);                   \
    va_end(arguments);                                               \
    const auto call = [&](bool) { return real(path, flags, mode); }; \
    if (!writes(flags)) return call(false);                          \
    return operate("open", path_of(AT_FDCWD, path), -1, call);       \
  }

#define LINNET_OPENAT(name)                                                  \
  int name(int folder, const char* path, int flags, ...) {                   \
    LINNET_REAL(name);                                                       \
    va_list arguments;                                                       \
    va_start(arguments, flags);                                              \
    const mode_t mode = va_arg(arguments, mode_t);                           \
    va_end(arguments);                                                       \
    const auto call = [&](bool) { return real(folder, path, flags, mode); }; \
    if (!writes(flags)) return call(false);                                  \
    return operate("open", path_of(folder, path), -1, call);                 \
  }

#define LINNET_FOPEN(name)                                                                         \
  FILE* name(const char* path, const char* mode) {                                                 \
    LINNET_REAL(name);                                                                             \
    const auto call = [&](bool) { return real(path, mode); };                                      \
    if (std::string_view(mode).find_first_of("wa+") == std::string_view::npos) return call(false); \
    return operate("open", path_of(AT_FDCWD, path), static_cast<FILE*>(nullptr), call);            \
  }

#define LINNET_PWRITE(name)                                                          \
  ssize_t name(int fd, const void* data, size_t size, off_t at) {                    \
    LINNET_REAL(name);                                                               \
    return operate("write", path_of(fd), ssize_t{-1},                                \
                   [&](bool half) { return real(fd, data, part(size, half), at); }); \
  }

#define LINNET_PREAD(name)                                                           \
  ssize_t name(int fd, void* data, size_t size, off_t at) {                          \
    LINNET_REAL(name);                                                               \
    return operate("read", path_of(fd), ssize_t{-1},                                 \
                   [&](bool half) { return real(fd, data, part(size, half), at); }); \
  }

#define LINNET_SYNC(name)                                                    \
  int name(int fd) {                                                         \
    LINNET_REAL(name);                                                       \
    return operate("sync", path_of(fd), -1, [&](bool) { return real(fd); }); \
  }

#define LINNET_TRUNCATE(name)                                                          \
  int name(int fd, off_t size) noexcept {                                              \
    LINNET_REAL(name);                                                                 \
    return operate("truncate", path_of(fd), -1, [&](bool) { return real(fd, size); }); \
  }

#define LINNET_REMOVE(name)                                                                  \
  int name(const char* path) noexcept {                                                      \
    LINNET_REAL(name);                                                                       \
    return operate("remove", path_of(AT_FDCWD, path), -1, [&](bool) { return real(path); }); \
  }

extern "C" {

LINNET_OPEN(open)
LINNET_OPEN(open64)
LINNET_OPENAT(openat)
LINNET_OPENAT(openat64)
LINNET_FOPEN(fopen)
LINNET_FOPEN(fopen64)
LINNET_PWRITE(pwrite)
LINNET_PWRITE(pwrite64)
LINNET_PREAD(pread)
LINNET_PREAD(pread64)
LINNET_SYNC(fsync)
LINNET_SYNC(fdatasync)
LINNET_TRUNCATE(ftruncate)
LINNET_TRUNCATE(ftruncate64)
LINNET_REMOVE(unlink)
LINNET_REMOVE(rmdir)
LINNET_REMOVE(remove)

int unlinkat(int folder, const char* path, int flags) noexcept {
  LINNET_REAL(unlinkat);
  return operate("remove", path_of(folder, path), -1,
                 [&](bool) { return real(folder, path, flags); });
}

int mkdir(const char* path, mode_t mode) noexcept {
  LINNET_REAL(mkdir);
  return operate("mkdir", path_of(AT_FDCWD, path), -1, [&](bool) { return real(path, mode); });
}

int rename(const char* from, const char* to) noexcept {
  LINNET_REAL(rename);
  return operate("rename", path_of(AT_FDCWD, to), -1, [&](bool) { return real(from, to); });
}

int renameat(int from_folder, const char* from, int folder, const char* to) noexcept {
  LINNET_REAL(renameat);
  return operate("rename", path_of(folder, to), -1,
                 [&](bool) { return real(from_folder, from, folder, to); });
}

ssize_t write(int fd, const void* data, size_t size) {
  LINNET_REAL(write);
  return operate("write", path_of(fd), ssize_t{-1},
                 [&](bool half) { return real(fd, data, part(size, half)); });
}

ssize_t writev(int fd, const iovec* parts, int count) {
  LINNET_REAL(writev);
  return operate("write", path_of(fd), ssize_t{-1},
                 [&](bool half) { return real(fd, parts, half ? (count + 1) / 2 : count); });
}

ssize_t read(int fd, void* data, size_t size) {
  LINNET_REAL(read);
  return operate("read", path_of(fd), ssize_t{-1},
                 [&](bool half) { return real(fd, data, part(size, half)); });
}

}  // extern "C"
