#include "driver/inspect/kernels/kernel_ids.h"

#include <fmt/format.h>

#include <cctype>

#include "optimise/optimise.h"

namespace hespas::driver {

KernelIds::KernelIds(const ir::Module& module, const Summary& summary) {
  for (size_t i = 0; i < summary.kernels.size(); ++i) {
    const ir::OpId op = summary.kernels[i].op;
    numbers_.emplace(op.value, i);
    const std::string_view* formed = module.attribute(op, optimise::kKernelNumber);
    if (formed != nullptr) as_formed_.emplace(formed->substr(0, formed->find(' ')), i);
  }
}

std::string KernelIds::Renumbered(const std::string& text) const {
  constexpr std::string_view kWord = "kernel ";
  std::string out;
  size_t done = 0;
  for (size_t at = text.find(kWord); at != std::string::npos; at = text.find(kWord, at + 1)) {
    const size_t begin = at + kWord.size();
    size_t end = begin;
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
    if (end == begin) continue;
    const auto found = as_formed_.find(text.substr(begin, end - begin));
    out += text.substr(done, at - done);
    out += found == as_formed_.end() ? "kernel that later passes changed" : fmt::format("kernel {}", found->second);
    done = end;
  }
  return out + text.substr(done);
}

}  // namespace hespas::driver
