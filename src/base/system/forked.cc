#include "base/system/forked.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>

#include "base/interrupt.h"
#include "base/system/children.h"

namespace hespas {
namespace {

constexpr size_t kMostTold = 2000;

struct Pipe {
  std::array<int, 2> ends{-1, -1};
  Pipe() {
    if (pipe(ends.data()) != 0) ends = {-1, -1};
  }
  ~Pipe() {
    Close(0);
    Close(1);
  }
  void Close(size_t end) {
    if (ends[end] >= 0) close(ends[end]);
    ends[end] = -1;
  }
};

void WriteAll(int to, const void* data, size_t size) {
  const auto* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = write(to, at, size);
    if (written <= 0) _exit(1);
    at += written;
    size -= static_cast<size_t>(written);
  }
}

void WriteText(int to, const std::string& text) {
  const uint64_t size = text.size();
  WriteAll(to, &size, sizeof size);
  WriteAll(to, text.data(), text.size());
}

// The kind of an error goes as its address: the child is a copy of this process.
[[noreturn]] void Answer(int to, const Result<std::string>& result) {
  const DiagnosticKind* kind = result ? nullptr : result.error().kind;
  WriteAll(to, &kind, sizeof kind);
  if (result) {
    WriteText(to, *result);
  } else {
    WriteText(to, result.error().message);
    WriteText(to, result.error().help);
    WriteText(to, result.error().location.file);
  }
  _exit(0);
}

struct Reader {
  const std::string& from;
  size_t at = 0;
  bool Read(void* to, size_t size) {
    if (from.size() - at < size) return false;
    std::memcpy(to, from.data() + at, size);
    at += size;
    return true;
  }
  std::string Text() {
    uint64_t size = 0;
    if (!Read(&size, sizeof size) || from.size() - at < size) return {};
    at += size;
    return from.substr(at - size, size);
  }
};

// Both ends at once, so that neither fills up; false where the caller asked to stop.
bool Listen(int answers, int words, std::string& answer, std::string& told) {
  std::array<pollfd, 2> open = {pollfd{answers, POLLIN, 0}, pollfd{words, POLLIN, 0}};
  std::array<char, 1 << 16> buffer{};
  while (open[0].fd >= 0 || open[1].fd >= 0) {
    constexpr int kAskEveryMs = 100;
    if (poll(open.data(), open.size(), kAskEveryMs) < 0 && errno != EINTR) return true;
    if (Interrupted()) return false;
    for (pollfd& end : open) {
      if (end.fd < 0 || (end.revents & (POLLIN | POLLHUP | POLLERR)) == 0) continue;
      const ssize_t got = read(end.fd, buffer.data(), buffer.size());
      if (got <= 0) {
        end.fd = -1;
      } else if (end.fd == answers) {
        answer.append(buffer.data(), static_cast<size_t>(got));
      } else if (told.size() < kMostTold) {
        told.append(buffer.data(), static_cast<size_t>(got));
      }
    }
  }
  return true;
}

}  // namespace

Result<std::string> RunForked(const DiagnosticKind& kind, const std::string& what,
                              const std::function<Result<std::string>()>& work) {
  Pipe answers;
  Pipe words;
  const pid_t child = answers.ends[0] < 0 || words.ends[0] < 0 ? -1 : fork();
  if (child < 0) return MakeError(kind, what + ": no process could be started");
  if (child == 0) {
    setpgid(0, 0);
    dup2(words.ends[1], STDOUT_FILENO);
    dup2(words.ends[1], STDERR_FILENO);
    try {
      Answer(answers.ends[1], work());
    } catch (const std::exception& error) {
      fputs(error.what(), stderr);
      fflush(stderr);
    }
    _exit(1);
  }
  setpgid(child, child);  // here too: whoever comes first
  RememberChild(child);
  answers.Close(1);
  words.Close(1);
  std::string answer;
  std::string told;
  const bool heard = Listen(answers.ends[0], words.ends[0], answer, told);
  if (!heard) kill(-child, SIGKILL);
  int status = 0;
  Reap(child, &status);
  if (!heard) return InterruptedError();
  Reader reader{answer};
  const DiagnosticKind* error = nullptr;
  if (status != 0 || !reader.Read(&error, sizeof error)) {
    return MakeError(kind, what + ": " + (told.empty() ? "it died without a message" : told));
  }
  std::string text = reader.Text();
  if (error == nullptr) return text;
  std::string help = reader.Text();
  return MakeError(*error, std::move(text), {.file = reader.Text()}, std::move(help));
}

}  // namespace hespas
