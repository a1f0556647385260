// `hespas collective`: schedules of custom collectives, converted or shown.
#include <fmt/format.h>

#include <memory>

#include "cli/command.h"
#include "cli/format.h"
#include "driver/inspect/collective_files.h"

namespace hespas::cli {
namespace {

struct Options {
  std::string file;
  std::string prefix;
  int64_t size = 0;
  Format format = Format::kTable;
};

void AddInput(CLI::App& command, Options& options) {
  command.add_option("FILE", options.file, "MSCCL-IR or TACOS XML, or the prefix of .et files")->required();
  command
      .add_option("--size", options.size,
                  "bytes of the collective (all-gather: contributed by each NPU); without it messages are parts of it")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 50));
}

}  // namespace

void AddCollectiveCommand(CLI::App& app, Console& console) {
  CLI::App& command = AddCommand(app, console, "collective", "converts or shows schedules of custom collectives",
                                 "hespas collective convert allreduce.xml --size 1048576 --output ar");
  command.require_subcommand(1);
  auto options = std::make_shared<Options>();
  CLI::App& convert = AddCommand(command, console, "convert", "an XML schedule to Chakra collective graphs",
                                 "hespas collective convert allreduce.xml --size 1048576 --output ar");
  AddInput(convert, *options);
  convert.add_option("--output", options->prefix, "writes PREFIX.<npu>.et")->required()->option_text("PREFIX");
  convert.callback([options, &console] {
    const Result<size_t> ranks = driver::ConvertCollective(options->file, Bytes(options->size), options->prefix);
    if (!ranks) return console.Fail(ranks.error());
    if (!console.quiet) fmt::print(stderr, "wrote {}.0.et to {}.{}.et\n", options->prefix, options->prefix, *ranks - 1);
  });
  CLI::App& show = AddCommand(command, console, "show", "a schedule as a table, a line a node",
                              "hespas collective show allreduce.xml --size 1048576");
  AddInput(show, *options);
  AddFormatOption(show, options->format);
  show.callback([options, &console] {
    const Result<report::Table> table = driver::CollectiveSchedule(options->file, Bytes(options->size));
    if (!table) return console.Fail(table.error());
    Print(RenderTable(*table, options->format));
  });
}

}  // namespace hespas::cli
