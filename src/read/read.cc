#include "read/read.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/text/suggest.h"
#include "ir/verify/verify.h"
#include "read/bytecode/bytecode.h"
#include "read/hlo/hlo.h"
#include "read/stablehlo/errors.h"
#include "read/stablehlo/stablehlo.h"

namespace hespas::read {
namespace {

Error NotAProgram(const std::string& path, std::string message, std::string_view help = kProgramsHelp) {
  return MakeError(kNotAProgram, std::move(message), {.file = path, .line = 1, .column = 1}, std::string(help));
}

bool IsBinary(std::string_view content) {
  const std::string_view head = content.substr(0, 4096);
  return std::any_of(head.begin(), head.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' && c != '\r' && c != '\f';
  });
}

// Bytecode of StableHLO somewhere behind another header: its magic number, a version and the name of its producer.
bool HoldsBytecode(std::string_view content) {
  constexpr std::string_view kMagic = "ML\xefR";
  for (size_t at = content.find(kMagic); at != std::string_view::npos; at = content.find(kMagic, at + 1)) {
    if (content.substr(at + kMagic.size(), 24).find("StableHLO") != std::string_view::npos) return true;
  }
  return false;
}

Result<ir::Module> ReadAny(std::string path, Content content, Diagnostics& diagnostics) {
  const std::string_view bytes = content.view();
  if (bytes.starts_with("ML\xefR")) return ReadBytecode(std::move(path), std::move(content), diagnostics);
  const auto reject = [&](Error error) -> Result<ir::Module> {
    diagnostics.Report(error);
    return error;
  };
  if (bytes.empty()) return reject(NotAProgram(path, "the file is empty"));
  if (IsBinary(bytes)) {
    if (HoldsBytecode(bytes)) {
      return reject(
          NotAProgram(path, "the file holds MLIR bytecode within another format, as jax.export writes it",
                      "write `exported.mlir_module_serialized` into a file instead of `exported.serialize()`"));
    }
    return reject(NotAProgram(path, "the file is binary data of no known kind"));
  }
  if (LooksLikeHloText(bytes)) return ReadHloText(std::move(path), std::move(content), diagnostics);
  return ReadStableHlo(std::move(path), std::move(content), diagnostics);
}

}  // namespace

Result<ir::Module> ReadText(std::string path, Content content, const ReadOptions& options, Diagnostics& diagnostics) {
  const ir::Origin origin = LooksLikeHloText(content.view()) ? ir::Origin::kHlo : ir::Origin::kMlir;
  Result<ir::Module> module = ReadAny(std::move(path), std::move(content), diagnostics);
  if (!module || !options.verify) return module;
  const size_t before = diagnostics.all().size();
  ir::Verify(*module, origin, diagnostics);
  for (size_t i = before; i < diagnostics.all().size(); ++i) {
    if (!diagnostics.all()[i].is_warning()) return diagnostics.all()[i];
  }
  return module;
}

Result<ir::Module> ReadProgram(const std::string& path, const ReadOptions& options, Diagnostics& diagnostics) {
  Result<Content> content = ReadContent(path);
  if (content) content = Decompress(*std::move(content), path);
  if (!content) {
    diagnostics.Report(content.error());
    return content.error();
  }
  return ReadText(path == "-" ? "<stdin>" : path, *std::move(content), options, diagnostics);
}

Result<ir::OpId> RequireMain(const ir::Module& module) {
  const ir::OpId main = module.main();
  if (main.valid()) return main;
  std::vector<std::string> names;
  for (const ir::OpId op : module.block(module.body(module.root())).ops) {
    const std::string_view* symbol = module.attribute(op, "sym_name");
    if (symbol && module.kind(op) == ir::OpKind::kFunc) names.emplace_back(symbol->substr(1, symbol->size() - 2));
  }
  std::string help = names.empty() ? "the program holds no function at all"
                                   : fmt::format("rename its entry function `{}` to `main`", names.front());
  return MakeError(kNoMain, "the program has no function `main`", {.file = module.path(), .line = 1, .column = 1},
                   std::move(help));
}

}  // namespace hespas::read
