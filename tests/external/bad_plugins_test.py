"""PJRT plugins that misbehave: each costs the block that it fails on, and nothing else."""
import json
import os
import pathlib
import re
import tempfile
import time
import unittest

import command

PLUGIN = command.BIN / "fake_pjrt_plugin.so"
# Three blocks: exponential stands in the second alone.
PROGRAM = """func.func @main(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.exponential %0 : tensor<8x8xf32>
  %2 = stablehlo.add %1, %b : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}
"""


# A crash is one where sanitizers are built in, too.
CRASHES_STAY = {name: ":".join(filter(None, [os.environ.get(name), "handle_segv=0"])) for name in ("ASAN_OPTIONS", "TSAN_OPTIONS")}


class BadPlugins(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.program = pathlib.Path(self.folder.name) / "program.mlir"
        self.program.write_text(PROGRAM)

    def measure(self, behaviour, *words, plugin=PLUGIN):
        return command.run("run", self.program, "--estimator", "pjrt", "--plugin", plugin, "--split", "individual",
                           "--format", "json", *words, environment={"FAKE_PLUGIN": behaviour})

    def blocks(self, *words, **more):
        """The result of a run, and how many blocks its cache holds as measured."""
        cache = pathlib.Path(self.folder.name) / "cache.sqlite"
        cache.unlink(missing_ok=True)
        result = command.result("run", self.program, "--estimator", "pjrt", "--plugin", PLUGIN, "--split", "individual",
                                "--cache", cache, *words, **more)
        kept = command.run("cache", "export", cache).stdout.splitlines()
        return result, [json.loads(line)["estimate"]["source"] for line in kept].count("pjrt")

    def lost(self, behaviour, why, *words):
        """The block with the exponential falls back, the others are measured."""
        result, measured = self.blocks(*words, environment={"FAKE_PLUGIN": behaviour, **CRASHES_STAY})
        warnings = [w["message"] for w in result["warnings"]]
        self.assertEqual(len(warnings), 1, warnings)
        self.assertRegex(warnings[0], why)
        self.assertEqual(measured, 2)

    def test_a_good_one_measures_all_blocks(self):
        result, measured = self.blocks()
        self.assertEqual((result["warnings"], measured), ([], 3))
        # the fake runs a millisecond, and no time at all where a program has no operation
        self.assertGreater(result["compute_time_s"], 2e-3)
        self.assertLess(result["compute_time_s"], 0.1)

    def test_blocks_end_where_kernels_end(self):
        result = command.result("run", self.program, "--estimator", "pjrt", "--plugin", PLUGIN, "--split", "fusion")
        # the matmul alone, exponential and sum in one kernel
        self.assertEqual((result["warnings"], result["blocks"]["compute"]), ([], 2))

    def test_measured_and_modelled_blocks_side_by_side(self):
        """Both sides are cut as measured programs are: the rows of the comparison are the same operations."""
        answer = command.result("compare", self.program, "--estimators", "pjrt,roofline", "--plugin", PLUGIN)
        self.assertEqual([side["optimise"] for side in answer["sides"]], ["none", "none"])
        self.assertEqual([row["matched"] for row in answer["blocks"]], [True])

    def test_only_processors_tell_what_they_computed(self):
        run = self.measure("", "--clock", "cpu")
        self.assertEqual(run.returncode, 5)
        self.assertIn("error[E0595]", run.stderr)

    def test_caches_are_replaced_before_each_cold_run(self):
        for words, expected in (("--cold", r"p+(p(sp){5,})+"), ("--warm", "p+")):
            log = pathlib.Path(self.folder.name) / words[2:]
            self.blocks(words, environment={"FAKE_PLUGIN_LOG": str(log)})
            self.assertRegex(log.read_text(), f"^{expected}$")

    def test_crash(self):
        self.lost("crash", r"pjrt: it ended without an answer \(it was killed by signal 11")
        self.lost("crash_run", "killed by signal 11")

    def test_hang(self):
        began = time.monotonic()
        self.lost("hang", "it stayed silent for 3 s", "--tool-timeout", 3)
        self.lost("hang_run", "it stayed silent for 3 s", "--tool-timeout", 3)
        self.assertLess(time.monotonic() - began, 60)

    def test_memory_without_end(self):
        self.lost("allocate", "it took more than 512 MiB of memory", "--tool-memory", 0.5)

    def test_shorter_than_a_start(self):
        self.lost("instant", r"it takes less than the \S+ us between two starts of it")

    def test_refusal(self):
        self.lost("refuse", "pjrt: the fake plugin refuses this; left to the fallback")

    def unusable(self, behaviour, why, **more):
        done = self.measure(behaviour, **more)
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertRegex(done.stderr, r"error\[E059[45]\]: .*" + why)
        self.assertEqual(done.stdout, "")

    def test_unusable_plugins(self):
        self.unusable("old", re.escape("it speaks version 0.12 of the C API, 0.33 or later is needed"))
        self.unusable("short", "its table has 200 bytes, .* functions are missing")
        self.unusable("no_device", "it has no device")
        text = pathlib.Path(self.folder.name) / "text.so"
        text.write_text("no library")
        self.unusable("", "cannot load it", plugin=text)
        self.unusable("", "there is no `/nowhere.so`", plugin="/nowhere.so")


if __name__ == "__main__":
    unittest.main()
