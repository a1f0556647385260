#include "base/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace hespas {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMostOutput = size_t{64} << 20;

// In the child: only calls that are safe between fork and exec.
[[noreturn]] void BecomeProgram(const std::vector<char*>& arguments, const char* folder, int output, int report) {
  setpgid(0, 0);
  const int nothing = open("/dev/null", O_RDONLY);
  if (nothing >= 0) dup2(nothing, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  if (*folder == '\0' || chdir(folder) == 0) execvp(arguments[0], arguments.data());
  const int error = errno;
  if (write(report, &error, sizeof error) < 0) _exit(126);
  _exit(127);
}

// Reads until the pipe is closed or the time is over.
bool Collect(int pipe, Clock::time_point end, std::string& out) {
  char buffer[1 << 16];
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) return false;
    pollfd waiting{.fd = pipe, .events = POLLIN, .revents = 0};
    const int ready = poll(&waiting, 1, static_cast<int>(std::min<long long>(left, 1000)));
    if (ready < 0 && errno != EINTR) return true;
    if (ready <= 0) continue;
    const ssize_t got = read(pipe, buffer, sizeof buffer);
    if (got == 0 || (got < 0 && errno != EINTR)) return true;
    if (got > 0 && out.size() < kMostOutput) out.append(buffer, static_cast<size_t>(got));
  }
}

Error CannotStart(const std::string& name, int error) {
  return MakeError(kCannotStart, fmt::format("cannot start `{}`: {}", name, std::strerror(error)), {},
                   "install it, or name its path");
}

int StatusOf(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

}  // namespace

Result<ProcessResult> RunProcess(const std::vector<std::string>& arguments, const std::string& folder,
                                 std::chrono::milliseconds limit) {
  int output[2];
  int report[2];
  if (pipe2(output, O_CLOEXEC) != 0) return CannotStart(arguments[0], errno);
  if (pipe2(report, O_CLOEXEC) != 0) {
    close(output[0]);
    close(output[1]);
    return CannotStart(arguments[0], errno);
  }
  std::vector<char*> pointers;
  for (const std::string& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) BecomeProgram(pointers, folder.c_str(), output[1], report[1]);
  const int fork_error = errno;
  close(output[1]);
  close(report[1]);
  int exec_error = child < 0 ? fork_error : 0;
  if (child >= 0 && read(report[0], &exec_error, sizeof exec_error) <= 0) exec_error = 0;
  close(report[0]);
  ProcessResult result;
  if (exec_error == 0) {
    result.timed_out = !Collect(output[0], Clock::now() + limit, result.output);
    if (result.timed_out) kill(-child, SIGKILL);
  }
  close(output[0]);
  int status = 0;
  while (child >= 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (exec_error != 0) return CannotStart(arguments[0], exec_error);
  result.status = StatusOf(status);
  return result;
}

std::string FindProgram(const std::vector<std::string>& names) {
  const char* path = std::getenv("PATH");
  for (const std::string& name : names) {
    const std::string folders = path == nullptr ? "" : path;
    for (size_t at = 0; at <= folders.size();) {
      const size_t end = std::min(folders.find(':', at), folders.size());
      const std::string candidate = folders.substr(at, end - at) + "/" + name;
      if (end > at && access(candidate.c_str(), X_OK) == 0) return candidate;
      at = end + 1;
    }
  }
  return {};
}

}  // namespace hespas
