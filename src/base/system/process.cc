#include "base/system/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "base/system/children.h"

namespace hespas {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMostOutput = size_t{64} << 20;

// Descriptors that the child gets as its own; -1 becomes the null device.
struct Streams {
  int input = -1;
  int output = -1;
  int errors = -1;
};

// Arguments and environment as exec wants them, made before the fork.
struct Image {
  std::vector<std::string> variables;
  std::vector<char*> arguments;
  std::vector<char*> environment;

  Image(const std::vector<std::string>& words, const Environment& more) : arguments(ArgumentPointers(words)) {
    for (const auto& [name, value] : more) variables.push_back(name + "=" + value);
    for (std::string& variable : variables) environment.push_back(variable.data());
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::string_view text = *entry;
      const auto replaces = [&](const auto& pair) { return text.starts_with(pair.first + "="); };
      if (std::none_of(more.begin(), more.end(), replaces)) environment.push_back(*entry);
    }
    environment.push_back(nullptr);
  }
};

// In the child: only calls that are safe between fork and exec.
[[noreturn]] void BecomeProgram(Image& image, const char* folder, const Streams& streams, int report) {
  setpgid(0, 0);
  const int nothing = open("/dev/null", O_RDWR);
  const auto give = [&](int from, int to) { dup2(from >= 0 ? from : nothing, to); };
  give(streams.input, STDIN_FILENO);
  give(streams.output, STDOUT_FILENO);
  give(streams.errors, STDERR_FILENO);
  if (*folder == '\0' || chdir(folder) == 0)
    execvpe(image.arguments[0], image.arguments.data(), image.environment.data());
  const int error = errno;
  if (write(report, &error, sizeof error) < 0) _exit(126);
  _exit(127);
}

struct Spawned {
  pid_t child = -1;
  int error = 0;
};

