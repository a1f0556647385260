// Every recorded run of the Python prototype, again: traces, statistics, graph and log must be the same bytes, wall
// times and memory readings aside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "base/system/file.h"
#include "driver/compat/chakra_gen.h"
#include "read/read.h"

namespace hespas::driver::compat {
namespace {

namespace fs = std::filesystem;

const fs::path kSource = HESPAS_SOURCE_DIR;
const fs::path kData = kSource / "tests/data/prototype";

struct Case {
  std::string fixture;
  std::string mode;
  std::string preset;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.fixture << " " << c.mode << " " << c.preset; }

std::vector<Case> AllCases() {
  std::vector<Case> cases;
  for (const auto& fixture : fs::directory_iterator(kData / "runs")) {
    for (const auto& mode : fs::directory_iterator(fixture)) {
      for (const auto& preset : fs::directory_iterator(mode)) {
        cases.push_back({fixture.path().filename(), mode.path().filename(), preset.path().filename()});
      }
    }
  }
  std::sort(cases.begin(), cases.end(), [](const Case& a, const Case& b) {
    return std::tie(a.fixture, a.mode, a.preset) < std::tie(b.fixture, b.mode, b.preset);
  });
  return cases;
}

std::string Read(const fs::path& path) {
  auto text = ReadInput(path);
  EXPECT_TRUE(text.ok()) << path;
  return text.ok() ? *text : std::string();
}

std::string MaskStatistics(const std::string& json) {
  static const std::regex kWallTime("\"(estimation_time|uncached_time)\": [^,\n]*");
  return std::regex_replace(json, kWallTime, "\"$1\": 0");
}

std::string MaskLog(const std::string& log) {
  std::istringstream lines(log);
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("Generating MLIR Modules: ") != std::string::npos) continue;
    if (line.starts_with("Took ")) line = "Took";
    if (line.starts_with("Total estimator time taken")) line = "Total estimator time taken";
    out += line + "\n";
  }
  return out;
}

std::vector<std::string> TypesOf(const ir::Module& module, auto values) {
  std::vector<std::string> types;
  for (const ir::ValueId value : values) types.push_back(module.types().Text(module.type_id(value)));
  return types;
}

// Every block module reads back, and is what its JSON file says (spec python-prototype section 6); outside `make
// test-full` every fifth is read. Returns how many there are.
size_t ExpectSoundBlockModules(const fs::path& folder, const std::string& program) {
  const unsigned long step = std::getenv("HESPAS_ALL_SETTINGS") != nullptr ? 1 : 5;
  size_t count = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".mlir" || entry.path().filename() == "private_functions.mlir") continue;
    ++count;
    if (std::stoul(entry.path().stem().string().substr(std::strlen("mini_module_"))) % step != 0) continue;
    fs::path description = entry.path();
    const auto json = nlohmann::json::parse(Read(description.replace_extension(".json")));
    Diagnostics diagnostics;
    const auto module = read::ReadProgram(entry.path().string(), {}, diagnostics);
    EXPECT_TRUE(module.ok()) << entry.path() << ": " << (module.ok() ? "" : Render(module.error()));
    if (!module.ok()) continue;
    const auto& body = module->block(module->body(module->main()));
    EXPECT_EQ(json.at("op_count"), body.ops.size());
    EXPECT_EQ(json.at("input_dims"), TypesOf(*module, module->arguments(module->body(module->main()))));
    EXPECT_EQ(json.at("output_dims"), TypesOf(*module, module->operands(body.ops.back())));
    EXPECT_EQ(json.at("block_type"), "NodeType.COMP_NODE");
    EXPECT_EQ(json.at("module_file"), entry.path().string());
    EXPECT_EQ(json.at("parent_module"), program);
    EXPECT_TRUE(json.at("collective").is_null());
    EXPECT_EQ("mini_module_" + json.at("id").dump(), entry.path().stem().string());
  }
  return count;
}

