#include "read/bytecode/bytecode.h"

#include <fmt/format.h>

#include <charconv>

#include "read/bytecode/op_reader.h"

namespace hespas::read {
namespace {

using bytecode::Failure;

constexpr int kNewestMajor = 1;
constexpr int kNewestMinor = 20;

// "StableHLO_v1.9.0" of the producer string.
struct ArtifactVersion {
  int major = 0;
  int minor = 0;
};
ArtifactVersion VersionOf(std::string_view producer) {
  constexpr std::string_view kPrefix = "StableHLO_v";
  ArtifactVersion version;
  if (!producer.starts_with(kPrefix)) return version;
  const char* const end = producer.data() + producer.size();
  const auto major = std::from_chars(producer.data() + kPrefix.size(), end, version.major);
  if (major.ptr != end && *major.ptr == '.') std::from_chars(major.ptr + 1, end, version.minor);
  return version;
}

bool IsNewer(const ArtifactVersion& version) {
  return version.major > kNewestMajor || (version.major == kNewestMajor && version.minor > kNewestMinor);
}

void CheckProducer(std::string_view producer, Failure& failure) {
  if (failure.kind != nullptr || VersionOf(producer).major <= kNewestMajor) return;
  failure = {&bytecode::kUnsupportedVersion, fmt::format("`{}` is newer than what can be read", producer), 0};
}

Error ToError(const Failure& failure, const std::string& path, std::string_view producer) {
  std::string message = failure.message;
  if (failure.offset > 0) message += fmt::format(" (byte {})", failure.offset);
  const bool newer = failure.kind == &bytecode::kUnsupportedVersion || IsNewer(VersionOf(producer));
  std::string help =
      newer ? fmt::format(
                  "portable artifacts of StableHLO 0.9 to {}.{} and bytecode versions 0 to {} can be read; "
                  "serialise for one of those",
                  kNewestMajor, kNewestMinor, bytecode::kNewestVersion)
            : "write or copy the file again";
  return MakeError(*failure.kind, std::move(message), {.file = path}, std::move(help));
}

}  // namespace

Result<ir::Module> ReadBytecode(std::string path, Content text, Diagnostics& diagnostics) {
  const std::string_view content = text.view();
  Failure failure;
  ir::Module module;
  TextArena arena(module);
  const bytecode::Container container = bytecode::ReadContainer(content, failure);
  CheckProducer(container.producer, failure);
  if (failure.kind == nullptr) {
    bytecode::Decoder decoder(content, container, module, arena, failure);
    bytecode::ReadOperations(content, container, decoder, module, arena, failure);
  }
  if (failure.kind != nullptr) {
    Error error = ToError(failure, path, container.producer);
    diagnostics.Report(error);
    return error;
  }
  module.SetSource(std::move(path), {});
  return module;
}

}  // namespace hespas::read
