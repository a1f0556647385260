#include "read/hlo/hlo.h"

#include "read/hlo/lowering.h"
#include "read/hlo/text/parser.h"

namespace hespas::read {

bool LooksLikeHloText(std::string_view text) {
  constexpr size_t kLogLimit = size_t{1} << 20;  // far more than anybody logs before a dump
  return hlo::FindHeader(text.substr(0, kLogLimit)) != std::string_view::npos;
}

Result<ir::Module> ReadHloText(std::string path, Content text, Diagnostics& diagnostics) {
  ir::Module module;
  module.SetSource(std::move(path), std::move(text));
  const size_t errors_before = diagnostics.error_count();
  const size_t first_new = diagnostics.all().size();
  const auto failed = [&] { return diagnostics.error_count() > errors_before; };
  const auto first_error = [&]() -> Error {
    for (size_t i = first_new; i < diagnostics.all().size(); ++i) {
      if (!diagnostics.all()[i].is_warning()) return diagnostics.all()[i];
    }
    return MakeError(hlo::kSyntaxError, "the text could not be read", {.file = module.path()});
  };
  if (!LooksLikeHloText(module.source())) {
    diagnostics.Error(hlo::kSyntaxError, "no line starts with `HloModule`", module.LocationAt(0));
    return first_error();
  }
  TextArena arena(module);
  hlo::ShapeTable shapes(module.types(), arena);
  const hlo::ModuleSyntax syntax = hlo::Parse(module, shapes, diagnostics);
  if (failed()) return first_error();
  hlo::Lower(syntax, shapes, arena, module, diagnostics);
  if (failed()) return first_error();
  return module;
}

}  // namespace hespas::read
