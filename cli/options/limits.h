// What a command may take of memory and time (--max-memory, --timeout), and how it ends early without leaving things
// behind.
#pragma once

#include <CLI/CLI.hpp>

#include "base/diagnostic.h"

namespace hespas::cli {

inline constexpr DiagnosticKind kOutOfMemory{
    "E0902",
    "The command needed more memory than the machine, or --max-memory, gives it. Nothing was written half. Give it "
    "more, or split the work: fewer NPUs, a smaller program, a smaller table.",
    Outcome::kCannotRun};
inline constexpr DiagnosticKind kInternalError{
    "E0903", "Something happened that the program does not expect: a defect. Please report it with the input.",
    Outcome::kInternal};
inline constexpr DiagnosticKind kTooLong{
    "E0908",
    "The command took longer than --timeout allows; it was stopped with all programs that it had started, and nothing "
    "was written half.",
    Outcome::kCannotRun};

inline constexpr DiagnosticKind kFileShortened{
    "E0909",
    "A large file that the command was reading became shorter meanwhile (or its disk failed). The command was stopped; "
    "nothing was written half. Try again when no other program writes that file.",
    Outcome::kBadInput};

// Adds both options; each takes effect when it is parsed.
void AddLimitOptions(CLI::App& command);

// Ctrl-C, SIGTERM, SIGHUP and large files that shrink while they are read (SIGBUS): unfinished files and started
// programs go first.
void EndCleanlyOnSignals();

// Prints the error; the exit status that it leads to.
int ReportOutOfMemory();
int ReportInternalError(const char* what);

}  // namespace hespas::cli