// Starts the program and closes our copies of its streams; a program that cannot be started is reaped at once.
Spawned Spawn(Image& image, const std::string& folder, const Streams& streams) {
  int report[2];
  Spawned spawned;
  if (pipe2(report, O_CLOEXEC) != 0) {
    spawned.error = errno;
  } else {
    spawned.child = fork();
    if (spawned.child == 0) BecomeProgram(image, folder.c_str(), streams, report[1]);
    if (spawned.child < 0) spawned.error = errno;
    if (spawned.child > 0) RememberChild(spawned.child);
    close(report[1]);
    if (spawned.child > 0 && read(report[0], &spawned.error, sizeof spawned.error) <= 0) spawned.error = 0;
    close(report[0]);
  }
  if (streams.input >= 0) close(streams.input);
  if (streams.output >= 0) close(streams.output);
  if (spawned.error != 0 && spawned.child > 0) {
    Reap(spawned.child, nullptr);
    spawned.child = -1;
  }
  return spawned;
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

std::optional<std::string> ProcessResult::Failure(std::chrono::milliseconds limit) const {
  if (timed_out) return fmt::format("took longer than {} s", static_cast<double>(limit.count()) / 1000);
  // Beyond the last signal there are only statuses, such as the 255 of a program that returns -1.
  if (status > 128 && status <= 128 + SIGRTMAX)
    return fmt::format("was killed by signal {} ({})", status - 128, strsignal(status - 128));
  if (status != 0) return fmt::format("ended with status {}", status);
  return std::nullopt;
}

Result<ProcessResult> RunProcess(const std::vector<std::string>& arguments, const std::string& folder,
                                 std::chrono::milliseconds limit, const Environment& environment) {
  int output[2];
  if (pipe2(output, O_CLOEXEC) != 0) return CannotStart(arguments[0], errno);
  Image image(arguments, environment);
  const Spawned spawned = Spawn(image, folder, {.output = output[1], .errors = output[1]});
  ProcessResult result;
  if (spawned.error == 0) {
    result.timed_out = !Collect(output[0], Clock::now() + limit, result.output);
    if (result.timed_out) kill(-spawned.child, SIGKILL);
  }
  close(output[0]);
  if (spawned.error != 0) return CannotStart(arguments[0], spawned.error);
  int status = 0;
  Reap(spawned.child, &status);
  result.status = StatusOf(status);
  return result;
}

Result<Worker> Worker::Start(const std::vector<std::string>& arguments, const Environment& environment) {
  int input[2];
  int output[2];
  if (pipe2(input, O_CLOEXEC) != 0) return CannotStart(arguments[0], errno);
  if (pipe2(output, O_CLOEXEC) != 0) {
    const int error = errno;
    close(input[0]);
    close(input[1]);
    return CannotStart(arguments[0], error);
  }
  Image image(arguments, environment);
  const Spawned spawned = Spawn(image, "", {.input = input[0], .output = output[1]});
  Worker worker(spawned.child, input[1], output[0]);
  if (spawned.error != 0) return CannotStart(arguments[0], spawned.error);
  return worker;
}

Worker::Worker(Worker&& other) noexcept { *this = std::move(other); }

Worker& Worker::operator=(Worker&& other) noexcept {
  std::swap(child_, other.child_);
  std::swap(input_, other.input_);
  std::swap(output_, other.output_);
  std::swap(pending_, other.pending_);
  return *this;
}

Worker::~Worker() { Stop(); }

void Worker::Stop() {
  if (input_ >= 0) close(input_);
  if (output_ >= 0) close(output_);
  if (child_ > 0) {
    kill(-child_, SIGKILL);
    Reap(child_, nullptr);
  }
  child_ = input_ = output_ = -1;
}

std::string Worker::HowItEnded() {
  // A program closes its output some time before it ends; only one that does not end by itself is killed, and its
  // children always are.
  const Clock::time_point end = Clock::now() + std::chrono::seconds(2);
  siginfo_t ended = {};
  while (waitid(P_PID, static_cast<id_t>(child_), &ended, WEXITED | WNOWAIT | WNOHANG) == 0 && ended.si_pid == 0 &&
         Clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  kill(-child_, SIGKILL);
  ProcessResult result;
  int status = 0;
  Reap(child_, &status);
  child_ = -1;
  result.status = StatusOf(status);
  const auto failure = result.Failure({});
  return failure ? fmt::format(" (it {})", *failure) : std::string();
}

Result<std::string> Worker::ReadLine(std::chrono::milliseconds limit) {
  const Clock::time_point end = Clock::now() + limit;
  constexpr size_t kLongestLine = size_t{16} << 20;
  size_t searched = 0;
  while (true) {
    const size_t newline = pending_.find('\n', searched);
    if (newline != std::string::npos) {
      std::string line = pending_.substr(0, newline);
      pending_.erase(0, newline + 1);
      return line;
    }
    searched = pending_.size();
    if (searched > kLongestLine) return MakeError(kWorkerFailed, "it wrote a line of more than 16 MiB");
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) {
      const double seconds = static_cast<double>(limit.count()) / 1000;
      return MakeError(kWorkerFailed, fmt::format("it stayed silent for {} s", seconds));
    }
    pollfd waiting{.fd = output_, .events = POLLIN, .revents = 0};
    if (poll(&waiting, 1, static_cast<int>(std::min<long long>(left, 1000))) <= 0) continue;
    char buffer[1 << 16];
    const ssize_t got = read(output_, buffer, sizeof buffer);
    if (got == 0) return MakeError(kWorkerFailed, "it ended without an answer" + HowItEnded());
    if (got > 0) pending_.append(buffer, static_cast<size_t>(got));
  }
}

Status Worker::WriteLine(std::string_view line) {
  std::string text(line);
  text += '\n';
  // A worker that has died must not end us by SIGPIPE.
  struct sigaction ignore = {};
  struct sigaction before = {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, &before);
  size_t at = 0;
  while (at < text.size()) {
    const ssize_t done = write(input_, text.data() + at, text.size() - at);
    if (done < 0 && errno != EINTR) break;
    if (done > 0) at += static_cast<size_t>(done);
  }
  sigaction(SIGPIPE, &before, nullptr);
  return at == text.size() ? Status() : Status(MakeError(kWorkerFailed, "it no longer reads"));
}

std::vector<char*> ArgumentPointers(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
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

std::filesystem::path ExecutablePath() {
  std::error_code error;
  std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) return path;
  const unsigned long started_as = getauxval(AT_EXECFN);  // NOLINT(google-runtime-int): the kernel's type
  if (started_as == 0) return {};
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel hands out addresses as numbers
  path = std::filesystem::canonical(reinterpret_cast<const char*>(started_as), error);
  return error ? std::filesystem::path() : path;
}

}  // namespace hespas
