#include "read/chakra/tensors.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "base/protozero_reader.h"

namespace hespas::read::chakra {
namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

constexpr uint32_t kId = 1;          // of a node
constexpr uint32_t kAttribute = 10;  // of a node
constexpr uint32_t kName = 1;        // of an attribute
constexpr uint32_t kTexts = 30;      // of an attribute

std::vector<std::string> TextsOf(pbf_reader list) {
  std::vector<std::string> texts;
  while (list.next()) {
    if (list.tag() == 1 && list.wire_type() == pbf_wire_type::length_delimited) {
      texts.push_back(list.get_string());
    } else {
      list.skip();
    }
  }
  return texts;
}

// Nothing if names and sizes do not take turns.
std::optional<std::vector<Tensor>> TensorsOf(const std::vector<std::string>& texts) {
  if (texts.size() % 2 != 0) return std::nullopt;
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < texts.size(); i += 2) {
    Tensor tensor{.name = texts[i]};
    const std::string& size = texts[i + 1];
    const auto [end, error] = std::from_chars(size.data(), size.data() + size.size(), tensor.bytes);
    if (error != std::errc() || end != size.data() + size.size()) return std::nullopt;
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

struct Lists {
  uint64_t node = 0;
  std::optional<std::vector<Tensor>> inputs;
  std::optional<std::vector<Tensor>> outputs;
};

void ReadAttribute(pbf_reader attribute, Lists& lists) {
  std::string name;
  std::vector<std::string> texts;
  while (attribute.next()) {
    if (attribute.tag() == kName && attribute.wire_type() == pbf_wire_type::length_delimited) {
      name = attribute.get_string();
    } else if (attribute.tag() == kTexts && attribute.wire_type() == pbf_wire_type::length_delimited) {
      texts = TextsOf(attribute.get_message());
    } else {
      attribute.skip();
    }
  }
  if (name == "inputs") lists.inputs = TensorsOf(texts);
  if (name == "outputs") lists.outputs = TensorsOf(texts);
}

Lists ReadNode(pbf_reader node) {
  Lists lists;
  while (node.next()) {
    if (node.tag() == kId && node.wire_type() == pbf_wire_type::varint) {
      lists.node = node.get_uint64();
    } else if (node.tag() == kAttribute && node.wire_type() == pbf_wire_type::length_delimited) {
      ReadAttribute(node.get_message(), lists);
    } else {
      node.skip();
    }
  }
  return lists;
}

}  // namespace

Result<std::unordered_map<uint64_t, NodeTensors>> ReadTensors(std::string_view bytes, const std::string& file) {
  std::unordered_map<uint64_t, NodeTensors> tensors;
  const char* at = bytes.data();
  const char* end = bytes.data() + bytes.size();
  try {
    for (bool first = true; at != end; first = false) {
      const uint64_t length = protozero::decode_varint(&at, end);
      if (length > static_cast<uint64_t>(end - at)) break;
      const pbf_reader message(at, length);
      at += length;
      if (first) continue;
      Lists lists = ReadNode(message);
      if (!lists.inputs || !lists.outputs) {
        return MakeError(kNoTensors,
                         fmt::format("node {}: `{}` is missing or not a list of names and sizes", lists.node,
                                     lists.inputs ? "outputs" : "inputs"),
                         {.file = file}, "leave out `track-local-mem`, or write the lists");
      }
      tensors[lists.node] = {*std::move(lists.inputs), *std::move(lists.outputs)};
    }
  } catch (const std::exception& error) {
    return MakeError(kNoTensors, fmt::format("damaged message: {}", error.what()), {.file = file});
  }
  return tensors;
}

}  // namespace hespas::read::chakra
