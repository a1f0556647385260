#include "read/bytecode/container.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace hespas::read::bytecode {
namespace {

constexpr std::string_view kMagic = "ML\xefR";
constexpr std::string_view kSectionNames[kSectionCount] = {"string",  "dialect",  "attribute",       "attribute offset",
                                                           "IR",      "resource", "resource offset", "dialect version",
                                                           "property"};

using Sections = std::array<std::optional<std::string_view>, kSectionCount>;

class ContainerReader {
 public:
  ContainerReader(std::string_view bytes, Failure& failure) : bytes_(bytes), failure_(failure), top_(bytes, failure) {}

  Container Run() {
    ReadHeader();
    ReadSections();
    ReadStrings();
    ReadDialects();
    ReadEntries();
    ReadProperties();
    ReadResourceKeys();
    Cursor(SectionId::kIr);  // its absence is an error
    out_.ir = sections_[static_cast<size_t>(SectionId::kIr)].value_or(std::string_view());
    return std::move(out_);
  }

 private:
  ByteReader Cursor(SectionId id) {
    const auto& data = sections_[static_cast<size_t>(id)];
    if (!data) {
      top_.Fail(kMalformed, fmt::format("the {} section is missing", kSectionNames[static_cast<size_t>(id)]));
      return ByteReader(bytes_, 0, 0, failure_);
    }
    const size_t begin = static_cast<size_t>(data->data() - bytes_.data());
    return ByteReader(bytes_, begin, begin + data->size(), failure_);
  }

  std::string_view String(uint64_t index) {
    if (index < out_.strings.size()) return out_.strings[index];
    top_.Fail(kMalformed, fmt::format("string {} does not exist", index));
    return {};
  }

  void ReadHeader() {
    if (top_.Bytes(kMagic.size()) != kMagic) return top_.Fail(kMalformed, "this is no MLIR bytecode");
    out_.version = top_.Varint();
    if (out_.version > kNewestVersion) {
      return top_.Fail(kUnsupportedVersion,
                       fmt::format("bytecode version {} is newer than version {}, the last that can be read",
                                   out_.version, kNewestVersion));
    }
    out_.producer = top_.CString();
  }

  void ReadSections() {
    while (top_.ok() && !top_.at_end()) {
      const Section section = ReadSection(top_);
      auto& slot = sections_[static_cast<size_t>(section.id)];
      if (!top_.ok()) return;
      if (slot)
        return top_.Fail(kMalformed,
                         fmt::format("a second {} section", kSectionNames[static_cast<size_t>(section.id)]));
      slot = section.data;
    }
  }

  // Lengths come in reverse order before the characters.
  void ReadStrings() {
    ByteReader reader = Cursor(SectionId::kString);
    const size_t count = reader.Count();
    std::vector<uint64_t> lengths(count);
    for (size_t i = count; i-- > 0;) lengths[i] = reader.Varint();
    for (const uint64_t length : lengths) {
      if (length == 0) return reader.Fail(kMalformed, "a string has no terminator");
      const std::string_view text = reader.Bytes(length);
      if (!reader.ok()) return;
      out_.strings.push_back(text.substr(0, length - 1));
    }
  }

  void ReadDialects() {
    ByteReader reader = Cursor(SectionId::kDialect);
    const size_t count = reader.Count();
    for (size_t i = 0; i < count && reader.ok(); ++i) {
      if (out_.version == 0) {
        out_.dialects.push_back(String(reader.Varint()));
        continue;
      }
      const auto [name, has_version] = reader.VarintWithFlag();
      out_.dialects.push_back(String(name));
      if (has_version) ReadSection(reader);
    }
    if (out_.version >= 4) reader.Varint();  // how many op names there are
    while (reader.ok() && !reader.at_end()) {
      const uint32_t dialect = Dialect(reader);
      const size_t names = reader.Count();
      for (size_t i = 0; i < names && reader.ok(); ++i) {
        const uint64_t name = out_.version >= 5 ? reader.VarintWithFlag().first : reader.Varint();
        out_.op_names.push_back({dialect, String(name)});
      }
    }
  }

