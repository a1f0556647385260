// Diagnostics: what went wrong, where, and what to do about it.
//
// - A DiagnosticKind is declared next to its use; its code is stable and unique (Exxxx error, Wxxxx warning).
// - Libraries never print; they report into Diagnostics or return an Error inside a Result.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hespas {

// The exit status that an error leads to.
enum class Outcome : uint8_t {
  kBadInput = 1,
  kUsage = 2,
  kUnsupported = 3,
  kCannotRun = 4,
  kToolFailed = 5,
  kBoundMissed = 6,
  kInternal = 70,
};

struct DiagnosticKind {
  std::string_view code;         // "E0101"
  std::string_view explanation;  // what `hespas explain E0101` prints
  Outcome outcome = Outcome::kBadInput;
};

// 1-based line and column; 0 means unknown. `source_line` is the text of that line, for the caret.
struct Location {
  std::string file;
  size_t line = 0;
  size_t column = 0;
  std::string source_line;
};

struct Diagnostic {
  const DiagnosticKind* kind = nullptr;
  std::string message;
  Location location;
  std::string help;

  bool is_warning() const { return kind->code.starts_with('W'); }
};

using Error = Diagnostic;

inline Error MakeError(const DiagnosticKind& kind, std::string message, Location location = {}, std::string help = {}) {
  return {&kind, std::move(message), std::move(location), std::move(help)};
}

// "FILE:LINE:COLUMN: error[E0123]: message", the source line with a caret, "help: ..."; ends with a newline.
std::string Render(const Diagnostic& diagnostic, bool colour = false);

// Collects the diagnostics of one input. Beyond the limit errors are only counted.
class Diagnostics {
 public:
  static constexpr size_t kErrorLimit = 20;

  void Report(Diagnostic diagnostic);
  void Error(const DiagnosticKind& kind, std::string message, Location location = {}, std::string help = {}) {
    Report({&kind, std::move(message), std::move(location), std::move(help)});
  }
  void Warning(const DiagnosticKind& kind, std::string message, Location location = {}, std::string help = {}) {
    Report({&kind, std::move(message), std::move(location), std::move(help)});
  }
  bool has_errors() const { return error_count_ > 0; }
  size_t error_count() const { return error_count_; }
  const std::vector<Diagnostic>& all() const { return all_; }
  // Room for more errors: a reader stops early when this is false.
  bool wants_more() const { return error_count_ < kErrorLimit; }

 private:
  std::vector<Diagnostic> all_;
  size_t error_count_ = 0;
};

}  // namespace hespas