class PrototypeGolden : public testing::TestWithParam<Case> {
 protected:
  // The prototype ran in a folder of its own with relative paths, which its log repeats.
  void SetUp() override {
    home_ = fs::current_path();
    folder_ = fs::path(testing::TempDir()) / ("hespas_prototype_" + std::to_string(::getpid()));
    fs::create_directories(folder_ / "tests/fixtures/mlir");
    fs::current_path(folder_);
  }
  void TearDown() override {
    fs::current_path(home_);
    fs::remove_all(folder_);
  }

  fs::path home_;
  fs::path folder_;
};

TEST_P(PrototypeGolden, SameBytes) {
  const Case& c = GetParam();
  const std::string program = "tests/fixtures/mlir/" + c.fixture + ".mlir";
  std::ofstream(program) << Read(kData / "programs" / (c.fixture + ".mlir.gz"));
  const std::string output = "out/out_" + c.fixture + "_" + c.mode + "_" + c.preset;
  CommandLine command;
  command.config_path = kSource / "configs/nodes" / c.preset / "roofline/config.json";
  command.mlir_file = program;
  command.output = output;
  command.split = c.mode == "linear" ? "linear_split" : "individual_split";
  if (c.mode == "individual_merge") command.merge = true;
  command.num_npus = 4;
  command.compat = true;
  std::string log;
  Diagnostics diagnostics;
  const Status status =
      GenerateTraces(command, Log([&](std::string_view line) { log += line; }, Level::kInfo), diagnostics);
  ASSERT_TRUE(status.ok()) << status.error().message;

  const fs::path golden = kData / "runs" / c.fixture / c.mode / c.preset;
  size_t compared = 0;
  for (const auto& entry : fs::directory_iterator(golden)) {
    const std::string name = entry.path().stem();
    const std::string expected = Read(entry.path());
    ++compared;
    if (name == "log.txt") {
      EXPECT_EQ(MaskLog(log), MaskLog(expected));
    } else if (name == "module_stats.json") {
      EXPECT_EQ(MaskStatistics(Read(fs::path(output) / name)), MaskStatistics(expected));
    } else {
      EXPECT_TRUE(Read(fs::path(output) / name) == expected) << name << " differs";
    }
  }
  EXPECT_GE(compared, 4u);
  // Devices without a recording of their own had a copy of the first.
  if (!fs::exists(golden / "dev.3.et.gz")) {
    EXPECT_TRUE(Read(fs::path(output) / "dev.3.et") == Read(golden / "dev.0.et.gz"));
  }
}

TEST_P(PrototypeGolden, BlockModulesReadBack) {
  const Case& c = GetParam();
  if (c.preset != "TPUv3") return;  // the device plays no part
  const std::string program = c.fixture + ".mlir";
  std::ofstream(program) << Read(kData / "programs" / (c.fixture + ".mlir.gz"));
  for (const bool compat : {true, false}) {
    CommandLine command;
    command.config_path = kSource / "configs/nodes/TPUv3/roofline/config.json";
    command.mlir_file = program;
    command.output = compat ? "old" : "new";
    command.split = c.mode == "linear" ? "linear_split" : "individual_split";
    if (c.mode == "individual_merge") command.merge = true;
    command.num_npus = 4;
    command.compat = compat;
    Diagnostics diagnostics;
    const Status status = GenerateTraces(command, Log([](std::string_view) {}, Level::kCritical), diagnostics);
    ASSERT_TRUE(status.ok()) << status.error().message;
    const auto statistics = nlohmann::json::parse(Read(fs::path(*command.output) / "module_stats.json"));
    EXPECT_EQ(ExpectSoundBlockModules(*command.output, program), statistics.at("modules_processed"));
  }
}

INSTANTIATE_TEST_SUITE_P(Runs, PrototypeGolden, testing::ValuesIn(AllCases()), [](const auto& run) {
  return run.param.fixture + "_" + run.param.mode + "_" + run.param.preset;
});

}  // namespace
}  // namespace hespas::driver::compat
