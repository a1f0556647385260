// The estimator of bandwidth.py in C++: every matmul takes the longer of arithmetic at half the peak and
// traffic.
//
// usage: hespas run PROGRAM --estimator exec:build/release/bin/bandwidth_estimator
#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

using nlohmann::json;

namespace {

json Answer(const json& request) {
  try {
    const json& device = request.at("device");
    const double arithmetic = request.at("flops").get<double>() / (0.5 * device.at("peak_flops").get<double>());
    const double traffic = request.at("bytes").get<double>() / device.at("memory_bandwidth").get<double>();
    return {{"id", request.at("id")}, {"ok", true}, {"seconds", std::max(arithmetic, traffic)}};
  } catch (const json::exception& error) {
    return {{"id", request.value("id", 0)}, {"ok", false}, {"message", error.what()}};
  }
}

}  // namespace

int main() {
  const json costs = {"dot_general", "dot", "convolution"};
  std::cout << json{{"ready", true}, {"name", "bandwidth"}, {"version", "1"}, {"costs", costs}} << std::endl;
  for (std::string line; std::getline(std::cin, line);) std::cout << Answer(json::parse(line)) << std::endl;
}
