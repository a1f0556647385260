"""Where settings come from: defaults < device file < configuration < HESPAS_* environment < options, in every command."""
import csv
import io
import json
import os
import pathlib
import tempfile
import unittest

from command import FIXTURES, LLAMA, ROOT, run

PROGRAM = FIXTURES / "test_dependency_graph.mlir.gz"
A100 = ROOT / "configs/nodes/A100_SXM_40GB/roofline/config.json"


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.device = self.write("chip.json", {"peak_flops": "10 TFLOP/s", "memory_bandwidth": "1 TB/s"})

    def write(self, name, value):
        path = self.folder / name
        path.write_text(json.dumps(value, indent=2))
        return path

    def configuration(self, hardware=None, name="run.json", **more):
        estimator = {"method": "roofline"} | ({"hardware": hardware} if hardware else {})
        return self.write(name, more | {"perf_estimator": estimator})


def environment(**variables):
    return {"environment": {f"HESPAS_{name.upper()}": value for name, value in variables.items()}}


def settings(*words, **more):
    done = run("run", PROGRAM, "--print-config", "--format", "csv", *words, **more)
    assert done.returncode == 0, done.stderr
    return {row["setting"]: (row["value"], row["from"]) for row in csv.DictReader(io.StringIO(done.stdout))}


