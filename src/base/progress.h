// Progress: how far a piece of work is, for whoever shows it. Libraries tell, they never print.
#pragma once

#include <cstddef>
#include <string_view>

namespace hespas {

class Progress {
 public:
  virtual ~Progress() = default;
  // Work of `total` equal items begins; what was before is over.
  virtual void Begin(std::string_view what, size_t total) = 0;
  // It is given up after so many seconds from now, however far it is.
  virtual void EndsWithin(double /*seconds*/) {}
  virtual void Done(size_t items) = 0;  // so many since Begin, in all
};

}  // namespace hespas
