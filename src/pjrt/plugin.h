// A loaded PJRT plugin: its functions, with errors as Results. Plugins are never unloaded.
#pragma once

#include <string>

#include "base/result.h"
#include "pjrt/c_api.h"

namespace hespas::pjrt {

inline constexpr DiagnosticKind kBadPlugin{
    "E0590",
    "The file is no PJRT plugin that can be used: it must be a shared library with the function GetPjrtApi, of the C "
    "API's major version 0 and recent enough, with a table that holds every function that is called.",
    Outcome::kToolFailed};
inline constexpr DiagnosticKind kPluginFailed{"E0591", "A PJRT plugin refused a program, or failed while it ran.",
                                              Outcome::kToolFailed};

class Plugin {
 public:
  // Loads the library and initialises it.
  static Result<Plugin> Load(const std::string& path);

  // The function at `slot`; `arguments` is its structure.
  template <class Arguments>
  Status Call(Slot slot, Arguments& arguments) const {
    return Take(api_->functions[slot](&arguments));
  }
  std::string version() const;

 private:
  explicit Plugin(const CApi* api) : api_(api) {}
  Status Take(CError* error) const;  // and destroys it

  const CApi* api_;
};

// Whether a table can be used, and why not.
Status CheckTable(const CApi* api);

}  // namespace hespas::pjrt
