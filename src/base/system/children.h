// The programs and copies of this process that run on our behalf, each in a process group of its own.
#pragma once

#include <sys/types.h>

namespace hespas {

// From here on KillChildren knows it.
void RememberChild(pid_t child);

// Waits for its end, through interruptions; `status` may be null.
void Reap(pid_t child, int* status);

// Kills every child with its process group; safe in a signal handler.
void KillChildren();

}  // namespace hespas
