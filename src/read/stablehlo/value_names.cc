#include "read/stablehlo/value_names.h"

#include <algorithm>

namespace hespas::read {

ValueNames::Ref ValueNames::ReadText(Cursor& c, std::string_view& name) {
  const char* const start = c.at();
  while (IsIdent(*c) || (*c == '-' && c[1] != '>')) c.Advance();
  name = c.From(start);
  return name.empty() ? Ref() : Intern(name);
}

void ValueNames::GrowNumbers(uint32_t number) {
  numbers_.resize(std::max<size_t>(number + 1, numbers_.size() + numbers_.size() / 2));
}

ValueNames::Ref ValueNames::Intern(std::string_view name) {
  uint32_t number = 0;
  bool numeric = name.size() <= 8 && !name.empty() && (name[0] != '0' || name.size() == 1);
  for (size_t i = 0; numeric && i < name.size(); ++i) {
    numeric = name[i] >= '0' && name[i] <= '9';
    number = number * 10 + static_cast<uint32_t>(name[i] - '0');
  }
  if (numeric && number < number_limit_) {
    if (number >= numbers_.size()) GrowNumbers(number);
    return number;
  }
  const uint32_t index = index_.FindOrAdd(name, [&] {
    texts_.emplace_back();
    return static_cast<uint32_t>(texts_.size() - 1);
  });
  return index | kText;
}

}  // namespace hespas::read
