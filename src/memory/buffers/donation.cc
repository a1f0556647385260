#include "memory/buffers/donation.h"

#include <optional>
#include <string_view>

#include "ir/attributes/attribute.h"
#include "memory/buffers/hlo_aliases.h"

namespace hespas::memory {
namespace {

class Reader {
 public:
  explicit Reader(const ir::Module& module) : module_(module), body_(module.body(module.main())) {
    const auto& ops = module.block(body_).ops;
    const bool returns = !ops.empty() && ir::IsTerminator(module.kind(ops.back()));
    if (returns) results_.assign(module.operands(ops.back()).begin(), module.operands(ops.back()).end());
    out_.argument_of_result.assign(results_.size(), Donation::kNone);
    out_.donated.assign(module.block(body_).argument_count, false);
  }

  Donation Run() {
    if (const auto* text = module_.attribute(module_.root(), "mhlo.input_output_alias")) ReadList(*text);
    if (const auto* text = module_.attribute(module_.root(), "input_output_alias")) {
      for (const auto& [result, argument] : HloAliases(*text)) Alias(result, argument);
    }
    if (const auto* text = module_.attribute(module_.main(), "arg_attrs")) ReadArguments(*text);
    return std::move(out_);
  }

 private:
  void Alias(std::optional<int64_t> result, std::optional<int64_t> argument) {
    if (!result || !argument || *result < 0 || *argument < 0) return;
    const auto r = static_cast<size_t>(*result);
    const auto a = static_cast<size_t>(*argument);
    if (r >= results_.size() || a >= out_.donated.size()) return;
    if (out_.donated[a] || out_.argument_of_result[r] != Donation::kNone) return;
    out_.donated[a] = true;
    out_.argument_of_result[r] = static_cast<uint32_t>(a);
  }

  static std::optional<int64_t> First(std::optional<std::string_view> text) {
    const auto list = text ? ir::AsIntegers(*text) : std::nullopt;
    if (!list) return std::nullopt;
    return list->empty() ? 0 : list->front();
  }

  // [{alias = {kind = "may_alias", parameter_index = array<i64>, parameter_number = 0 : i64}, output_index = ...}]
  void ReadList(std::string_view text) {
    for (const std::string_view item : ir::ListItems(text)) {
      const auto entries = ir::Entries(item);
      const auto alias = ir::FindEntry(entries, "alias");
      if (!alias) continue;
      const auto argument = ir::FindEntry(ir::Entries(*alias), "parameter_number");
      Alias(First(ir::FindEntry(entries, "output_index")), argument ? ir::AsInteger(*argument) : std::nullopt);
    }
  }

  // [{tf.aliasing_output = 0 : i32}, {jax.buffer_donor = true}, ...]
  void ReadArguments(std::string_view text) {
    const auto items = ir::ListItems(text);
    for (size_t i = 0; i < items.size(); ++i) {
      if (items[i].find("tf.aliasing_output") == std::string_view::npos) continue;
      const auto output = ir::FindEntry(ir::Entries(items[i]), "tf.aliasing_output");
      if (output) Alias(ir::AsInteger(*output), static_cast<int64_t>(i));
    }
    for (size_t i = 0; i < items.size() && i < out_.donated.size(); ++i) {
      if (items[i].find("jax.buffer_donor") == std::string_view::npos) continue;
      const auto donor = ir::FindEntry(ir::Entries(items[i]), "jax.buffer_donor");
      if (donor && ir::AsBool(*donor).value_or(false)) Match(i);
    }
  }

  void Match(size_t argument) {
    const ir::TypeId type = module_.type_id(module_.arguments(body_)[argument]);
    for (size_t r = 0; r < results_.size(); ++r) {
      if (out_.argument_of_result[r] != Donation::kNone || module_.type_id(results_[r]) != type) continue;
      Alias(static_cast<int64_t>(r), static_cast<int64_t>(argument));
      return;
    }
  }

  const ir::Module& module_;
  ir::BlockId body_;
  std::vector<ir::ValueId> results_;
  Donation out_;
};

}  // namespace

Donation DonationOf(const ir::Module& module) { return Reader(module).Run(); }

}  // namespace hespas::memory
