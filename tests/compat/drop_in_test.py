"""The prototype's commands as its users call them: every preset, mode and thread count; separators; outputs."""
import json
import os
import pathlib
import re
import tempfile
import unittest

from command import FIXTURES, LLAMA, ROOT, result, run

NODES = sorted((ROOT / "configs/nodes").glob("*/roofline/config.json"))
A100 = ROOT / "configs/nodes/A100_SXM_40GB/roofline/config.json"
MODES = (["--split_fn", "linear_split"], ["--split_fn", "individual_split"], ["--split_fn", "individual_split", "--merge"])
COMPAT = ["--compat", "prototype"]
INFERENCE = FIXTURES / "resnet_50_inference_step_4_devices_1024_batch.mlir.gz"
ALONE = FIXTURES / "test_no_comm_graph.mlir.gz"
SMALL = [FIXTURES / f"{name}.mlir.gz" for name in ("jax_example", "test_split_replica_groups", "convolution")]


def tree(folder):
    """Content of every file of an output folder, wall times and kept estimates aside."""
    out = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "cache" not in path.parts:
            out[path.name] = re.sub(rb'"(estimation_time|uncached_time)": [^,\n]*', b"", path.read_bytes())
    return out


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.output = self.folder / "out"

    def generate(self, *words, config=A100, program=SMALL[0], output=None, npus=4, **more):
        done = run(config, "--mlir_file", program, "--output", output or self.output, "--num_npus", npus, *words,
                   program="hespas_chakra_gen", **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def statistics(self):
        return json.loads((self.output / "module_stats.json").read_text())


class ChakraGen(Folder):
    def test_every_preset_in_every_mode(self):
        self.assertEqual(len(NODES), 14)
        for config in NODES:
            for program in SMALL[:2] if config == A100 else SMALL[1:2]:
                for mode in MODES:
                    for compat in ([], COMPAT):
                        log = self.generate("--clean", *mode, *compat, config=config, program=program)
                        self.assertIn("Chakra gen done.", log)
                        self.assertGreater(self.statistics()["runtime"], 0)
                        names = {p.name for p in self.output.iterdir()}
                        self.assertLessEqual({"dev.0.et", "dev.3.et", "comm_group.json", "module_stats.json",
                                              "dependency_graph.dot", "private_functions.mlir"}, names)
                        self.assertTrue(any(n.startswith("mini_module_") for n in names))

    def test_threads_do_not_change_the_output(self):
        for compat in ([], COMPAT):
            for mode in MODES[:2]:
                self.generate("--clean", *mode, *compat, "--threads", "0", program=SMALL[1])
                expected = tree(self.output)
                for threads in ("-1", "1", "3", "16"):
                    self.generate("--clean", *mode, *compat, "--threads", threads, program=SMALL[1])
                    self.assertEqual(tree(self.output), expected, threads)

    def test_shared_and_per_device_traces(self):
        for compat in ([], COMPAT):
            shared = self.generate("--clean", *compat, program=LLAMA)
            self.assertIn("Generating shared chakra trace for 4 devices.", shared)
            split = self.generate("--clean", *compat, program=SMALL[1])
            self.assertIn("Generating per-device chakra traces for 4 devices", split)
            self.assertNotEqual((self.output / "dev.0.et").read_bytes(), (self.output / "dev.3.et").read_bytes())

    def test_equal_traces_are_one_file_unless_expanded(self):
        self.generate("--clean", program=ALONE, npus=64)
        self.assertEqual({(self.output / f"dev.{i}.et").stat().st_nlink for i in range(64)}, {64})
        linked = tree(self.output)
        self.generate("--clean", "--expand", program=ALONE, npus=64)
        self.assertEqual({(self.output / f"dev.{i}.et").stat().st_nlink for i in range(64)}, {1})
        self.assertEqual(tree(self.output), linked)

    def test_every_estimator_that_is_built_in(self):
        for name in ("roofline", "calibrated", "systolic", "scalesim", "genz"):
            config = self.folder / "config.json"
            config.write_text(json.dumps({"device": "TPUv3", "perf_estimator": {"method": name}}))
            self.generate("--clean", config=config)
            self.assertGreater(self.statistics()["runtime"], 0, name)
            alone = run("--mlir_file", SMALL[0], "--device", "TPUv3", program=f"hespas_{name}_estimator")
            self.assertEqual(alone.returncode, 0, alone.stderr)
            self.assertRegex(alone.stdout, r"^Execution of module completed: [0-9.e-]+s\n$")

    def test_methods_that_measure_name_what_they_lack(self):
        for method, tool in (("iree", "iree-compile"), ("xla", "xla-translate")):
            config = ROOT / f"configs/nodes/profiling/{method}/config.json"
            done = run(config, "--mlir_file", SMALL[0], "--output", self.output, program="hespas_chakra_gen",
                       environment={"PATH": "/usr/bin:/bin"})
            self.assertEqual(done.returncode, 5, done.stderr)
            self.assertIn(f"error[E0573]: `{tool}` was not found", done.stderr)
            self.assertIn("--block-compiler", done.stderr)

    def test_unknown_methods_are_refused(self):
        config = self.folder / "config.json"
        config.write_text(json.dumps({"device": "TPUv3", "perf_estimator": {"method": "oracle"}}))
        done = run(config, "--mlir_file", SMALL[0], "--output", self.output, program="hespas_chakra_gen")
        self.assertEqual(done.returncode, 3)
        self.assertIn("error[E0914]: estimator `oracle` is not available here", done.stderr)
        self.assertIn("roofline", done.stderr)

    def simulator(self):
        """A COCOSSim that takes 1,880 cycles for everything and notes how it was called."""
        tool = self.folder / "perf_model"
        tool.write_text(f'#!/bin/sh\necho "$@" >> {self.folder}/calls\necho "Cycles: 1880 Jobs finished: 1/1"\n')
        tool.chmod(0o755)
        return tool

    def test_keys_of_external_simulators(self):
        preset = ROOT / "configs/nodes/TPUv3/cocossim/config.json"
        missing = run(preset, "--mlir_file", ALONE, "--output", self.output, program="hespas_chakra_gen")
        self.assertEqual(missing.returncode, 5)
        self.assertIn("error[E0573]: `perf_model` is not in PATH", missing.stderr)
        content = json.loads(preset.read_text())
        hardware = content["perf_estimator"]["hardware"]
        hardware |= {"cocossim_path": str(self.simulator()), "frequency": 0.47, "chips": 2}
        config = self.folder / "config.json"
        config.write_text(json.dumps(content))
        self.generate("--clean", config=config, program=ALONE)
        self.assertRegex((self.folder / "calls").read_text(), r"^-c 2 -sa_sz 128 -vu_sz 1024 -ws 1 -f 0.47 -i ")
        matmuls = [m["per_op"]["stablehlo.dot_general"] for m in self.statistics()["per_module"].values()
                    if "stablehlo.dot_general" in m["per_op"]]
        self.assertGreater(len(matmuls), 0)
        for row in matmuls:
            self.assertAlmostEqual(row["runtime"], row["count"] * 4e-6, 15)  # 1,880 cycles at 0.47 GHz
        whole = result("run", ALONE, "--config", config, "--optimise", "none", "--system", "TPUv3_4_2", "--num-npus", 8)
        [row] = [op for op in whole["ops"] if op["name"] == "stablehlo.dot_general"]
        self.assertAlmostEqual(row["time_s"], row["count"] * 4e-6, 12)
        hardware["chip"] = 2
        config.write_text(json.dumps(content))
        wrong = run(config, "--mlir_file", ALONE, "--output", self.output, program="hespas_chakra_gen")
        self.assertEqual(wrong.returncode, 1)
        self.assertIn("did you mean `chips`?", wrong.stderr)

    def test_stand_alone_simulators_take_the_keys_as_flags(self):
        preset = ROOT / "configs/nodes/TPUv3/cocossim/config.json"
        times = []
        for frequency in ("0.94", "0.47"):
            done = run("--config-file", preset, "--mlir-file", ALONE, "--cocossim-path", self.simulator(), "--frequency",
                       frequency, program="hespas_cocossim_estimator")
            self.assertEqual(done.returncode, 0, done.stderr)
            times.append(float(re.search(r"completed: (\S+)s", done.stdout)[1]))
        self.assertGreater(times[1], times[0])
        done = run("--device", "TPUv3", "--mlir-file", ALONE, program="hespas_onnxim_estimator")
        self.assertEqual(done.returncode, 5)
        self.assertIn("error[E0573]: `Simulator` is not in PATH", done.stderr)
        self.assertIn("--accelerator", run("--help", program="hespas_zigzag_onnx_estimator").stdout)

    def test_second_run_reuses_the_first(self):
        first = self.generate()
        self.assertIn("No cached results found at: ", first)
        self.assertTrue((self.output / "cache/estimates.sqlite").exists())
        second = self.generate()
        self.assertIn(f"Loading cached results from: '{self.output}/cache'", second)
        self.assertRegex(second, r"Done \((\d+)/\1\)")
        self.assertRegex(second, r"Basic block reuse rate: 1\.0 \((\d+)/\1\)")
        compat = self.generate(*COMPAT, "--clean")
        self.assertIn("No cached results found at: ", compat)

    def test_disable_cache(self):
        config = json.loads(A100.read_text()) | {"disable_cache": True}
        path = self.folder / "config.json"
        path.write_text(json.dumps(config))
        for compat in ([], COMPAT):
            log = self.generate("--clean", *compat, config=path)
            self.assertNotIn("ache", log.split("Parsed", 1)[1])
            self.assertFalse((self.output / "cache").exists())


class Splitter(Folder):
    def split(self, *words, **keys):
        config = self.folder / "split.json"
        config.write_text(json.dumps({"mlir_file": str(SMALL[1]), "output_dir": str(self.output)} | keys))
        done = run(config, *words, program="hespas_mlir_splitter")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def test_alone_with_its_files(self):
        for words in MODES[:2] + (["--block_lim", "2"],):
            self.split(*words)
            names = {p.name for p in self.output.iterdir()}
            self.assertLessEqual({"dependency_graph.dot", "private_functions.mlir", "mini_module_0.mlir"}, names)
            self.assertNotIn("module_stats.json", names)

    def blocks(self, *words, program=INFERENCE):
        return result("split", program, "--split", "linear", *words)

    def test_separators_and_policies(self):
        """Each policy puts the separating op where it says."""
        ops = sum(int(b["ops"]) for b in self.blocks())
        for separator in ("convolution", "is_reduce_op", "return"):
            for policy in ("ISOLATED", "END_BLOCK", "START_BLOCK"):
                for kind in ("COMM_COLL_NODE", "COMP_NODE"):
                    blocks = self.blocks("--separator", separator, "--separator-policy", policy,
                                         "--separator-node-type", kind)
                    self.assertEqual(sum(int(b["ops"]) for b in blocks), ops)
        isolated = self.blocks("--separator", "convolution", "--separator-node-type", "COMP_NODE")
        end = self.blocks("--separator", "convolution", "--separator-policy", "END_BLOCK")
        start = self.blocks("--separator", "convolution", "--separator-policy", "START_BLOCK")
        whole = self.blocks()
        self.assertGreater(len(isolated), len(whole) + 53)  # 53 convolutions
        self.assertGreaterEqual(len(end), 53)
        self.assertGreaterEqual(len(start), 53)
        self.assertGreater(len(isolated), max(len(end), len(start)))
        wrong = run("split", SMALL[2], "--separator", "convolutoin")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("did you mean `convolution`?", wrong.stderr)

    def test_block_limit(self):
        for limit in (1, 2, 5):
            self.assertLessEqual(max(int(b["ops"]) for b in self.blocks("--block-lim", str(limit))), limit)


if __name__ == "__main__":
    unittest.main()
