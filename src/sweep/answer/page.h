// The page of a sweep: answers, Pareto front, sensitivity, scaling, heat maps, every point.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sweep/answer/row.h"

namespace hespas::sweep {

struct PageInput {
  std::string title;
  const std::vector<Json>& rows;  // in the order of their points
  std::vector<std::string> axes;
  std::vector<Expression> constraints;
  std::string minimise;
  std::map<uint64_t, std::string> reports;   // of points that have one: its address from the page
  std::map<uint64_t, std::string> commands;  // `hespas run` of the points that the page lists
};

// Points that the page singles out, best first: answers, then the front. Without repetition.
std::vector<uint64_t> Highlights(const std::vector<Json>& rows, const std::vector<Expression>& constraints,
                                 const std::string& minimise);
// Points that the page lists, best first.
std::vector<uint64_t> Listed(const std::vector<Json>& rows, const std::vector<Expression>& constraints,
                             const std::string& minimise);

std::string SweepPage(const PageInput& input);

}  // namespace hespas::sweep
