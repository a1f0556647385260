#include "ir/attributes/attribute.h"
#include "ir/verify/rules.h"

namespace hespas::ir::verify {
namespace {

// Channel types of the specification.
constexpr int64_t kDeviceToDevice = 1;
constexpr int64_t kDeviceToHost = 2;
constexpr int64_t kHostToDevice = 3;

bool CheckChannelType(Check& check, int64_t with_host, std::string_view with_host_name) {
  const std::string_view* handle = check.Require("channel_handle");
  if (!handle) return false;
  const std::string_view* flag = check.attribute("is_host_transfer");
  const bool host = flag && AsBool(*flag).value_or(false);
  const auto type = FindEntry(Entries(*handle), "type");
  const auto number = type ? AsInteger(*type) : std::optional<int64_t>(0);
  if (number == (host ? with_host : kDeviceToDevice)) return true;
  return check.Report(kBadAttribute,
                      fmt::format("with `is_host_transfer` {} the channel's type must be {}", host,
                                  host ? with_host_name : "DEVICE_TO_DEVICE"),
                      fmt::format("write type = {}", host ? with_host : kDeviceToDevice));
}

// Results are tensors, then a token.
bool ExpectLastToken(Check& check) {
  if (check.result_count() == 0) return check.Fail(kWrongCount, "a token must be among the results");
  for (size_t i = 0; i + 1 < check.result_count(); ++i) {
    if (check.facts()[check.result_type(i)].classes != kToken) continue;
    return check.Fail(kWrongType, "result {} must be a tensor, not `{}`", i, check.text(check.result_type(i)));
  }
  const TypeId last = check.result_type(check.result_count() - 1);
  if (check.facts()[last].classes == kToken) return true;
  return check.Fail(kWrongType, "the last result must be a token, not `{}`", check.text(last));
}

// Operands are data, then a token.
bool ExpectLastOperandToken(Check& check) {
  const size_t last = check.operand_count() - 1;
  for (size_t i = 0; i <= last; ++i) {
    if ((check.operand_facts(i).classes == kToken) == (i == last)) continue;
    return check.Fail(kWrongType, "operand {} must be {}, not `{}`", i, i == last ? "a token" : "data",
                      check.text(check.operand_type(i)));
  }
  return true;
}

}  // namespace

bool CheckInfeed(Check& check) {
  if (!ExpectLastToken(check)) return false;
  const std::string_view* layout = check.attribute("layout");
  if (!layout) return true;
  const std::vector<std::string_view> items = ListItems(*layout);
  if (items.size() != check.result_count() - 1) {
    return check.Fail(kBadAttribute, "`layout` has {} entries for {} results besides the token", items.size(),
                      check.result_count() - 1);
  }
  for (const std::string_view item : items) {
    if (!item.starts_with('[')) return check.Fail(kBadAttribute, "`layout` must hold lists, not `{}`", item);
    for (const std::string_view dimension : ListItems(item)) {
      if (AsInteger(dimension)) continue;
      return check.Fail(kBadAttribute, "a layout must hold dimensions, not `{}`", dimension);
    }
  }
  return true;
}

bool CheckOutfeed(Check& check) { return ExpectLastOperandToken(check); }

bool CheckSend(Check& check) {
  return ExpectLastOperandToken(check) && CheckChannelType(check, kDeviceToHost, "DEVICE_TO_HOST") &&
         (!check.has("source_target_pairs") || CheckPairs(check));
}

bool CheckRecv(Check& check) {
  return CheckChannelType(check, kHostToDevice, "HOST_TO_DEVICE") && ExpectLastToken(check) &&
         (!check.has("source_target_pairs") || CheckPairs(check));
}

}  // namespace hespas::ir::verify
