// A cursor over HLO text: blanks and comments, names, balanced values. Nothing here recurses or copies.
#pragma once

#include <cstddef>
#include <string_view>
#include <unordered_map>

namespace hespas::read::hlo {

inline bool IsNameChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
}
inline bool IsDigit(char c) { return c >= '0' && c <= '9'; }

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  size_t position() const { return at_; }
  void Seek(size_t position) { at_ = position < text_.size() ? position : text_.size(); }
  bool at_end() const { return at_ >= text_.size(); }
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  std::string_view rest() const { return text_.substr(at_); }
  std::string_view slice(size_t begin, size_t end) const { return text_.substr(begin, end - begin); }

  // Skips blanks, `/* */` and `//`, and line ends unless it should stay on the line.
  void SkipBlanks(bool stay_on_line = false);
  void SkipLine();
  bool Take(char c);                     // after SkipBlanks
  bool TakeWord(std::string_view word);  // a whole name equal to `word`, after SkipBlanks
  // A name with an optional `%`; empty where there is none.
  std::string_view Name();
  // A whole shape; empty where none starts here. `{` counts as layout only where it looks like one.
  std::string_view Shape();
  // From an opening bracket to behind its partner; empty (and no movement) where the text ends before.
  std::string_view Balanced();
  // An attribute's value: up to the comma or line end outside all brackets and strings, trimmed.
  std::string_view Value();
  // Finds the partners of all `{`, so that the two above step over what stands between them; for deep nesting, which
  // they would otherwise look through once a level.
  void IndexBraces();

 private:
  void SkipComment();
  size_t KnownCloser(size_t at) const;  // npos where it is not known
  // Behind what stands at `at`: a string whole, an opener (one deeper; a block whose end is known up to its closer);
  // npos where a string does not end.
  size_t Behind(size_t at, size_t& depth) const;

  std::string_view text_;
  size_t at_ = 0;
  std::unordered_map<size_t, size_t> closers_;  // of braces, by position
};

// The position behind the string that opens at `begin` (a `"`), or npos.
size_t EndOfString(std::string_view text, size_t begin);

}  // namespace hespas::read::hlo
