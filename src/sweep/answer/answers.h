// What people ask of a sweep: the best point for a goal, the fewest devices that do, the cheapest run.
#pragma once

#include <string>
#include <vector>

#include "report/text/table.h"
#include "sweep/answer/row.h"

namespace hespas::sweep {

struct Answer {
  std::string question;  // "fewest devices that fit"
  std::string column;    // what was compared
  Json row;              // null: no point meets the constraints
};

// Rows without error that meet all constraints.
std::vector<const Json*> Feasible(const std::vector<Json>& rows, const std::vector<Expression>& constraints);

// A sentence where the rows' points do unequal work, else "" (report/text/efficiency.h).
std::string WorkNote(const std::vector<Json>& rows);

// Questions whose columns no row has a value for are left out. Of equal rows the faster counts, then the first.
std::vector<Answer> AnswersOf(const std::vector<Json>& rows, const std::vector<Expression>& constraints,
                              const std::string& minimise);

// Programs that the points run, in the order of the points; one where none is an axis.
std::vector<std::string> ProgramsOf(const std::vector<Json>& rows);
std::vector<Json> RowsOf(const std::vector<Json>& rows, const std::string& program);
// The same for each program apart: steps of two programs cannot be ranked against each other.
std::vector<Answer> AnswersByProgram(const std::vector<Json>& rows, const std::vector<Expression>& constraints,
                                     const std::string& minimise);

// One row for each answer: the question, the value, what varies between points, step time, devices.
report::Table TableOf(const std::vector<Answer>& answers, const std::vector<std::string>& axes);

// "3.1 ms", "64.2 GB", "4": a column's value as a person reads it.
std::string HumanValue(const std::string& column, const Json& value);
// A setting with four digits: "316.2 ns" of "316.227766017 ns".
std::string ShortText(const Json& value);

}  // namespace hespas::sweep
