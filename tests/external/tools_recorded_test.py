"""`--estimator cocossim|onnxim` against a fake program that plays recorded calls (the real ones exist as source only)."""

import json
import os
import pathlib
import tempfile
import unittest

import command

FAKE = command.ROOT / "tests/external/fake_tool.py"
RECORDED = command.ROOT / "tests/data/external/recorded"
NPU = {"core_freq": 1050, "dram_config_path": "dram.yaml", "icnt_config_path": "/fabric.icnt"}
MATMUL = """func.func @main(%a: tensor<{b}512x1024xbf16>, %b: tensor<{b}1024x768xbf16>) -> tensor<{b}512x768xbf16> {{
  %0 = stablehlo.dot_general %a, %b, {batching}contracting_dims = [{k}] x [{l}] : (tensor<{b}512x1024xbf16>, tensor<{b}1024x768xbf16>) -> tensor<{b}512x768xbf16>
  return %0 : tensor<{b}512x768xbf16>
}}
"""
CONVOLUTION = """func.func @main(%a: tensor<1x{h}x56x64xf32>, %b: tensor<3x3x64x64xf32>) -> tensor<1x{h}x56x64xf32> {{
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {{stride = [1, 1], pad = [[1, 1], [1, 1]]}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}} : (tensor<1x{h}x56x64xf32>, tensor<3x3x64x64xf32>) -> tensor<1x{h}x56x64xf32>
  return %0 : tensor<1x{h}x56x64xf32>
}}
"""


def matmul(batch=None):
    if batch is None:
        return MATMUL.format(b="", batching="", k=1, l=0)
    return MATMUL.format(b=f"{batch}x", batching="batching_dims = [0] x [0], ", k=2, l=1)


class Recorded(unittest.TestCase):
    tool = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.case = self.folder / "case.json"
        os.environ["HESPAS_FAKE_TOOL"] = str(self.case)
        (self.folder / "npu.json").write_text(json.dumps(NPU))

    def play(self, program, name=None, *more, **case):
        if name is not None:
            case["stdout"] = (RECORDED / f"{name}.stdout").read_text()
        self.case.write_text(json.dumps(case))
        return command.run("estimate", "-", "--optimise", "none", "--device", "TPUv3", "--estimator", self.tool,
                           "--tool-path", FAKE, "--tool-config", self.folder / "npu.json", "--format", "json", *more,
                           stdin=program)

    def seen(self):
        return [json.loads(line) for line in (self.folder / "seen.jsonl").read_text().splitlines()]

    def seconds(self, done):
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        (row,) = [row for row in json.loads(done.stdout) if row["op"] in ("stablehlo.dot_general", "stablehlo.convolution")]
        return float(row["time_s"])

    def falls_back(self, done, said):
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("W0517", done.stderr)
        self.assertIn(said, done.stderr)


