// The host is JavaScript: Module.codecs of web/engine.mjs.
#include <emscripten.h>

#include "web/host.h"

EM_JS(uint8_t*, HostCodec, (const char* name, const char* data, size_t size), {
  try {
    const input = HEAPU8.subarray(data >>> 0, (data >>> 0) + (size >>> 0));
    const parts = Module["codecs"][UTF8ToString(name)](input);
    const length = parts.reduce((sum, part) = > sum + part.length, 0);
    const answer = _malloc(length + 4) >>> 0;
    if (answer == 0) return 1;
    new DataView(HEAPU8.buffer).setUint32(answer, length, true);
    parts.reduce((at, part) = > (HEAPU8.set(part, at), at + part.length), answer + 4);
    return answer;
  } catch (error) {
    return Module["isOutOfMemory"](error) ? 1 : 0;
  }
});

// Messages are lines: no terminal that could rewrite one.
extern "C" int isatty(int) { return 0; }

// No library can be loaded; the engines that are libraries say so. musl's dlerror tells what its __dl_seterr was given.
extern "C" {
void __dl_seterr(const char* format, ...);
void* dlopen(const char*, int) {
  __dl_seterr("libraries cannot be loaded here");
  return nullptr;
}
void* dlsym(void*, const char*) { return nullptr; }
}
