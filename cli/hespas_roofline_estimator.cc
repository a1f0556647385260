// hespas_roofline_estimator: the prototype's stand-alone estimator, with its documented options.
#include "cli/drop_in.h"
#include "driver/compat/stand_alone.h"

int main(int argc, char** argv) {
  hespas::cli::DropIn options;
  hespas::driver::compat::StandAloneOptions estimator;
  CLI::App app("Estimates one StableHLO program as a whole with the roofline model.", "hespas_roofline_estimator");
  hespas::cli::AddDropInOptions(app, options);
  app.add_option("--mlir-file,--mlir_file", estimator.program, "program")->required();
  app.add_option("--config-file,--config_file", estimator.config_path, "configuration file with `perf_estimator`");
  app.add_option("--device", estimator.device, "preset, instead of a configuration file");
  app.add_option("--peak-flops", estimator.peak_flops, "operations a second of types that no table names")
      ->check(CLI::PositiveNumber);
  app.add_option("--memory-bandwidth", estimator.memory_bandwidth, "bytes a second")->check(CLI::PositiveNumber);
  app.add_option("--per-datatype-flops", estimator.per_datatype_flops, "DATATYPE=RATE, repeatable");
  app.add_option("--tdp-W,--tdp-w", estimator.tdp_w, "power limit in watts");
  app.add_option("--hbm-power-ratio", estimator.hbm_power_ratio, "share of it that full memory traffic draws")
      ->check(CLI::Range(0.0, 1.0));
  app.add_flag("--warn-on-unknown-type", estimator.warn_on_unknown_type, "warn where the table lacks a type");
  app.add_flag("--error-on-unknown-type", estimator.error_on_unknown_type, "stop where the table lacks a type");
  return hespas::cli::RunDropIn(app, argc, argv, options, [&](auto& parsed, const auto& log, auto& diagnostics) {
    estimator.compat = parsed.compat;
    const auto line = hespas::driver::compat::EstimateStandAlone(estimator, log, diagnostics);
    if (!line) return hespas::Status(line.error());
    std::fputs(line->c_str(), stdout);
    return hespas::Status();
  });
}
