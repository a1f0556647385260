// Conditions on a point or its result: `device.memory_bandwidth > 2 TB/s and npus <= 64`, `step_time < 20 ms`.
//
// - Comparisons (<, <=, >, >=, ==, !=) of names, quantities with units, quoted texts and + - * / of them, joined by
//   and, or, not and parentheses. Texts compare as texts, everything else as numbers in base units.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "sweep/file/sweep_source.h"

namespace hespas::sweep {

inline constexpr DiagnosticKind kBadExpression{
    "E1001",
    "A condition compares names and quantities: `npus <= 64 and peak_memory < 80 GB`. Texts are quoted; `and`, `or`, "
    "`not` and parentheses combine conditions.",
    Outcome::kUsage};
inline constexpr DiagnosticKind kContradiction{
    "E1002", "Conditions that contradict each other, such as one quantity above 10 and below 5.", Outcome::kUsage};

// A value's number in base units, whatever its unit is; nothing for texts.
std::optional<double> NumberOf(const Json& value);

class Expression {
 public:
  using Lookup = std::function<Json(const std::string& name)>;  // null: there is no such value

  static Result<Expression> Parse(const std::string& text);

  // False where a name has no value.
  bool Holds(const Lookup& lookup) const;
  const std::string& text() const { return text_; }
  std::vector<std::string> Names() const;

  struct Node;
  const Node& root() const { return *root_; }

 private:
  std::string text_;
  std::shared_ptr<const Node> root_;
};

// Whether simple bounds (NAME < NUMBER, joined by `and`) leave any value for each name.
Status CheckConsistent(const std::vector<Expression>& all);

}  // namespace hespas::sweep
