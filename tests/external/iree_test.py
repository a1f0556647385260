"""IREE itself, from PyPI: blocks of ResNet and of a transformer measured on this machine's processor."""
import json
import pathlib
import subprocess
import tempfile
import unittest

import command


def environment(name):
    done = subprocess.run([command.ROOT / "scripts/python_env.sh", name], check=True, capture_output=True, text=True)
    return pathlib.Path(done.stdout.strip()).parent


COMPILER = environment("iree") / "iree-compile"
RUNNER = environment("iree_runtime") / "iree-benchmark-module"
WORDS = ["--estimator", "iree", "--block-compiler", COMPILER, "--block-runner", RUNNER]
MATMUL = """func.func @main(%a: tensor<NxNxf32>, %i: tensor<i32>, %p: tensor<i1>, %q: tensor<3xi1>)
    -> (tensor<NxNxf32>, tensor<i32>, tensor<i1>, tensor<3xi1>) {
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<NxNxf32>, tensor<NxNxf32>) -> tensor<NxNxf32>
  %1 = stablehlo.add %i, %i : tensor<i32>
  %2 = stablehlo.not %p : tensor<i1>
  %3 = stablehlo.not %q : tensor<3xi1>
  return %0, %1, %2, %3 : tensor<NxNxf32>, tensor<i32>, tensor<i1>, tensor<3xi1>
}
"""


class Iree(unittest.TestCase):
    def test_matmuls(self):
        """Times of a busy machine: bounds that hold on any, not a ratio of two runs."""
        with tempfile.TemporaryDirectory() as folder:
            times = []
            for n in (64, 512):
                program = pathlib.Path(folder) / f"{n}.mlir"
                program.write_text(MATMUL.replace("N", str(n)))
                result = command.result("run", program, *WORDS)
                self.assertEqual(result["warnings"], [])
                times.append(result["compute_time_s"])
        work = 2 * 512**3  # 512 times that of the other
        self.assertGreater(times[1], times[0])
        # Assumed of any machine that tests run on: 100 MFLOP/s to 50 TFLOP/s of single floats; a unit that is off by a thousand is beyond.
        self.assertGreater(times[1], work / 50e12)
        self.assertLess(times[1], work / 100e6)

    def test_blocks_of_a_transformer(self):
        """All would take minutes: a sample of one block a family, with a budget."""
        program = command.ROOT / "tests/data/optimise/run/llama3-tiny-4dev.mlir.gz"
        result = command.result("run", program, *WORDS, "--sample", 1, "--budget", "40s", "--tool-timeout", 30)
        notes = [w["message"] for w in result["warnings"] if w["code"] == "W0518"]
        self.assertEqual(len(notes), 1, result["warnings"])
        self.assertRegex(notes[0], r"^[1-9]\d* of \d+ distinct blocks were measured")

    def test_blocks_of_resnet50(self):
        """The most expensive take minutes at a batch of 256: measured are the cheapest, and the cheapest with a convolution."""
        with tempfile.TemporaryDirectory() as folder:
            program = command.ROOT / "data/workloads/resnet50_train_step_4_devices_1024_batch.mlir.zst"
            command.result("split", program, "--split", "linear", "--output", folder)
            rows = json.loads((pathlib.Path(folder) / "blocks.json").read_text())["blocks"]
            files = {row["file"] for row in rows if row["kind"] == "compute" and "not_profilable" not in row}
            blocks = []
            for path in sorted(pathlib.Path(folder) / file for file in files):
                model = command.result("run", path, "--device", "A100_SXM_80GB", "--split", "linear", "--optimise", "none", "--estimator", "roofline")
                blocks.append((model["flops"], "stablehlo.convolution" in path.read_text(), path))
            blocks.sort()
            # IREE does not legalise the pooling's gradient.
            blocks = [block for block in blocks if "select_and_scatter" not in block[2].read_text()]
            for path in [block[2] for block in blocks[:4]] + [block[2] for block in blocks if block[1]][:2]:
                result = command.result("run", path, *WORDS, "--tool-timeout", 120)
                self.assertEqual([w for w in result["warnings"] if w["code"] == "W0517"], [])
                self.assertGreater(result["compute_time_s"], 0)


if __name__ == "__main__":
    unittest.main()
