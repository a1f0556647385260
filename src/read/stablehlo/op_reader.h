// Reads ops one after the other into a module; regions are kept on an explicit stack.
//
// - The members up to "services" are what the pretty forms work with.
// - A failed op is reported, its results are known but without type, and reading goes on behind it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/module.h"
#include "read/stablehlo/aliases.h"
#include "read/stablehlo/attributes/attribute_reader.h"
#include "read/stablehlo/cursor.h"
#include "read/stablehlo/forms/forms.h"
#include "read/stablehlo/text_map.h"
#include "read/stablehlo/type_reader.h"
#include "read/stablehlo/value_names.h"

namespace hespas::read {

// An operand as met in the text.
struct Use {
  ir::ValueId value;  // invalid: not defined yet, or its op was in error (`poisoned`)
  ValueNames::Ref name = 0;
  uint32_t number = 0;  // %x#number
  uint32_t offset = 0;
  bool poisoned = false;
};

struct ResultName {
  ValueNames::Ref name;
  uint32_t count;
  uint32_t offset;
};

struct RegionArgument {
  Use name;
  ir::TypeId type;
};

// The op being read.
struct Draft {
  std::string_view spelling;  // full name
  ir::NameId name;            // the same, where it is known already
  uint32_t source = 0;
  std::vector<ResultName> results;
  std::vector<Use> operands;
  std::vector<ir::TypeId> operand_types;
  std::vector<ir::TypeId> result_types;
  std::vector<ir::Attribute> attributes;
  std::vector<ir::RegionId> regions;
  std::vector<RegionArgument> arguments;  // of the next region
  std::string_view successors;            // `[^bb1, ^bb2]`
  std::vector<Use> loop_names;            // of while: the arguments of both regions
  bool has_pending = false;               // an operand is not defined yet

  void Clear();
};

inline constexpr size_t kMaxRegionDepth = 2000;

class OpReader {
 public:
  OpReader(ir::Module& module, Diagnostics& diagnostics);

  // Reads the whole source of the module.
  bool Run();

  // --- services ------------------------------------------------------------------------------------------------------
  Cursor c;
  ir::Module& m;
  AliasTable aliases;
  TypeReader types;
  AttributeReader attributes;
  Draft draft;

  // "stablehlo" of "stablehlo.add".
  std::string_view dialect() const { return draft.spelling.substr(0, draft.spelling.find('.')); }

  void Add(std::string_view name, std::string_view text);
  // The same with a text made here; equal source texts are kept once.
  void AddMade(std::string_view name, std::string text) { Add(name, m.Keep(std::move(text))); }
  // MLIR's spelling of a type, made once.
  std::string_view TypeText(ir::TypeId type);
  // `#stablehlo<enumeration VALUE>` of the op's dialect.
  std::string_view EnumText(std::string_view enumeration, std::string_view value);

  bool ReadUse(Use& use);
  bool Operand();
  bool Operands();               // L(%x), as long as a comma is followed by `%`
  bool ParenthesisedOperands();  // (L(%x))
  bool Dictionary();             // {...} where there is one
  bool ReadDictionary(std::vector<ir::Attribute>& out);
  bool FunctionSuffix();                                // : FN
  bool SkipLocation(std::string_view* text = nullptr);  // loc(...) where there is one
  // The remainder of a generic op, from its operands.
  bool GenericBody();

  // Opens the region at the cursor; `then` is called behind its `}`. With `isolated` no outer name is visible.
  // draft.arguments become the entry block's.
  bool OpenRegion(Step then, bool isolated = false, bool entry_block = false);
  // Types of the values the operands name; invalid for those not defined yet.
  ir::TypeId TypeOf(const Use& use) const { return use.value.valid() ? m.type_id(use.value) : ir::TypeId(); }
  // `%a: T {dict}? loc?` into draft.arguments.
  bool ReadArgument(bool with_type);

 private:
  struct PendingUse {
    ir::OpId op;
    uint32_t index;
    uint32_t offset;
    uint32_t number;
  };
  struct Block {
    std::string_view label;
    uint32_t offset = 0;
  };
  struct Frame {
    Draft draft;
    Step then = nullptr;
    std::vector<ir::BlockId> blocks;
    ir::BlockId block;
    size_t first_op = 0;  // ops read since have this index or a higher one
    ValueNames::Mark mark;
    bool isolated = false;
    std::unordered_map<std::string_view, uint32_t> labels;
    std::vector<std::pair<ir::OpId, std::string_view>> branches;
  };

  ir::NameId NameOf(std::string_view name) {
    return name_ids_.FindOrAdd(name, [&] { return m.InternName(name); });
  }
  bool BeginsStatement();
  bool ReadTopLevel();
  bool ReadAliasDefinition();
  bool ReadResources();
  bool ReadOp();
  bool ReadResultNames();
  struct NamedForm {
    const Form* form = nullptr;
    ir::NameId name = {};  // of the op
  };
  const NamedForm& FormOf(std::string_view name);
  bool FinishOp();
  bool CheckOperands();
  bool CheckAttributes();
  bool DefineResults(ir::OpId op);
  void NotePending(ir::OpId op);
  void PatchPending(ValueNames::Ref ref, ir::ValueId first, uint32_t count);
  void ReportPending(uint32_t scope);
  bool StartBlock();
  ir::BlockId AddBlock(const std::vector<RegionArgument>& arguments);
  bool DefineArguments(ir::BlockId block);
  bool CloseRegion();
  bool ResolveBranches(Frame& frame);
  void NoteSymbol(ir::OpId op);
  // Reports the error of the op that began at `start` and moves behind it.
  void Recover(size_t start);
  void KeepAliases();
  void FinishModule();

  Diagnostics& diagnostics_;
  ValueNames names_;
  std::vector<Frame> frames_;
  std::vector<Draft> spare_drafts_;  // empty ones, for the room that their lists have
  std::vector<ir::TypeId> argument_types_;
  bool opened_ = false;  // the op being read has opened a region and is finished later
  TextMap<NamedForm> forms_;
  TextMap<ir::NameId> name_ids_;
  // By isolated scope, then by name.
  std::unordered_map<uint32_t, std::unordered_map<ValueNames::Ref, std::vector<PendingUse>>> pending_;
  std::unordered_map<std::string, std::string_view> made_;
  std::unordered_map<uint32_t, std::string_view> type_texts_;
};

// Continuations of region ops that several forms share.
bool GenericRegionDone(OpReader& reader);

}  // namespace hespas::read
