"""ZigZag itself, from PyPI: its worker against recorded latencies, and as an estimator.

HESPAS_ZIGZAG_SHAPES: how many of the 122 records are tried (default 20).
"""

import json
import os
import subprocess
import unittest

import command
from ranks import spread

PYTHON = subprocess.run([command.ROOT / "scripts/python_env.sh", "zigzag"], check=True, capture_output=True,
                        text=True).stdout.strip()
DATA = command.ROOT / "data"
WORKER = [PYTHON, DATA / "tools/zigzag_worker.py"]
SHAPES = int(os.environ.get("HESPAS_ZIGZAG_SHAPES", "20"))
PROGRAM = """func.func @main(%a: tensor<256x512xbf16>, %b: tensor<512x384xbf16>) -> tensor<256x384xbf16> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<256x512xbf16>, tensor<512x384xbf16>) -> tensor<256x384xbf16>
  %1 = stablehlo.add %0, %0 : tensor<256x384xbf16>
  return %1 : tensor<256x384xbf16>
}
"""


def request(identity, m, n, k):
    # 8-bit operands and 16-bit sums, as in the records
    return {"id": identity, "op": "dot_general", "matmul": {"b": 1, "m": m, "n": n, "k": k},
            "operands": [{"dtype": "i8"}, {"dtype": "i8"}], "results": [{"dtype": "i16"}]}


def ask(requests, mapping="gemm_mapping.yaml", lpf=4, accelerator=DATA / "zigzag/tpuv3_like.yaml"):
    lines = "".join(json.dumps(line) + "\n" for line in requests)
    done = subprocess.run([*WORKER, accelerator, DATA / "zigzag" / mapping, "1e9", str(lpf)], input=lines, capture_output=True, text=True,
                          timeout=3600, check=True)
    greeting, *answers = map(json.loads, done.stdout.splitlines())
    assert greeting["ready"] is True and greeting["version"].startswith("3.9.1"), greeting
    return answers


class Zigzag(unittest.TestCase):
    def check_latencies(self, rows, lpf):
        answers = ask([request(i, row["M"], row["N"], row["K"]) for i, row in enumerate(rows)], lpf=lpf)
        self.assertTrue(all(answer["ok"] for answer in answers), answers)
        self.assertEqual([(row["M"], row["K"], row["N"], answer["cycles"]) for row, answer in zip(rows, answers)],
                         [(row["M"], row["K"], row["N"], row["latency_total2"]) for row in rows])

    def test_latencies_are_those_recorded(self):
        rows = json.loads((command.ROOT / "tests/data/external/zigzag_gemm.json").read_text())
        work = lambda row: row["M"] * row["K"] * row["N"]
        for lpf in (4, 6):
            of_lpf = [row for row in rows if row["lpf"] == lpf]
            self.assertEqual(len(of_lpf), 61)
            # With six loop factors large shapes take ten times as long: the smaller half of them suffices for a sample.
            chosen = of_lpf if SHAPES >= len(rows) else spread(sorted(of_lpf, key=work)[:61 if lpf == 4 else 30], work, SHAPES // 2)
            self.check_latencies(chosen, lpf)

    def test_data_types_are_passed_on(self):
        # Off-chip memory is what this shape waits for at its end, and results of 32 bits take twice as long to leave as those of 16.
        ask_one = lambda operand, result: ask([request(1, 128, 128, 1) | {"operands": [{"dtype": operand}] * 2, "results": [{"dtype": result}]}])[0]
        narrow, wide = ask_one("i8", "i16"), ask_one("bf16", "f32")
        self.assertGreater(wide["energy_pj"], narrow["energy_pj"])
        self.assertGreater(wide["cycles"], 1.5 * narrow["cycles"])

    def test_what_it_cannot_cost_is_refused(self):
        refused, = ask([{"id": 7, "op": "add", "operands": [], "results": []}])
        self.assertEqual((refused["id"], refused["ok"]), (7, False))

    def test_failures_are_answers(self):
        nothing, = ask([request(1, 0, 4, 4)])
        self.assertEqual((nothing["id"], nothing["ok"]), (1, False))
        self.assertIn("ZeroDivisionError", nothing["message"])
        nonsense, after = ask(["nonsense", request(2, 8, 4, 4)])
        self.assertEqual((nonsense["ok"], after["ok"]), (False, True))
        missing, = ask([request(3, 8, 4, 4)], accelerator="/nowhere.yaml")
        self.assertIn("/nowhere.yaml", missing["message"])

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
