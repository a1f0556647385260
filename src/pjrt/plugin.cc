#include "pjrt/plugin.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace hespas::pjrt {
namespace {

constexpr Slot kUsed[] = {kErrorDestroy,
                          kErrorMessage,
                          kPluginInitialize,
                          kEventDestroy,
                          kEventAwait,
                          kClientCreate,
                          kClientPlatformName,
                          kClientPlatformVersion,
                          kClientAddressableDevices,
                          kClientCompile,
                          kClientBufferFromHostBuffer,
                          kDeviceDescriptionKind,
                          kDeviceGetDescription,
                          kExecutableDestroy,
                          kExecutableNumOutputs,
                          kLoadedExecutableDestroy,
                          kLoadedExecutableGetExecutable,
                          kLoadedExecutableExecute,
                          kBufferDestroy};

}  // namespace

Status CheckTable(const CApi* api) {
  if (api == nullptr) return MakeError(kBadPlugin, "GetPjrtApi returned nothing");
  // The version is in the first part of the table, which even the shortest one has.
  if (api->struct_size < offsetof(CApi, functions)) {
    return MakeError(kBadPlugin, fmt::format("its table has {} bytes, too few for a version", api->struct_size));
  }
  const CApiVersion& version = api->version;
  if (version.major != kMajorVersion || version.minor < kOldestMinorVersion) {
    return MakeError(kBadPlugin, fmt::format("it speaks version {}.{} of the C API, {}.{} or later is needed",
                                             version.major, version.minor, kMajorVersion, kOldestMinorVersion));
  }
  if (api->struct_size < sizeof(CApi)) {
    return MakeError(kBadPlugin, fmt::format("its table has {} bytes, {} are needed: functions are missing",
                                             api->struct_size, sizeof(CApi)));
  }
  for (const Slot slot : kUsed) {
    if (api->functions[slot] == nullptr) {
      return MakeError(kBadPlugin, fmt::format("function {} of its table is missing", static_cast<size_t>(slot)));
    }
  }
  return {};
}

Result<Plugin> Plugin::Load(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return MakeError(kBadPlugin, fmt::format("cannot load it: {}", dlerror()));
  const auto get = reinterpret_cast<const CApi* (*)()>(dlsym(library, "GetPjrtApi"));
  if (get == nullptr) return MakeError(kBadPlugin, "it has no function GetPjrtApi");
  const CApi* api = get();
  if (const Status good = CheckTable(api); !good) return good.error();
  const Plugin plugin(api);
  CInitializeArguments arguments;
  if (const Status ready = plugin.Call(kPluginInitialize, arguments); !ready) return ready.error();
  return plugin;
}

std::string Plugin::version() const { return fmt::format("{}.{}", api_->version.major, api_->version.minor); }

Status Plugin::Take(CError* error) const {
  if (error == nullptr) return {};
  CErrorMessageArguments message;
  message.error = error;
  api_->functions[kErrorMessage](&message);
  std::string text(message.message == nullptr ? "" : message.message, message.message_size);
  CErrorArguments destroy;
  destroy.error = error;
  api_->functions[kErrorDestroy](&destroy);
  return MakeError(kPluginFailed, std::move(text));
}

}  // namespace hespas::pjrt
