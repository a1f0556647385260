// One op under verification: its types, attributes and regions, and how a rule reports what is wrong.
//
// A rule is a function `bool Rule(Check&)` that reports at most one defect; false means "reported" (or nothing more
// can be said). Accessors that read attributes report missing or unreadable ones themselves.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ir/module.h"
#include "ir/verify/defects.h"
#include "ir/verify/signature.h"
#include "ir/verify/type_facts.h"

namespace hespas::ir::verify {

class Check {
 public:
  Check(const Module& module, TypeFactTable& facts, Diagnostics& diagnostics)
      : module_(module), facts_(facts), diagnostics_(diagnostics) {}
  void Begin(OpId id) {
    id_ = id;
    op_ = &module_.op(id);
  }

  const Module& module() const { return module_; }
  TypeFactTable& facts() { return facts_; }
  SignatureTable& signatures() { return signatures_; }
  // Texts of replica groups that were found right, with a letter for the rules they follow.
  std::unordered_set<std::string>& right_groups() { return right_groups_; }
  OpId id() const { return id_; }
  OpKind kind() const { return op_->kind; }
  std::string_view name() const { return module_.name(op_->name); }
  // mhlo spells some ops with other attributes: what is missing there is no defect.
  bool loose() const { return name().starts_with("mhlo."); }
  bool hlo() const { return facts_.mixed_precision(); }

  size_t operand_count() const { return op_->operand_count; }
  size_t result_count() const { return op_->result_count; }
  std::span<const ValueId> operands() const { return module_.operands(id_); }
  TypeId operand_type(size_t i) const { return module_.type_id(module_.operands(id_)[i]); }
  TypeId result_type(size_t i = 0) const { return module_.type_id(module_.result(id_, i)); }
  const Type& operand(size_t i) const { return module_.types()[operand_type(i)]; }
  const Type& result(size_t i = 0) const { return module_.types()[result_type(i)]; }
  int64_t operand_rank(size_t i) const { return static_cast<int64_t>(operand(i).dims.size()); }
  int64_t result_rank(size_t i = 0) const { return static_cast<int64_t>(result(i).dims.size()); }
  const TypeFacts& operand_facts(size_t i) { return facts_[operand_type(i)]; }
  const TypeFacts& result_facts(size_t i = 0) { return facts_[result_type(i)]; }
  bool operand_ranked(size_t i) { return operand_facts(i).ranked; }
  bool result_ranked(size_t i = 0) { return result_facts(i).ranked; }
  std::string text(TypeId id) const { return module_.types().Text(id); }

  // Whether the op stands in a module within the module, whose symbols are its own.
  bool in_nested_module() const;

  // Always false, so that a rule can end with `return check.Fail(...)`.
  template <class... Args>
  bool Fail(const DiagnosticKind& kind, fmt::format_string<Args...> format, Args&&... args) {
    return Report(kind, fmt::format(format, std::forward<Args>(args)...), {});
  }
  bool Report(const DiagnosticKind& kind, std::string message, std::string help);
  // The same at the line of an attribute's text.
  bool ReportAt(std::string_view where, const DiagnosticKind& kind, std::string message, std::string help);

  // --- attributes ----------------------------------------------------------------------------------------------------
  const std::string_view* attribute(std::string_view attribute_name) const {
    return op_->attribute_count == 0 ? nullptr : module_.attribute(id_, attribute_name);
  }
  bool has(std::string_view attribute_name) const { return attribute(attribute_name) != nullptr; }
  // The attribute's text; reports where it is missing.
  const std::string_view* Require(std::string_view attribute_name);
  std::optional<int64_t> Integer(std::string_view attribute_name);
  // Non-negative, and below `rank` where the rank is given.
  std::optional<int64_t> Dimension(std::string_view attribute_name, std::optional<int64_t> rank = {});
  std::optional<std::vector<int64_t>> Integers(std::string_view attribute_name);
  // An empty list where the attribute is absent.
  std::optional<std::vector<int64_t>> OptionalIntegers(std::string_view attribute_name);
  std::optional<int64_t> OptionalInteger(std::string_view attribute_name, int64_t otherwise);

  // --- shapes --------------------------------------------------------------------------------------------------------
  // The result's shape must be compatible with what the rule found.
  bool ExpectShape(std::span<const int64_t> dims, size_t result_index = 0);
  bool ExpectElement(size_t operand_index, size_t result_index = 0);
  // Result type compatible with the operand's.
  bool ExpectSameType(size_t operand_index, size_t result_index = 0);
  // Each of `dims` within [0, rank) and none twice.
  bool ExpectDimensions(std::span<const int64_t> dims, int64_t rank, std::string_view what);
  // A quantised type must hold together.
  bool ExpectSound(TypeId type);
  // Where its rank is known; 0 is a scalar.
  bool ExpectRank(size_t operand_index, int64_t rank);
  bool ExpectResults(size_t count);

  // --- regions -------------------------------------------------------------------------------------------------------
  // The first block of a region; invalid where there is none.
  BlockId block(size_t region) const { return module_.body(id_, region); }
  size_t region_count() const;
  size_t argument_count(BlockId block_id) const { return module_.arguments(block_id).size(); }
  TypeId argument_type(BlockId block_id, size_t i) const { return module_.type_id(module_.arguments(block_id)[i]); }
  // What the block's terminator returns; nothing where it has no terminator.
  std::optional<std::vector<TypeId>> returned_types(BlockId block_id) const;

  // The values of a constant that defines the operand, if they are integers.
  std::optional<std::vector<int64_t>> ConstantOperand(size_t i) const;

 private:
  const Module& module_;
  TypeFactTable& facts_;
  Diagnostics& diagnostics_;
  SignatureTable signatures_;
  std::unordered_set<std::string> right_groups_;
  std::unordered_set<uint32_t> reported_;  // places in HLO, whose shared computations stand here several times
  OpId id_;
  const Op* op_ = nullptr;
};

using Rule = bool (*)(Check&);

// "[2, ?, 4]".
std::string ShapeList(std::span<const int64_t> dims);

}  // namespace hespas::ir::verify
