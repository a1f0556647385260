// The container of MLIR bytecode: sections, strings, dialects and op names, and where each attribute and type lies.
//
// - Versions 0 to 6 are read (spec: mlir-bytecode, "Container"); nothing here decodes an attribute or a type.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "read/bytecode/byte_reader.h"

namespace hespas::read::bytecode {

inline constexpr uint64_t kNewestVersion = 6;

enum class SectionId : uint8_t {
  kString,
  kDialect,
  kAttributeType,
  kAttributeTypeOffset,
  kIr,
  kResource,
  kResourceOffset,
  kDialectVersions,
  kProperties,
};
inline constexpr size_t kSectionCount = 9;

struct Entry {
  uint32_t dialect = 0;
  bool is_encoded = false;  // by its dialect; otherwise assembly text
  size_t offset = 0;        // of the payload, from the start of the file
  size_t size = 0;
};

struct OpName {
  uint32_t dialect = 0;
  std::string_view name;  // without the dialect
};

struct Container {
  uint64_t version = 0;
  std::string_view producer;
  std::vector<std::string_view> strings;
  std::vector<std::string_view> dialects;
  std::vector<OpName> op_names;
  std::vector<Entry> attributes;
  std::vector<Entry> types;
  std::vector<std::string_view> properties;
  std::vector<std::string_view> resources;  // keys of the dialects' resources
  std::string_view ir;
};

// A section behind its header; the cursor moves past it.
struct Section {
  SectionId id = SectionId::kString;
  std::string_view data;
};
Section ReadSection(ByteReader& reader);

Container ReadContainer(std::string_view bytes, Failure& failure);

}  // namespace hespas::read::bytecode
