// The part of the PJRT C API that profiling needs, declared again from its public definition (openxla/xla,
// xla/pjrt/c/pjrt_c_api.h; major version 0).
//
// - The table is only ever appended to, so its functions are named here by their places in it.
// - Every argument structure begins with its own size. Plugins refuse one that is shorter than theirs, so those that
//   have grown end with room for more; zero is what a field that is not known means.
// - A function returns nullptr or an error that the caller destroys.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace hespas::pjrt {

struct CError;
struct CClient;
struct CDevice;
struct CDeviceDescription;
struct CMemory;
struct CBuffer;
struct CEvent;
struct CExecutable;
struct CLoadedExecutable;

inline constexpr int kMajorVersion = 0;
inline constexpr int kOldestMinorVersion = 33;  // whose definition these declarations follow

inline constexpr size_t kLaterFields = 16;

enum Slot : size_t {
  kErrorDestroy = 0,
  kErrorMessage = 1,
  kPluginInitialize = 3,
  kEventDestroy = 5,
  kEventAwait = 8,
  kClientCreate = 10,
  kClientPlatformName = 12,
  kClientPlatformVersion = 14,
  kClientAddressableDevices = 16,
  kClientCompile = 20,
  kClientBufferFromHostBuffer = 22,
  kDeviceDescriptionKind = 26,
  kDeviceGetDescription = 29,
  kExecutableDestroy = 40,
  kExecutableNumOutputs = 44,
  kLoadedExecutableDestroy = 50,
  kLoadedExecutableGetExecutable = 51,
  kLoadedExecutableExecute = 55,
  kBufferDestroy = 58,
  kSlotCount = 59,  // of those that are used
};

struct CApiVersion {
  size_t struct_size;
  void* extensions;
  int major;
  int minor;
};

using CFunction = CError* (*)(void* arguments);  // the two functions of errors return nothing

struct CApi {
  size_t struct_size;
  void* extensions;
  CApiVersion version;
  CFunction functions[kSlotCount];
};

// Begins each argument structure.
template <class Arguments>
struct CSized {
  size_t struct_size = sizeof(Arguments);
  void* extensions = nullptr;
};

struct CErrorArguments : CSized<CErrorArguments> {  // of Error_Destroy
  CError* error = nullptr;
};
struct CErrorMessageArguments : CSized<CErrorMessageArguments> {
  const CError* error = nullptr;
  const char* message = nullptr;
  size_t message_size = 0;
};
struct CInitializeArguments : CSized<CInitializeArguments> {};
struct CEventArguments : CSized<CEventArguments> {  // of Event_Await and Event_Destroy
  CEvent* event = nullptr;
};
struct CClientCreateArguments : CSized<CClientCreateArguments> {
  void* options = nullptr;
  size_t option_count = 0;
  void* key_value_store[4] = {};
  CClient* client = nullptr;
  void* key_value_try_get[2] = {};
  void* later[kLaterFields] = {};
};
struct CClientTextArguments : CSized<CClientTextArguments> {  // of PlatformName and PlatformVersion
  CClient* client = nullptr;
  const char* text = nullptr;
  size_t size = 0;
};
struct CDevicesArguments : CSized<CDevicesArguments> {
  CClient* client = nullptr;
  CDevice** devices = nullptr;
  size_t count = 0;
};
struct CDescriptionArguments : CSized<CDescriptionArguments> {
  CDevice* device = nullptr;
  CDeviceDescription* description = nullptr;
};
struct CKindArguments : CSized<CKindArguments> {
  CDeviceDescription* description = nullptr;
  const char* text = nullptr;
  size_t size = 0;
};
struct CProgram : CSized<CProgram> {
  char* code = nullptr;
  size_t code_size = 0;
  const char* format = nullptr;
  size_t format_size = 0;
};
struct CCompileArguments : CSized<CCompileArguments> {
  CClient* client = nullptr;
  CProgram* program = nullptr;
  const char* options = nullptr;  // a serialised CompileOptionsProto
  size_t options_size = 0;
  CLoadedExecutable* executable = nullptr;
};
struct CGetExecutableArguments : CSized<CGetExecutableArguments> {
  CLoadedExecutable* loaded = nullptr;
  CExecutable* executable = nullptr;
};
struct CExecutableArguments : CSized<CExecutableArguments> {  // of Executable_Destroy
  CExecutable* executable = nullptr;
};
struct CLoadedArguments : CSized<CLoadedArguments> {  // of LoadedExecutable_Destroy
  CLoadedExecutable* executable = nullptr;
};
struct CNumOutputsArguments : CSized<CNumOutputsArguments> {
  CExecutable* executable = nullptr;
  size_t count = 0;
};
enum CHostBufferSemantics : int { kImmutableOnlyDuringCall = 0 };
struct CFromHostArguments : CSized<CFromHostArguments> {
  CClient* client = nullptr;
  const void* data = nullptr;
  int type = 0;
  const int64_t* dims = nullptr;
  size_t dim_count = 0;
  const int64_t* strides = nullptr;
  size_t stride_count = 0;
  CHostBufferSemantics semantics = kImmutableOnlyDuringCall;
  CDevice* device = nullptr;
  CMemory* memory = nullptr;
  void* layout = nullptr;
  CEvent* done = nullptr;
  CBuffer* buffer = nullptr;
};
struct CBufferArguments : CSized<CBufferArguments> {  // of Buffer_Destroy
  CBuffer* buffer = nullptr;
};
struct CExecuteOptions : CSized<CExecuteOptions> {
  void* callbacks[2] = {};
  size_t callback_counts[2] = {};
  int launch_id = 0;
  const int64_t* kept_inputs = nullptr;
  size_t kept_input_count = 0;
  void* later[kLaterFields] = {};
};
struct CExecuteArguments : CSized<CExecuteArguments> {
  CLoadedExecutable* executable = nullptr;
  CExecuteOptions* options = nullptr;
  CBuffer* const* const* inputs = nullptr;  // [device][argument]
  size_t device_count = 0;
  size_t input_count = 0;
  CBuffer** const* outputs = nullptr;  // [device][result], filled in
  CEvent** events = nullptr;           // [device], filled in
  CDevice* device = nullptr;
};

}  // namespace hespas::pjrt