  uint32_t Dialect(ByteReader& reader) {
    const uint64_t dialect = reader.Varint();
    if (dialect < out_.dialects.size()) return static_cast<uint32_t>(dialect);
    reader.Fail(kMalformed, fmt::format("dialect {} does not exist", dialect));
    return 0;
  }

  void ReadEntries() {
    ByteReader reader = Cursor(SectionId::kAttributeTypeOffset);
    const ByteReader data = Cursor(SectionId::kAttributeType);
    size_t offset = data.offset();
    const size_t end = offset + data.remaining();
    const size_t attributes = reader.Count();
    const size_t types = reader.Count();
    ReadEntriesOf(reader, out_.attributes, attributes, offset, end);
    ReadEntriesOf(reader, out_.types, types, offset, end);
  }

  void ReadEntriesOf(ByteReader& reader, std::vector<Entry>& into, size_t count, size_t& offset, size_t end) {
    while (into.size() < count && reader.ok()) {
      const uint32_t dialect = Dialect(reader);
      const size_t group = reader.Count();
      if (group > count - into.size()) return reader.Fail(kMalformed, "a group of attributes is too long");
      for (size_t i = 0; i < group && reader.ok(); ++i) {
        const auto [size, is_encoded] = reader.VarintWithFlag();
        if (size > end - offset) return reader.Fail(kTruncated, "an attribute reaches beyond its section");
        into.push_back({dialect, is_encoded, offset, static_cast<size_t>(size)});
        offset += size;
      }
    }
  }

  void ReadProperties() {
    const auto& data = sections_[static_cast<size_t>(SectionId::kProperties)];
    if (!data) return;
    ByteReader reader = Cursor(SectionId::kProperties);
    const size_t count = reader.Count();
    for (size_t i = 0; i < count && reader.ok(); ++i) out_.properties.push_back(reader.Bytes(reader.Varint()));
  }

  // External resources first, then those of dialects; handles count the latter.
  void ReadResourceKeys() {
    if (!sections_[static_cast<size_t>(SectionId::kResourceOffset)]) return;
    ByteReader reader = Cursor(SectionId::kResourceOffset);
    const size_t external_groups = reader.Count();
    for (size_t i = 0; i < external_groups && reader.ok(); ++i) {
      reader.Varint();
      ReadResourceGroup(reader, false);
    }
    while (reader.ok() && !reader.at_end()) {
      reader.Varint();
      ReadResourceGroup(reader, true);
    }
  }

  void ReadResourceGroup(ByteReader& reader, bool keep) {
    const size_t count = reader.Count();
    for (size_t i = 0; i < count && reader.ok(); ++i) {
      const std::string_view key = String(reader.Varint());
      reader.Varint();  // size
      reader.Byte();    // kind
      if (keep) out_.resources.push_back(key);
    }
  }

  std::string_view bytes_;
  Failure& failure_;
  ByteReader top_;
  Sections sections_;
  Container out_;
};

}  // namespace

Section ReadSection(ByteReader& reader) {
  const uint8_t id_and_alignment = reader.Byte();
  const uint8_t id = id_and_alignment & 0x7F;
  const uint64_t length = reader.Varint();
  if (id >= kSectionCount) {
    reader.Fail(kMalformed, fmt::format("section {} is not known", id));
    return {};
  }
  if (id_and_alignment & 0x80) {
    const uint64_t alignment = reader.Varint();
    if (alignment == 0 || (alignment & (alignment - 1)) != 0 || alignment > (uint64_t{1} << 30)) {
      reader.Fail(kMalformed, "the alignment of a section is no power of two");
      return {};
    }
    while (reader.ok() && reader.offset() % alignment != 0) reader.Byte();
  }
  return {static_cast<SectionId>(id), reader.Bytes(length)};
}

Container ReadContainer(std::string_view bytes, Failure& failure) { return ContainerReader(bytes, failure).Run(); }

}  // namespace hespas::read::bytecode
