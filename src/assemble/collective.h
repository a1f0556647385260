// One communication block as the network sees it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "assemble/assemble.h"
#include "ir/attributes/op_attributes.h"
#include "ir/module.h"
#include "trace/trace_graph.h"

namespace hespas::assemble {

using Ranks = std::vector<uint32_t>;
using Groups = std::shared_ptr<const std::vector<Ranks>>;

// Groups by their text: blocks of a loop have the same, and those of many devices are large.
using GroupCache = std::map<std::pair<std::string_view, ir::GroupMode>, Groups>;

struct Communication {
  ir::OpId op;
  trace::Collective kind = trace::Collective::kAllReduce;
  Bytes size;                                           // as trace::Node::size
  bool everyone = false;                                // one group of all ranks
  Groups groups;                                        // collectives: device ids
  std::vector<std::pair<uint32_t, uint32_t>> messages;  // permutes and sends: from, to
  bool point_to_point = false;
  bool open = false;      // to or from another program: `channel` says which
  bool receives = false;  // open messages only
  int32_t channel = 0;
  bool nothing = false;  // nothing to transfer (no bytes, or with the host)
};

// `op` is the collective itself (the one inside an asynchronous start, for example).
Result<Communication> DecodeCommunication(const ir::Module& module, ir::OpId op, const DeviceCounts& devices,
                                          GroupCache& cache, Diagnostics& diagnostics);

// A send or receive that names a channel but no devices, as one end of a message between programs.
std::optional<Communication> DecodeOpenMessage(const ir::Module& module, ir::OpId op);

// The collective that a communication block performs.
ir::OpId CollectiveOfBlock(const ir::Module& module, const graph::Block& block);

}  // namespace hespas::assemble