class CocosSim(Recorded):
    tool = "cocossim"

    def test_a_matmul(self):
        self.assertAlmostEqual(self.seconds(self.play(matmul(), "cocossim_ok_512_1024_768")), 69360 / 0.94e9, delta=1e-12)
        (call,) = self.seen()
        self.assertEqual(call["arguments"], "-c 1 -sa_sz 128 -vu_sz 1024 -ws 1 -f 0.94 -i layers.txt -o out.txt".split())
        self.assertEqual(call["layers"], (RECORDED / "cocossim_ok_512_1024_768.layers.txt").read_text())
        self.assertEqual(pathlib.Path(call["folder"]).name, "build")

    def test_a_batch_costs_each_of_its_matmuls(self):
        self.assertAlmostEqual(self.seconds(self.play(matmul(4), "cocossim_ok_512_1024_768")), 4 * 69360 / 0.94e9,
                               delta=1e-12)

    def test_a_square_convolution(self):
        self.assertAlmostEqual(self.seconds(self.play(CONVOLUTION.format(h=56), "cocossim_ok_conv")), 50215 / 0.94e9,
                               delta=1e-12)
        (call,) = self.seen()
        self.assertEqual(call["layers"].split(), (RECORDED / "cocossim_ok_conv.layers.txt").read_text().split())

    def test_a_matmul_of_nothing_is_not_asked(self):
        nothing = matmul().replace("512x1024x", "0x1024x").replace("512x768x", "0x768x")
        self.assertGreaterEqual(self.seconds(self.play(nothing, "cocossim_ok_512_1024_768")), 0)  # the tool would answer nonsense
        self.assertFalse((self.folder / "seen.jsonl").exists())

    def test_another_convolution_is_left_to_the_fallback(self):
        self.assertGreater(self.seconds(self.play(CONVOLUTION.format(h=28), "cocossim_ok_conv")), 0)
        self.assertFalse((self.folder / "seen.jsonl").exists())

    def test_failures(self):
        for name, status in (("cocossim_bad_op", 134), ("cocossim_bad_empty", 139)):
            self.falls_back(self.play(matmul(), name, status=status), f"killed by signal {status - 128}")
        self.falls_back(self.play(matmul(), stdout="", signal="SIGSEGV"), "killed by signal 11")
        self.falls_back(self.play(matmul(), "cocossim_ok_512_1024_768", status=3), "ended with status 3")
        self.falls_back(self.play(matmul(), stderr="Can't load config file", stdout="", status=255), "ended with status 255: Can't load config file")
        self.falls_back(self.play(matmul(), None, "--tool-timeout", "0.5", sleep=100), "took longer than 0.5 s")
        self.falls_back(self.play(matmul(), stdout="Cycles: 5, Time: 1µs Jobs finished: 0/1"), "finished 0 of 1 jobs")
        self.falls_back(self.play(matmul(), stdout="Simulation took 3ms"), "printed no result")

    def test_a_missing_program_is_an_error(self):
        done = command.run("estimate", "-", "--device", "TPUv3", "--estimator", "cocossim", stdin=matmul())
        self.assertEqual(done.returncode, 5)
        self.assertIn("E0573", done.stderr)


class Onnxim(Recorded):
    tool = "onnxim"

    def test_a_matmul(self):
        done = self.play(matmul(), "onnxim_ok_matmul_512_1024_768")
        text = (RECORDED / "onnxim_ok_matmul_512_1024_768.stdout").read_text()
        cycles = int(text.split("Total compute time ")[1].split()[0])
        self.assertAlmostEqual(self.seconds(done), cycles / 1.05e9, delta=1e-12)
        (call,) = self.seen()
        self.assertEqual(call["list"], {"models": [{"name": "op", "batch_size": 1}]})
        self.assertTrue(pathlib.Path(call["config"]["dram_config_path"]).is_absolute())
        self.assertEqual(call["config"]["icnt_config_path"], "/fabric.icnt")
        self.assertLess(len(bytes.fromhex(call["model"])), 150)

    def test_a_dummy_operator_is_an_error(self):
        self.falls_back(self.play(matmul(), "onnxim_case_add"), "knows no such operator")

    def test_failures(self):
        self.falls_back(self.play(matmul(), stdout="", signal="SIGFPE"), "Floating point exception")
        self.falls_back(self.play(CONVOLUTION.format(h=56), "onnxim_case_convrect", status=1), "ended with status 1")
        self.falls_back(self.play(matmul(), stdout="nothing of use"), "printed no result")
        self.falls_back(self.play(matmul(), stdout="", signal="SIGSEGV"), "killed by signal 11")  # a model that is garbage
        self.falls_back(self.play(matmul(), stdout="", stderr="parse error", status=134), "killed by signal 6")  # a list that is no JSON
        self.falls_back(self.play(matmul(), None, "--tool-timeout", "0.5", sleep=100), "took longer than 0.5 s")

    def test_a_description_without_a_clock_is_refused(self):
        (self.folder / "npu.json").write_text("{}")
        done = self.play(matmul(), "onnxim_case_add")
        self.assertEqual(done.returncode, 2)
        self.assertIn("E0574", done.stderr)


del Recorded

if __name__ == "__main__":
    unittest.main()
