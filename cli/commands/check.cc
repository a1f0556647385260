// `hespas check FILE` and `hespas schema [NAME]`: is this file good, and what may be in it.
#include "driver/inspect/check.h"

#include <fmt/format.h>

#include <memory>

#include "cli/format.h"

namespace hespas::cli {

void AddCheckCommand(CLI::App& app, Console& console) {
  CLI::App& command =
      AddCommand(app, console, "check", "checks a program, device or system file without running anything",
                 "hespas check my-chip.json");
  auto path = std::make_shared<std::string>();
  command.add_option("FILE", *path, "a program, a device or system file, or a folder with a system's files")
      ->required();
  command.callback([path, &console] {
    const auto found = driver::CheckFile(*path, console.diagnostics);
    console.PrintDiagnostics();
    if (found) Print(fmt::format("{}: {}\n", *path, *found));
  });
}

void AddSchemaCommand(CLI::App& app, Console& console) {
  CLI::App& command = AddCommand(app, console, "schema", "prints the JSON Schema of a kind of file, or their names",
                                 "hespas schema device");
  auto name = std::make_shared<std::string>();
  auto format = std::make_shared<Format>(Format::kTable);
  command.add_option("NAME", *name, "without it, the names there are");
  AddFormatOption(command, *format);
  command.callback([name, format, &console] {
    if (!name->empty()) {
      const auto text = driver::SchemaText(*name);
      return text ? Print(*text) : console.Fail(text.error());
    }
    const auto names = driver::SchemaNames();
    if (!names) return console.Fail(names.error());
    report::Table table{.columns = {{"name"}}, .rows = {}};
    for (const std::string& each : *names) table.rows.push_back({each});
    if (*format != Format::kTable) return Print(RenderTable(table, *format));
    for (const std::string& each : *names) Print(each + "\n");
  });
}

}  // namespace hespas::cli
