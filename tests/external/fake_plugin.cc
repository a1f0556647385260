// A PJRT plugin for tests: it "compiles" anything, "runs" for a millisecond, and misbehaves as FAKE_PLUGIN says:
//
//   old, short          an old version, a table that is too short
//   no_device           a client without devices
//   crash, hang, allocate, refuse    when it compiles a program that holds "exponential"
//   crash_run, hang_run              when it runs one
//   instant                          runs one in no time

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>
#include <thread>
#include <vector>

#include "pjrt/c_api.h"

namespace {

using namespace hespas::pjrt;

std::string_view Behaviour() {
  const char* text = std::getenv("FAKE_PLUGIN");
  return text == nullptr ? "" : text;
}

template <class T>
T* Handle(uintptr_t value) {
  return reinterpret_cast<T*>(value);
}

constexpr std::string_view kRefusal = "the fake plugin refuses this";
constexpr uintptr_t kPlain = 1, kSpecial = 2, kSweep = 3, kEmpty = 4;  // executables

void Misbehave(std::string_view how) {
  if (how == "crash") std::raise(SIGSEGV);
  if (how == "hang") std::this_thread::sleep_for(std::chrono::hours(1));
  if (how != "allocate") return;
  for (std::vector<char*> kept;; kept.push_back(new char[1 << 24])) {
    if (!kept.empty()) std::memset(kept.back(), 1, 1 << 24);
  }
}

CError* Nothing(void*) { return nullptr; }

CError* Message(void* arguments) {
  auto& message = *static_cast<CErrorMessageArguments*>(arguments);
  message.message = kRefusal.data();
  message.message_size = kRefusal.size();
  return nullptr;
}

CError* CreateClient(void* arguments) {
  static_cast<CClientCreateArguments*>(arguments)->client = Handle<CClient>(1);
  return nullptr;
}

CError* Name(void* arguments) {
  auto& text = *static_cast<CClientTextArguments*>(arguments);
  text.text = "fake";
  text.size = 4;
  return nullptr;
}

CError* Devices(void* arguments) {
  static CDevice* device = Handle<CDevice>(1);
  auto& devices = *static_cast<CDevicesArguments*>(arguments);
  devices.devices = &device;
  devices.count = Behaviour() == "no_device" ? 0 : 1;
  return nullptr;
}

CError* Kind(void* arguments) {
  auto& kind = *static_cast<CKindArguments*>(arguments);
  kind.text = "fake device";
  kind.size = 11;
  return nullptr;
}

CError* Compile(void* arguments) {
  auto& compile = *static_cast<CCompileArguments*>(arguments);
  const std::string_view code(compile.program->code, compile.program->code_size);
  const bool special = code.find("exponential") != std::string_view::npos;
  if (special) Misbehave(Behaviour());
  if (special && Behaviour() == "refuse") return Handle<CError>(1);
  const bool empty = code.find(" = ") == std::string_view::npos;
  const bool sweep = code.find("33554432") != std::string_view::npos;  // what replaces a device's caches
  compile.executable = Handle<CLoadedExecutable>(special ? kSpecial : sweep ? kSweep : empty ? kEmpty : kPlain);
  return nullptr;
}

CError* Outputs(void* arguments) {
  static_cast<CNumOutputsArguments*>(arguments)->count = 1;
  return nullptr;
}

CError* FromHost(void* arguments) {
  static_cast<CFromHostArguments*>(arguments)->buffer = Handle<CBuffer>(1);
  return nullptr;
}

CError* Execute(void* arguments) {
  auto& execute = *static_cast<CExecuteArguments*>(arguments);
  if (execute.executable == Handle<CLoadedExecutable>(kSpecial) && Behaviour().ends_with("_run")) {
    Misbehave(Behaviour().substr(0, Behaviour().size() - 4));
  }
  if (const char* log = std::getenv("FAKE_PLUGIN_LOG")) {
    std::ofstream(log, std::ios::app) << (execute.executable == Handle<CLoadedExecutable>(kSweep) ? 's' : 'p');
  }
  const bool instant = execute.executable == Handle<CLoadedExecutable>(kSpecial) && Behaviour() == "instant";
  if (execute.executable != Handle<CLoadedExecutable>(kEmpty) && !instant)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return nullptr;
}

CApi Table() {
  CApi api{.struct_size = sizeof(CApi),
           .extensions = nullptr,
           .version = {sizeof(CApiVersion), nullptr, 0, 90},
           .functions = {}};
  for (CFunction& function : api.functions) function = Nothing;
  api.functions[kErrorMessage] = Message;
  api.functions[kClientCreate] = CreateClient;
  api.functions[kClientPlatformName] = Name;
  api.functions[kClientPlatformVersion] = Name;
  api.functions[kClientAddressableDevices] = Devices;
  api.functions[kDeviceDescriptionKind] = Kind;
  api.functions[kClientCompile] = Compile;
  api.functions[kExecutableNumOutputs] = Outputs;
  api.functions[kClientBufferFromHostBuffer] = FromHost;
  api.functions[kLoadedExecutableExecute] = Execute;
  if (Behaviour() == "old") api.version.minor = 12;
  if (Behaviour() == "short") api.struct_size = 200;
  return api;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const CApi* GetPjrtApi() {
  static const CApi api = Table();
  return &api;
}
