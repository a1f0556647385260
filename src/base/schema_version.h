// Files may say for which version of their format they were written; a version that this program does not know is an
// error (kJsonBadValue).
#pragma once

#include <optional>
#include <string>

namespace hespas {

inline constexpr const char* kSchemaVersionKey = "schema_version";

// What is wrong with the version of an object that is read as version `known`; files that name none are of the first.
template <class Json>
std::optional<std::string> SchemaVersionFault(const Json& object, int known) {
  const auto found = object.find(kSchemaVersionKey);
  if (found == object.end() || *found == known) return std::nullopt;
  return "`schema_version` must be " + std::to_string(known) + ", not " + found->dump();
}

}  // namespace hespas
