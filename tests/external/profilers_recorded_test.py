"""The estimators xla and iree against stand-ins for their tools that check how they are called and play recorded output."""
import json
import pathlib
import tempfile
import unittest

import command

PROGRAM = """func.func @main(%a: tensor<64x32xf32>, %b: tensor<32x16xf32>, %i: tensor<i16>, %p: tensor<8xi1>, %q: tensor<i1>)
    -> (tensor<64x16xf32>, tensor<i16>, tensor<8xi1>, tensor<i1>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x16xf32>) -> tensor<64x16xf32>
  %1 = stablehlo.add %i, %i : tensor<i16>
  %2 = stablehlo.not %p : tensor<8xi1>
  %3 = stablehlo.not %q : tensor<i1>
  return %0, %1, %2, %3 : tensor<64x16xf32>, tensor<i16>, tensor<8xi1>, tensor<i1>
}
"""
# Printed by IREE 3.13.0 for a small matmul, shortened.
IREE_JSON = {"context": {"date": "2026-11-22T04:33:28+00:00", "num_cpus": 2, "library_version": "v1.9.5"}, "benchmarks": [
    {"name": "BM_main/process_time/real_time_mean", "run_type": "aggregate", "repetitions": 2, "aggregate_name": "mean",
     "iterations": 2, "real_time": 6.4534501996878171e-02, "cpu_time": 4.4057171385991044e-02, "time_unit": "ms"},
    {"name": "BM_main/process_time/real_time_median", "run_type": "aggregate", "aggregate_name": "median",
     "iterations": 2, "real_time": 6.2e-02, "cpu_time": 4.1e-02, "time_unit": "ms"}]}
HLO_TIMES = "".join(f"I0000 xla/tools: Execution time, run {i}, duration={t}\n"
                    for i, t in enumerate((5e6, 1000, 2000.0, 3000, 4000)))