class Run(Folder):
    def test_each_step_of_a_figure_of_the_device(self):
        """The same bandwidth from every place; each beats those before it, in what is shown and in what is computed."""
        configured = self.configuration({"memory_bandwidth": 2e12})
        steps = [
            (["--device", "A100_SXM_80GB"], {}, "2.039e+12 B/s", "device file"),
            (["--device", self.device], {}, "1e+12 B/s", "device file"),
            (["--device", self.device, "--config", configured], {}, "2e+12 B/s", "configuration"),
            (["--device", self.device, "--config", configured], environment(memory_bandwidth="3 TB/s"), "3e+12 B/s",
             "environment HESPAS_MEMORY_BANDWIDTH"),
            (["--device", self.device, "--config", configured, "--memory-bandwidth", "4 TB/s"],
             environment(memory_bandwidth="3 TB/s"), "4e+12 B/s", "option --memory-bandwidth"),
        ]
        times = []
        for words, more, value, origin in steps:
            shown = settings(*words, **more)["memory_bandwidth"]
            self.assertEqual(shown[0], value)
            self.assertTrue(shown[1].startswith(origin), shown)
            done = run("run", LLAMA, "--estimator", "roofline", "--optimise", "none", "--network-backend", "none",
                       "--num-npus", "4", "--format", "json", *words, **more)
            times.append(json.loads(done.stdout)["step_time_s"])
        self.assertEqual(times[1:], sorted(times[1:], reverse=True))
        self.assertEqual(len(set(times)), len(times))

    def test_each_step_of_a_setting(self):
        configured = self.configuration(split_strategy="individual_split", num_npus=4)
        self.assertEqual(settings()["split"], ("auto", "default"))
        self.assertEqual(settings("--config", configured)["split"], ("individual", f"configuration {configured}:2"))
        self.assertEqual(settings("--config", configured, **environment(split="linear"))["split"],
                         ("linear", "environment HESPAS_SPLIT"))
        self.assertEqual(settings("--config", configured, "--split", "auto", **environment(split="linear"))["split"],
                         ("auto", "option --split"))
        self.assertEqual(settings("--config", configured)["estimator"][0], "roofline")

    def test_program_and_device_may_come_from_the_configuration(self):
        configured = self.configuration({"peak_flops": 1e13, "memory_bandwidth": 1e12}, mlir_file=str(PROGRAM),
                                        num_npus=4)
        done = run("run", "--config", configured, "--network-backend", "none", "--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["device"], "run")
        self.assertEqual(run("run").returncode, 2)

    def test_unknown_keys_and_bad_values_are_errors_with_a_suggestion(self):
        cases = [({"split_strategi": "linear_split"}, "did you mean `split_strategy`?"),
                 ({"perf_estimator": {"methd": "roofline"}}, "did you mean `method`?"),
                 ({"perf_estimator": {"hardware": {"memory_bandwith": 1}}}, "did you mean `memory_bandwidth`?"),
                 ({"split_strategy": "linaer_split"}, "did you mean `linear`?"),
                 ({"merge": "perhaps"}, "merge"), ({"block_lim": [1]}, "block_lim")]
        for content, help_text in cases:
            path = self.write("bad.json", content)
            for command in ("run", "trace"):
                done = run(command, PROGRAM, "--config", path)
                self.assertEqual(done.returncode, 1, content)
                self.assertIn(f"{path}:", done.stderr)
                self.assertIn(help_text, done.stderr)

    def test_a_bad_variable_is_named(self):
        done = run("run", PROGRAM, **environment(split="linaer"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("did you mean `linear`?", done.stderr)
        self.assertIn("HESPAS_SPLIT", done.stderr)
        done = run("run", PROGRAM, **environment(memory_bandwidth="3 parsecs"))
        self.assertEqual(done.returncode, 1)

    def test_every_node_of_the_prototype_is_a_configuration(self):
        for path in sorted((ROOT / "configs/nodes").glob("*/roofline/config.json")):
            done = run("run", PROGRAM, "--config", path, "--num-npus", "4", "--network-backend", "none")
            self.assertEqual(done.returncode, 0, f"{path}: {done.stderr}")


class ChakraGen(Folder):
    def settings(self, *words, **more):
        done = run(*words, "--print-config", program="hespas_chakra_gen", **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [line.split(None, 2) for line in done.stdout.splitlines()[1:]]
        return {row[0]: (row[1], row[2].strip()) for row in rows}

    def test_each_step(self):
        file = self.configuration({"memory_bandwidth": 2e12, "peak_flops": 1e13}, split_strategy="individual_split")
        named = self.configuration({"memory_bandwidth": 2e12}, "named.json", device=str(self.device))
        bare = self.configuration(None, "bare.json", device=str(self.device))
        self.assertEqual(self.settings(bare)["memory_bandwidth"], ("1e+12", f"device file {self.device}"))
        self.assertEqual(self.settings(bare)["split_fn"], ("linear_split", "default"))
        self.assertEqual(self.settings(named)["memory_bandwidth"], ("2e+12", f"configuration {named}"))
        self.assertEqual(self.settings(file)["split_fn"], ("individual_split", f"configuration {file}"))
        there = environment(memory_bandwidth="3 TB/s", split_fn="linear_split")
        self.assertEqual(self.settings(named, **there)["memory_bandwidth"],
                         ("3e+12", "environment HESPAS_MEMORY_BANDWIDTH"))
        self.assertEqual(self.settings(file, **there)["split_fn"], ("linear_split", "environment"))
        given = self.settings(file, "--split_fn", "individual_split", "--memory-bandwidth", "4 TB/s", **there)
        self.assertEqual(given["memory_bandwidth"], ("4e+12", "option --memory-bandwidth"))
        self.assertEqual(given["split_fn"], ("individual_split", "option"))

    def test_clean_can_be_turned_off(self):
        file = self.configuration({"memory_bandwidth": 2e12, "peak_flops": 1e13}, clean=True)
        self.assertEqual(self.settings(file)["clean"][0], "true")
        self.assertEqual(self.settings(file, "--no-clean")["clean"], ("false", "option"))
        self.assertEqual(self.settings(file, "--no-clean", "--compat", "prototype")["clean"][0], "true")

    def test_unknown_keys_are_errors_with_a_suggestion(self):
        file = self.configuration({"memory_bandwidth": 2e12, "peak_flops": 1e13}, splt_strategy="linear_split")
        done = run(file, "--mlir_file", PROGRAM, "--output", self.folder / "out", program="hespas_chakra_gen")
        self.assertEqual(done.returncode, 1)
        self.assertIn("did you mean `split_strategy`?", done.stderr)


if __name__ == "__main__":
    unittest.main()
