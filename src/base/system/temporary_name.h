// The name of a file or folder that must not outlive this process: an interrupt removes it (RemoveTemporaryFiles of
// base/system/file.h). Whoever made it removes it in all other cases.
#pragma once

#include <atomic>

namespace hespas {

class TemporaryName {
 public:
  // `name` outlives this. With more names than slots some stay behind.
  explicit TemporaryName(const char* name);
  ~TemporaryName();
  TemporaryName(const TemporaryName&) = delete;
  TemporaryName& operator=(const TemporaryName&) = delete;

 private:
  std::atomic<const char*>* slot_ = nullptr;
};

}  // namespace hespas
