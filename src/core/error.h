// error.h -- the user's faults are an Error with the place in brackets; the programmer's faults
// abort.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace linnet {

// A wrong config, file, request or flag: one sentence, first the place in brackets, e.g.
// "[config.heads] heads must divide width: width=130, heads=4". The command line prints it and ends
// with exit code 2.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace linnet

// A broken promise inside linnet itself; never used for input.
#define LINNET_ASSERT(condition)                                                             \
  do {                                                                                       \
    if (!(condition)) {                                                                      \
      std::fprintf(stderr, "%s:%d: assertion failed: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                          \
    }                                                                                        \
  } while (false)
