// Answers cases (one JSON object a line on stdin) with one JSON object a line: the other side of differential.py.
#include <iostream>
#include <string>

#include "case_file.h"

int main(int argc, char** argv) {
  using namespace hespas;
  const bool events = argc > 1 && std::string(argv[1]) == "events";
  for (std::string line; std::getline(std::cin, line);) {
    Result<network_test::Case> built = network_test::BuildCase(nlohmann::json::parse(line));
    nlohmann::json answer;
    if (built) {
      Diagnostics diagnostics;
      if (events) built->options.engine = simulate::Engine::kEvents;
      const auto result = simulate::Simulate(built->trace, built->system, built->options, diagnostics);
      answer = result ? network_test::Answer(*result) : nlohmann::json{{"error", result.error().message}};
      if (result) answer["method"] = result->method;
    } else {
      answer = {{"error", built.error().message}};
    }
    std::cout << answer.dump() << "\n";
  }
}
