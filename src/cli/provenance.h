// provenance.h -- where and when a figure was measured.
#pragma once

#include <string>

namespace linnet {

// Of the source tree that ./linnet runs from, with "+" when it has changes but for
// results/; else the version. Asked once: what is committed later is no part of this program.
std::string source_commit();
// "AMD EPYC 7B13, 2 cores, AVX2".
std::string machine_name();
// "2026-11-16T08:00:00Z".
std::string utc_now();

}  // namespace linnet
