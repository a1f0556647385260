// What a program holds and would execute: work by op, collectives, constants, calls and loops; for `hespas analyze`.
//
// - `executed` counts follow calls and multiply by the trip counts of loops; a loop of unknown length counts once, as
//   does each branch. All counts saturate.
// - Ops inside fusions move no bytes of their own: the fusion does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/text/table.h"

namespace hespas::report {

struct WorkRow {
  std::string op;
  int64_t executed = 0;
  int64_t flops = 0;
  int64_t bytes = 0;
};

struct CollectiveWorkRow {
  std::string op;  // "all-gather"
  int64_t executed = 0;
  int64_t bytes = 0;                         // of one: the larger of operands and results
  int64_t group_size = 0;                    // 0: all devices in one group
  std::vector<std::vector<int64_t>> groups;  // or source and target of each message
};

struct ConstantShare {
  int64_t count = 0;
  int64_t bytes = 0;       // of their values
  int64_t text_bytes = 0;  // that the values take in the file
  double of_ops = 0;
  double of_file = 0;
};

struct CallRow {
  std::string caller;
  std::string callee;
  int64_t calls = 0;     // places in the caller
  int64_t executed = 0;  // times that the callee runs in all
};

struct LoopRow {
  std::string function;
  int64_t line = 0;  // 0: not known
  std::optional<int64_t> trip_count;
  int64_t executed = 0;  // times that the loop is entered
};

struct Profile {
  int64_t flops = 0;
  int64_t bytes = 0;
  std::vector<WorkRow> work;  // most flops first
  std::vector<CollectiveWorkRow> collectives;
  ConstantShare constants;
  std::vector<CallRow> calls;
  std::vector<LoopRow> loops;
};

// The members `"flops": ..., "work": [...], ...` of a JSON object, without its braces.
std::string ToJsonMembers(const Profile& profile);
Table WorkTable(const Profile& profile);
Table CollectiveTable(const Profile& profile);
Table ConstantTable(const Profile& profile);
Table CallTable(const Profile& profile);
Table LoopTable(const Profile& profile);

}  // namespace hespas::report
