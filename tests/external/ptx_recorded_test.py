"""`--estimator ptx` and `hespas ptx` on PTX that iree-compile 3.13 wrote for a matmul of 512 x 1024 x 768 in bfloat16 for sm_80."""

import json
import pathlib
import tempfile
import unittest

import command

RECORDED = command.ROOT / "tests/data/external/recorded"
FAKE = command.ROOT / "tests/external/fake_iree_compile.py"
PROGRAM = """func.func @main(%a: tensor<512x1024xbf16>, %b: tensor<1024x768xbf16>) -> tensor<512x768xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<512x1024xbf16>, tensor<1024x768xbf16>) -> tensor<512x768xf32>
  %1 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<512x1024xbf16>, tensor<1024x768xbf16>) -> tensor<512x768xf32>
  %2 = stablehlo.add %0, %1 : tensor<512x768xf32>
  return %2 : tensor<512x768xf32>
}
"""
# By hand from the text: 4 warps; before the loop 182 instructions of arithmetic, in it 64 mma, 19 of arithmetic, 240 of memory, behind it 8 and 16. The loop
# counts from -8 in steps of 8 while below 56: 8 times.
BY_HAND = {"tensor": 4 * 8 * 64, "arithmetic": 4 * (182 + 8 * 19 + 8), "memory": 4 * (8 * 240 + 16)}


class Ptx(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.environment = {"FAKE_IREE": str(RECORDED), "FAKE_IREE_CALLS": folder.name}

    def kernels(self, *words):
        return command.result("ptx", RECORDED / "iree_matmul.ptx", "--grid", "96,1,1", "--device", "A100_SXM_80GB", *words)

    def estimate(self, *words, device="A100_SXM_80GB", tool=FAKE, program=PROGRAM, **environment):
        return command.run("estimate", "-", "--optimise", "none", "--device", device, "--estimator", "ptx", "--tool-path", tool,
                           "--format", "json", *words, stdin=program, environment=self.environment | environment)

    def script(self, body):
        path = self.folder / "simulator.sh"
        path.write_text("#!/bin/sh\n" + body)
        path.chmod(0o755)
        return path

    def calls(self):
        return (self.folder / "calls").read_text().count("---\n")

    def test_counts_are_those_by_hand(self):
        row, = self.kernels()
        for name, count in BY_HAND.items():
            self.assertEqual(row[f"{name}_per_block"], count, name)
            self.assertEqual(row[name], 96 * count, name)
        self.assertEqual(row["tensor_flops"], 2 * 512 * 1024 * 768)
        self.assertEqual(row["block"], "128x1x1")
        # Two tiles of 64 x 128 elements, each row padded by 8, as far as the threads reach.
        self.assertGreater(row["shared_bytes"], 2 * 2 * 64 * 128)

    def test_a_wider_grid_takes_as_many_waves_more(self):
        one, = self.kernels()
        ten, = command.result("ptx", RECORDED / "iree_matmul.ptx", "--grid", "960", "--device", "A100_SXM_80GB")
        self.assertAlmostEqual(ten["waves"], 10 * one["waves"])
        self.assertEqual(ten["tensor"], 10 * one["tensor"])
        self.assertGreater(ten["time_us"], one["time_us"])

    def test_ptx_without_a_grid_is_refused(self):
        done = command.run("ptx", RECORDED / "iree_matmul.ptx")
        self.assertEqual(done.returncode, 2)
        self.assertIn("E0581", done.stderr)

    def test_what_is_no_ptx_is_refused(self):
        path = self.folder / "x.ptx"
        path.write_text(".visible .entry main( .param")
        done = command.run("ptx", path, "--grid", "1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("E0576", done.stderr)

    def test_a_kernel_without_end_is_told(self):
        path = self.folder / "x.ptx"
        path.write_text(".visible .entry k()\n{\n$A:\n  bra $A;\n}\n")
        done = command.run("ptx", path, "--grid", "1", "--block", "32")
        self.assertEqual(done.returncode, 5)
        self.assertIn("E0577", done.stderr)

    def test_other_devices_are_refused(self):
        done = self.estimate(device="TPUv3")
        self.assertEqual(done.returncode, 2)
        self.assertIn("E0578", done.stderr)

    def test_a_missing_compiler_is_told(self):
        done = self.estimate(tool="/nowhere/iree-compile")
        self.assertEqual(done.returncode, 5)
        self.assertIn("E0573", done.stderr)
        broken = self.estimate(tool=self.script("exit 3\n"))
        self.assertEqual(broken.returncode, 5)
        self.assertIn("E0579", broken.stderr)

    def test_what_it_refuses_goes_to_the_fallback(self):
        done = self.estimate()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("W0517", done.stderr)
        self.assertIn("no such program", done.stderr)
        rows = {row["op"]: row for row in json.loads(done.stdout)}
        row, = command.result("ptx", "-", "--device", "A100_SXM_80GB", "--tool-path", FAKE, environment=self.environment,
                              stdin=PROGRAM.replace("stablehlo.add %0, %1", "stablehlo.add %0, %0"))
        self.assertAlmostEqual(rows["stablehlo.dot_general"]["time_s"], 2 * row["time_us"] * 1e-6, delta=1e-11)
        self.assertGreater(rows["stablehlo.add"]["time_s"], 0)

    def test_equal_operations_are_compiled_once(self):
        self.estimate()
        self.assertEqual(self.calls(), 2)  # a matmul and the sum that is refused

    def test_cycles_of_an_external_simulator(self):
        simulator = self.script("cat launch.json > \"$FAKE_IREE_CALLS/launch.json\"\ncp kernel.ptx \"$FAKE_IREE_CALLS\"\n"
                                "echo 'gpu_sim_cycle = 7050'\necho 'gpu_tot_sim_cycle = 14100'\necho done\n")
        done = self.estimate("--kernel-simulator", simulator)
        rows = {row["op"]: row for row in json.loads(done.stdout)}
        self.assertAlmostEqual(rows["stablehlo.dot_general"]["time_s"], 2 * 14100 / 1.41e9, delta=1e-11)
        launch = json.loads((self.folder / "launch.json").read_text())
        self.assertEqual((launch["grid"], launch["block"], launch["target"]), ([96, 1, 1], [128, 1, 1], "sm_80"))
        self.assertEqual(launch["buffer_bytes"], 2 * 512 * 1024 + 2 * 1024 * 768 + 4 * 512 * 768)
        self.assertEqual((self.folder / "kernel.ptx").read_text(), (RECORDED / "iree_matmul.ptx").read_text())
        slow = self.estimate("--kernel-simulator", simulator, "--tool-clock", "0.705e9")
        rows = {row["op"]: row for row in json.loads(slow.stdout)}
        self.assertAlmostEqual(rows["stablehlo.dot_general"]["time_s"], 2 * 14100 / 0.705e9, delta=1e-11)

    def test_failures_of_an_external_simulator(self):
        for body, said in (("exit 4\n", "ended with status 4"), ("echo nothing\n", "printed no cycles"),
                           ("kill -11 $$\n", "killed by signal 11"), ("sleep 100\n", "took longer")):
            done = self.estimate("--kernel-simulator", self.script(body), "--tool-timeout", "1")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(said, done.stderr)
        missing = self.estimate("--kernel-simulator", "/nowhere/simulator")
        self.assertEqual(missing.returncode, 5)
        self.assertIn("E0573", missing.stderr)


if __name__ == "__main__":
    unittest.main()