class Tools(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "program.mlir").write_text(PROGRAM)
        self.path = {"PATH": f"{self.folder}:/usr/bin:/bin"}

    def tool(self, name, body):
        """A shell script that notes its arguments, then does `body`."""
        path = self.folder / name
        path.write_text(f'#!/bin/sh\necho "$@" >> {self.folder}/{name}.calls\n{body}\n')
        path.chmod(0o755)

    def printing(self, name, text, more=""):
        (self.folder / f"{name}.output").write_text(text)
        self.tool(name, f"cat {self.folder}/{name}.output\n{more}")

    def calls(self, name):
        return (self.folder / f"{name}.calls").read_text().splitlines()

    def run_with(self, estimator, *words):
        return command.run("run", self.folder / "program.mlir", "--estimator", estimator, "--format", "json", *words,
                           environment=self.path)

    def result(self, estimator, *words):
        done = self.run_with(estimator, *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def xla(self):
        self.tool("xla-translate", 'echo HloModule > "$3"')
        self.printing("hlo_runner_main", HLO_TIMES)

    def iree(self):
        self.tool("iree-compile", "echo 'IREE compiler version 3.13.0'")
        self.printing("iree-benchmark-module", "***WARNING*** frequency scaling\n" + json.dumps(IREE_JSON))

    def test_xla_as_the_prototype_drives_it(self):
        self.xla()
        result = self.result("xla")
        # the longest of the five times does not count
        self.assertAlmostEqual(result["compute_time_s"], 2.5e-6, delta=1e-12)
        [call] = self.calls("xla-translate")
        self.assertRegex(call, r"^--stablehlo-to-hlo-text -o \S+/block_0.hlo \S+/block_0.mlir$")
        [call] = self.calls("hlo_runner_main")
        self.assertRegex(call, r"^--num_repeats=5 --profile_execution=true --hlo_argument_mode=uninitialized \S+/block_0.hlo$")

    def test_xla_failures_fall_back(self):
        fallback = self.result("calibrated", "--device", "A100_SXM_80GB", "--optimise", "none", "--split", "linear")["compute_time_s"]
        for translate, runner, why in (("exit 3", None, "xla-translate ended with status 3"),
                                       ("true", None, "xla-translate wrote no file"),
                                       (None, "kill -9 $$", "hlo_runner_main was killed by signal 9"),
                                       (None, "echo nothing", "hlo_runner_main printed fewer than two times: nothing"),
                                       (None, "echo 'Execution time, duration=5.0'", "printed fewer than two times")):
            self.xla()
            if translate:
                self.tool("xla-translate", translate)
            if runner:
                self.tool("hlo_runner_main", runner)
            result = self.result("xla")
            [warning] = result["warnings"]
            self.assertEqual(warning["code"], "W0517")
            self.assertIn(why, warning["message"])
            self.assertEqual(result["compute_time_s"], fallback)

    def test_iree_inputs_and_times(self):
        self.iree()
        wall = self.result("iree")
        self.assertAlmostEqual(wall["compute_time_s"], 64.534501996878171e-6, delta=1e-12)
        cpu = self.result("iree", "--iree-clock", "cpu")
        self.assertAlmostEqual(cpu["compute_time_s"], 44.057171385991044e-6, delta=1e-12)
        call = self.calls("iree-benchmark-module")[0]
        self.assertRegex(call, r"^--device=local-task --module=\S+/block_0.vmfb --function=main "
                               r"--benchmark_report_aggregates_only=true --benchmark_format=json "
                               r"--input=64x32xf32=1 --input=32x16xf32=1 --input=i16=1 --input=8xi1 --input=i1=01 "
                               r"--benchmark_repetitions=2$")
        call = [c for c in self.calls("iree-compile") if c != "--version"][0]
        self.assertRegex(call, r"^\S+/block_0.mlir --iree-input-type=stablehlo --iree-hal-target-backends=llvm-cpu "
                               r"-o=\S+/block_0.vmfb --iree-llvmcpu-target-cpu=host$")

    def test_keys_of_the_prototype(self):
        self.iree()
        hardware = {"compile": {"device": "local-sync", "target-backends": "vmvx", "extra-args": ["--one", "--two"],
                                "extra-runtime-args": ["--benchmark_repetitions=7"]},
                    "mlir_function_name": "main", "sample": True}
        config = self.folder / "config.json"
        config.write_text(json.dumps({"perf_estimator": {"method": "iree", "hardware": hardware}}))
        expected = r"--iree-hal-target-backends=vmvx -o=\S+.vmfb --one --two$"
        self.result("iree", "--config", config)
        self.assertRegex([c for c in self.calls("iree-compile") if c != "--version"][-1], expected)
        call = self.calls("iree-benchmark-module")[-1]
        self.assertIn("--device=local-sync", call)
        self.assertTrue(call.endswith(" --input=i1=01 --benchmark_repetitions=7"), call)
        for name in ("iree-compile", "iree-benchmark-module"):
            (self.folder / f"{name}.calls").unlink()
        done = command.run(config, "--mlir_file", self.folder / "program.mlir", "--output", self.folder / "out",
                           program="hespas_chakra_gen", environment=self.path)
        self.assertEqual(done.returncode, 0, done.stderr)
        [compiled] = [c for c in self.calls("iree-compile") if c != "--version"]
        self.assertRegex(compiled, expected)
        self.assertEqual(len(self.calls("iree-benchmark-module")), 1)
        hardware["compile"] = "llvm-cpu"
        config.write_text(json.dumps({"perf_estimator": {"method": "iree", "hardware": hardware}}))
        self.assertEqual(self.run_with("iree", "--config", config).returncode, 1)

    def drop_in(self, name, *words):
        done = command.run(*words, program=name, environment=self.path)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def test_the_prototypes_commands_measure_whole_blocks(self):
        self.iree()
        self.xla()
        config = self.folder / "config.json"
        words = ["--mlir-file", self.folder / "program.mlir"]
        for method, seconds, micros, option in (("iree", "6.4534502e-05", "64.535", "--iree-compile"),
                                                ("xla", "2.5e-06", "2.5", "--xla-translate-path")):
            tool = self.folder / {"iree": "iree-compile", "xla": "xla-translate"}[method]
            for more in ([], [option, tool]):
                done = self.drop_in(f"hespas_{method}_estimator", *words, *more)
                self.assertEqual(done.stdout, f"Execution of module completed: {seconds}s\n")
                self.assertIn(f"Compute Runtime Estimation: {micros} us\n", done.stderr)
                self.assertNotIn("utilisation", done.stderr)
                self.assertNotIn("proportions", done.stderr)
            config.write_text(json.dumps({"mlir_file": str(words[1]), "output_dir": str(self.folder / method),
                                          "perf_estimator": {"method": method, "hardware": {}}}))
            for hits in (0, 1):  # the second run takes all from the cache
                done = self.drop_in("hespas_chakra_gen", config)
                self.assertIn(f"Compute Runtime Estimation: {micros} us\n", done.stderr)
                self.assertEqual(done.stderr.count("Cache hit ("), hits)
            stats = json.loads((self.folder / method / "module_stats.json").read_text())
            self.assertEqual((stats["runtime"], stats["cache_hits"]), (float(seconds), 1))
            self.assertEqual([m["runtime"] for m in stats["per_module"].values()], [float(seconds)])

    def test_sample_true_measures_three_of_a_family(self):
        """The prototype's key, which it reads and does not use: here the others are scaled."""
        types = {n: f"tensor<{n}xf32>" for n in range(100, 700, 100)}
        arguments = ", ".join(f"%a{n}: {kind}" for n, kind in types.items())
        negations = "".join(f"  %b{n} = stablehlo.negate %a{n} : {kind}\n" for n, kind in types.items())
        results, kinds = ", ".join(f"%b{n}" for n in types), ", ".join(types.values())
        self.iree()
        (self.folder / "program.mlir").write_text(
            f"func.func @main({arguments}) -> ({kinds}) {{\n{negations}  return {results} : {kinds}\n}}\n")
        config = self.folder / "config.json"
        for sample, measured in ((False, 6), (True, 3)):
            (self.folder / "iree-benchmark-module.calls").unlink(missing_ok=True)
            config.write_text(json.dumps({"perf_estimator": {"method": "iree", "hardware": {"sample": sample}}}))
            result = self.result("iree", "--config", config, "--split", "individual")
            self.assertEqual(sum("--module" in call for call in self.calls("iree-benchmark-module")), measured)
            notes = [w["message"] for w in result["warnings"]]
            self.assertEqual([note.split(" (")[0] for note in notes],
                             ["3 of 6 distinct blocks were measured; 3 are scaled from them"] if sample else [])

    def test_tools_that_are_missing(self):
        for estimator, tool in (("xla", "xla-translate"), ("iree", "iree-compile")):
            done = self.run_with(estimator)
            self.assertEqual(done.returncode, 5)
            self.assertIn(f"error[E0573]: `{tool}` was not found", done.stderr)


if __name__ == "__main__":
    unittest.main()
