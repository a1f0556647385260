// What fusion knows about a region before it decides: classes, epilogues, and what a value would cost to recompute.
//
// - Immutable once made. It takes `materialized_before` for granted: the result of an earlier round; empty in the
// first.
#pragma once

#include <array>
#include <vector>

#include "optimise/fusion/policy.h"

namespace hespas::optimise {

// What a chain of fused ops reads of one materialized value.
struct Source {
  ValueId value;
  int64_t bytes = 0;
};

// Where a chain of fused ops reads memory; the largest few sources.
struct Sources {
  std::array<Source, 6> items;
  size_t count = 0;

  void Add(const Source& source);
  double bytes() const;
};

// Of a node: outside epilogues, between a reduction and the end of its epilogue, or that end.
enum class Epilogue : uint8_t { kNone, kInterior, kEnd };

struct FusionAnalysis {
  const Dataflow& flow;
  UserTable users;
  std::vector<FusionClass> classes;       // by node
  std::vector<char> materialized_before;  // by node, or empty
  std::vector<Epilogue> epilogue;         // by node
  std::vector<double> instructions;       // by value, where the policy weighs recomputation
  std::vector<Sources> sources;           // by value, there, too
  std::vector<char> behind_transpose;     // by value: what reads single elements lies between

  int64_t Elements(NodeId id) const { return flow.type(flow.result(id)).element_count(); }
  FusionClass ClassOf(NodeId id) const { return classes[id.index()]; }
  bool IsMaterializedSource(ValueId value) const;
  bool IsConstantLike(ValueId value) const;
  bool IsReturned(ValueId value) const;
};

FusionAnalysis Analyse(const Dataflow& flow, const CompilerPolicy& policy, std::vector<char> materialized_before);

}  // namespace hespas::optimise
