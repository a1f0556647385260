"""ZigZag itself, from PyPI: its worker against recorded latencies, and as an estimator.

HESPAS_ZIGZAG_SHAPES: how many of the recorded shapes are tried (default 20).
"""

import json
import os
import subprocess
import sys
import unittest

import command
from ranks import rank_correlation

PYTHON = subprocess.run([command.ROOT / "scripts/python_env.sh", "zigzag"], check=True, capture_output=True,
                        text=True).stdout.strip()
DATA = command.ROOT / "data"
WORKER = [PYTHON, DATA / "tools/zigzag_worker.py", DATA / "zigzag/tpuv3_like.yaml"]
SHAPES = int(os.environ.get("HESPAS_ZIGZAG_SHAPES", "20"))
LEAST_CORRELATION = 0.95
PROGRAM = """func.func @main(%a: tensor<256x512xbf16>, %b: tensor<512x384xbf16>) -> tensor<256x384xbf16> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<256x512xbf16>, tensor<512x384xbf16>) -> tensor<256x384xbf16>
  %1 = stablehlo.add %0, %0 : tensor<256x384xbf16>
  return %1 : tensor<256x384xbf16>
}
"""


def request(identity, m, n, k):
    # 8-bit operands and 16-bit sums, as in the records
    return {"id": identity, "op": "dot_general", "product": {"b": 1, "m": m, "n": n, "k": k},
            "operands": [{"dtype": "i8"}, {"dtype": "i8"}], "results": [{"dtype": "i16"}]}


def ask(requests, mapping="gemm_mapping.yaml"):
    lines = "".join(json.dumps(line) + "\n" for line in requests)
    done = subprocess.run([*WORKER, DATA / "zigzag" / mapping, "1e9"], input=lines, capture_output=True, text=True,
                          timeout=900, check=True)
    greeting, *answers = map(json.loads, done.stdout.splitlines())
    assert greeting["ready"] is True and greeting["version"].startswith("3.9.1"), greeting
    return answers


class Zigzag(unittest.TestCase):
    def test_latencies_rank_as_recorded(self):
        rows = [row for row in json.loads((command.ROOT / "tests/data/external/zigzag_gemm.json").read_text())
                if row["lpf"] == 4]
        rows = sorted(rows, key=lambda row: row["M"] * row["K"] * row["N"])[::max(1, len(rows) // SHAPES)]
        answers = ask(request(i, row["M"], row["N"], row["K"]) for i, row in enumerate(rows))
        self.assertTrue(all(answer["ok"] for answer in answers), answers)
        ours, recorded = [answer["cycles"] for answer in answers], [row["latency_total2"] for row in rows]
        correlation = rank_correlation(ours, recorded)
        factors = sorted(a / b for a, b in zip(ours, recorded))
        print(f"{len(rows)} shapes, rank correlation {correlation:.3f}, ours / recorded {factors[0]:.2f} to {factors[-1]:.2f}, "
              f"median {factors[len(factors) // 2]:.2f}", file=sys.stderr)
        self.assertGreaterEqual(correlation, LEAST_CORRELATION)

    def test_what_it_cannot_cost_is_refused(self):
        refused, = ask([{"id": 7, "op": "add", "operands": [], "results": []}])
        self.assertEqual((refused["id"], refused["ok"]), (7, False))

    def test_a_mapping_with_foreign_dimension_names_is_refused(self):
        with open(DATA / "zigzag/gemm_mapping.yaml") as file:
            foreign = file.read().replace("D, 128", "M, 128").replace("K, 128", "N, 128")
        path = command.BIN / "foreign_mapping.yaml"
        path.write_text(foreign)
        self.addCleanup(path.unlink)
        answer, = ask([request(1, 512, 768, 1024)], path)
        self.assertFalse(answer["ok"])
        self.assertIn("dimension names", answer["message"])

    def test_as_an_estimator(self):
        done = command.run("estimate", "-", "--optimise", "none", "--device", "TPUv3", "--estimator", "zigzag_onnx", "--tool-path",
                           PYTHON, "--format", "json", stdin=PROGRAM)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        times = {row["op"]: row["time_s"] for row in json.loads(done.stdout)}
        ideal = 256 * 512 * 384 / (128 * 128) / 0.94e9
        self.assertGreaterEqual(times["stablehlo.dot_general"], ideal)
        self.assertGreater(times["stablehlo.add"], 0)


if __name__ == "__main__":
    unittest.main()
