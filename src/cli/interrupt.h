// interrupt.h -- Ctrl-C and a polite kill: what runs saves and stops.
#pragma once

namespace linnet {

// From now on both signals only set a flag.
void stop_on_signals();
// The flag.
bool interrupted();

}  // namespace linnet
