// interrupt.h -- Ctrl-C, a polite kill, a terminal that was closed: what runs saves
// and stops.
#pragma once

namespace linnet {

// From now on these signals only set a flag; but SIGHUP stays ignored where nohup said so.
void stop_on_signals();
// From now on they end the program at once again.
void end_on_signals();
// The flag.
bool interrupted();

}  // namespace linnet
