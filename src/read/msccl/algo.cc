#include "read/msccl/algo.h"

#include <expat.h>
#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <memory>
#include <optional>

#include "read/msccl/msccl.h"

namespace hespas::read::msccl {
namespace {

constexpr int64_t kLargest = 1 << 24;  // of any number in a schedule

// Builds the document from expat's callbacks; the first error stops the parser.
class Builder {
 public:
  explicit Builder(XML_Parser parser) : parser_(parser) {}

  void Open(const char* element, const char** attributes) {
    ++depth_;
    const std::string_view name = element;
    if (depth_ == 1 && name == "algo") {
      algorithm_.name = Text(attributes, "name");
      algorithm_.collective = Text(attributes, "coll");
      algorithm_.gpu_count = Number(attributes, "ngpus");
    } else if (depth_ == 2 && name == "gpu") {
      algorithm_.gpus.push_back({.id = Number(attributes, "id"),
                                 .input_chunks = Number(attributes, "i_chunks"),
                                 .output_chunks = Number(attributes, "o_chunks"),
                                 .blocks = {}});
    } else if (depth_ == 3 && name == "tb") {
      algorithm_.gpus.back().blocks.push_back({.id = Number(attributes, "id"),
                                               .send = Number(attributes, "send"),
                                               .receive = Number(attributes, "recv"),
                                               .channel = Number(attributes, "chan", 0),
                                               .steps = {}});
    } else if (depth_ == 4 && name == "step") {
      algorithm_.gpus.back().blocks.back().steps.push_back({.type = Text(attributes, "type"),
                                                            .count = Number(attributes, "cnt"),
                                                            .depends_block = Number(attributes, "depid", -1),
                                                            .depends_step = Number(attributes, "deps", -1),
                                                            .line = XML_GetCurrentLineNumber(parser_)});
    } else {
      Fail(fmt::format("unexpected element `{}`", name.substr(0, 50)));
    }
  }
  void Close() { --depth_; }

  Algorithm& algorithm() { return algorithm_; }
  const std::string& error() const { return error_; }
  size_t line() const { return line_; }
  size_t column() const { return column_; }

 private:
  void Fail(std::string message) {
    if (!error_.empty()) return;
    error_ = std::move(message);
    line_ = XML_GetCurrentLineNumber(parser_);
    column_ = XML_GetCurrentColumnNumber(parser_) + 1;
    XML_StopParser(parser_, XML_FALSE);
  }

  static const char* Find(const char** attributes, const char* name) {
    for (; *attributes != nullptr; attributes += 2) {
      if (std::strcmp(attributes[0], name) == 0) return attributes[1];
    }
    return nullptr;
  }

  std::string Text(const char** attributes, const char* name) {
    const char* value = Find(attributes, name);
    if (value == nullptr) Fail(fmt::format("attribute `{}` is missing", name));
    return value == nullptr ? std::string() : std::string(value);
  }

  int64_t Number(const char** attributes, const char* name, std::optional<int64_t> absent = std::nullopt) {
    const char* value = Find(attributes, name);
    if (value == nullptr) {
      if (!absent) Fail(fmt::format("attribute `{}` is missing", name));
      return absent.value_or(0);
    }
    int64_t number = 0;
    const char* end = value + std::strlen(value);
    const auto [stopped, error] = std::from_chars(value, end, number);
    if (error == std::errc() && stopped == end && number >= -1 && number <= kLargest) return number;
    Fail(fmt::format("`{}` cannot be `{}`", name, std::string_view(value).substr(0, 50)));
    return 0;
  }

  XML_Parser parser_;
  Algorithm algorithm_;
  std::string error_;
  size_t line_ = 0;
  size_t column_ = 0;
  int depth_ = 0;
};

}  // namespace

Result<Algorithm> ParseAlgorithm(std::string_view xml, const std::string& file) {
  const std::unique_ptr<XML_ParserStruct, void (*)(XML_Parser)> parser(XML_ParserCreate("UTF-8"), XML_ParserFree);
  Builder builder(parser.get());
  XML_SetUserData(parser.get(), &builder);
  XML_SetElementHandler(
      parser.get(),
      [](void* data, const char* name, const char** attributes) {
        static_cast<Builder*>(data)->Open(name, attributes);
      },
      [](void* data, const char*) { static_cast<Builder*>(data)->Close(); });
  constexpr size_t kPiece = size_t{1} << 20;
  for (size_t at = 0; at == 0 || at < xml.size(); at += kPiece) {
    const std::string_view piece = xml.substr(at, kPiece);
    const bool last = at + kPiece >= xml.size();
    if (XML_Parse(parser.get(), piece.data(), static_cast<int>(piece.size()), last ? 1 : 0) == XML_STATUS_OK) continue;
    if (!builder.error().empty()) {
      return MakeError(kBadSchedule, builder.error(),
                       {.file = file, .line = builder.line(), .column = builder.column()});
    }
    return MakeError(kBadSchedule,
                     fmt::format("not well-formed XML: {}", XML_ErrorString(XML_GetErrorCode(parser.get()))),
                     {.file = file,
                      .line = XML_GetCurrentLineNumber(parser.get()),
                      .column = XML_GetCurrentColumnNumber(parser.get()) + 1});
  }
  return std::move(builder.algorithm());
}

}  // namespace hespas::read::msccl
