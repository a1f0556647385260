// The texts by which a custom call describes itself: its configuration and the name of its kernel.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ir/module.h"

namespace hespas::estimate {

// backend_config and mhlo.backend_config, strings unquoted, one behind the other.
std::string CallConfiguration(const ir::Module& module, ir::OpId op);

// The number behind a key (`"flops":123`, `flops = 1.5e9 : f64`).
std::optional<double> NumberIn(std::string_view text, std::string_view key);
// The word behind a key (`"mask_type":"CAUSAL"`, `name = "mha_forward"`); empty where there is none.
std::string WordIn(std::string_view text, std::string_view key);

// The kernel's own name: the attribute `kernel_name`, or `name` of a Triton call's configuration.
std::string KernelName(const ir::Module& module, ir::OpId op);

}  // namespace hespas::estimate
