// Unit tests' programs: a function `main` whose values all have one type, built op by op without a reader.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/module.h"

namespace hespas::ir {

class TestProgram {
 public:
  using Texts = std::vector<std::pair<std::string, std::string>>;

  explicit TestProgram(std::vector<int64_t> dims, size_t arguments = 1) {
    type_ = module_.types().InternTensor(std::move(dims), *ElementFromText("f32"));
    block_ = module_.AddBlock(std::vector<TypeId>(arguments, type_));
  }

  ValueId argument(size_t i = 0) const { return module_.arguments(block_)[i]; }
  TypeId type() const { return type_; }

  ValueId Add(std::string_view name, const std::vector<ValueId>& operands, const Texts& texts = {}) {
    std::vector<Attribute> attributes;
    for (const auto& [key, text] : texts) attributes.push_back({module_.InternName(key), module_.Keep(text)});
    const OpId op = module_.AddOp(block_, {.name = module_.InternName(name),
                                           .operands = operands,
                                           .result_types = {&type_, 1},
                                           .attributes = attributes});
    return module_.result(op);
  }

  Module Return(const std::vector<ValueId>& results) && {
    module_.AddOp(block_, {.name = module_.InternName("func.return"), .operands = results});
    const RegionId body = module_.AddRegion({&block_, 1});
    const BlockId top = module_.AddBlock({});
    const Attribute name = {module_.InternName("sym_name"), "\"main\""};
    const OpId main =
        module_.AddOp(top, {.name = module_.InternName("func.func"), .attributes = {&name, 1}, .regions = {&body, 1}});
    module_.AddSymbol("main", main);
    const RegionId outer = module_.AddRegion({&top, 1});
    module_.AddOp({}, {.name = module_.InternName("builtin.module"), .regions = {&outer, 1}});
    return std::move(module_);
  }

 private:
  Module module_;
  TypeId type_;
  BlockId block_;
};

}  // namespace hespas::ir
