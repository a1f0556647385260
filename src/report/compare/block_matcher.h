// Finds the same kernels in several steps: what `Compare` puts into rows.
//
// - Blocks match by structural hash, the n-th with the n-th; what is left in the order of BlockMatcher::Match.
// - Where one side has several kernels for one of another side, the row holds them all (ComparedRow::parts).
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "report/compare/comparison.h"

namespace hespas::report {

// What made rows match, where structures do not.
inline constexpr char kByScope[] = "scope";
inline constexpr char kByResults[] = "results";
inline constexpr char kByOps[] = "ops";  // of the program that both sides run
inline constexpr char kByParts[] = "parts";

class BlockMatcher {
 public:
  explicit BlockMatcher(Comparison& out) : out_(out), sides_(out.results.size()) {}

  void Match();

 private:
  void AddBlocks(size_t side, const result::BlockTimes& times);
  void MatchOps();
  void MatchTexts();
  void JoinParts();
  void AddIdle();

  // Whether all sides run one program and tell which of its operations each block computes.
  bool KnowsOps() const;
  // Of the first side that has the row's block.
  size_t SideOf(const ComparedRow& row) const;
  const std::vector<uint32_t>& OpsOf(size_t side, const ComparedRow& row) const;
  const std::string& ShapesOf(size_t side, const ComparedRow& row) const;
  // Where in the step of a side, from 0 to 1.
  double PlaceOf(size_t side, const ComparedRow& row) const;

  template <class Name>
  void MatchBy(const char* why, const Name& name);
  void MatchByOverlap(size_t side);
  void PairInOrder(const std::vector<size_t>& without, const std::vector<size_t>& with, const char* why);
  void Merge(size_t from, size_t into, const char* why);
  void Join(size_t from, size_t into, const char* why);
  void JoinByOps();
  void JoinByResults();
  void EraseGone();

  Comparison& out_;
  size_t sides_;
  std::vector<char> gone_;                                     // rows that went into others
  std::unordered_map<std::string, std::vector<size_t>> rows_;  // by hash
};

}  // namespace hespas::report
