"""`ptx` with iree-compile from PyPI: instruction counts, and times against measured matmuls of an H100 and rows of an A100.

HESPAS_PTX_SHAPES: how many of the measured matmuls are tried (default 30).
"""

import csv
import gzip
import os
import pathlib
import subprocess
import sys
import unittest

import command
from ranks import rank_correlation, spread

PYTHON = subprocess.run([command.ROOT / "scripts/python_env.sh", "iree"], check=True, capture_output=True, text=True).stdout.strip()
COMPILER = pathlib.Path(PYTHON).parent / "iree-compile"
DATA = command.ROOT / "data/measured"
SHAPES = int(os.environ.get("HESPAS_PTX_SHAPES", "30"))
LEAST_CORRELATION = 0.8


def matmul(m, n, k, batch=1, dtype="bf16"):
    lhs, rhs, result = (f"tensor<{batch}x{rows}x{columns}x{dtype}>" for rows, columns in ((m, k), (k, n), (m, n)))
    return (f"func.func @main(%a: {lhs}, %b: {rhs}) -> {result} {{\n  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], "
            f"contracting_dims = [2] x [1] : ({lhs}, {rhs}) -> {result}\n  return %0 : {result}\n}}\n")


def elementwise(op, rows, columns):
    t = f"tensor<{rows}x{columns}xf32>"
    return f"func.func @main(%a: {t}, %b: {t}) -> {t} {{\n  %0 = stablehlo.{op} %a, %b : {t}\n  return %0 : {t}\n}}\n"


def unary(text, rows, columns):
    t = f"tensor<{rows}x{columns}xf32>"
    return f"func.func @main(%a: {t}) -> {t} {{\n  %zero = stablehlo.constant dense<0.0> : {t}\n  %0 = stablehlo.{text} : {t}\n  return %0 : {t}\n}}\n"


def softmax(rows, columns):
    t, v, s = f"tensor<{rows}x{columns}xf32>", f"tensor<{rows}xf32>", "tensor<f32>"
    reduce = f"across dimensions = [1] : ({t}, {s}) -> {v}"
    return f"""func.func @main(%a: {t}) -> {t} {{
  %low = stablehlo.constant dense<0xFF800000> : {s}
  %zero = stablehlo.constant dense<0.0> : {s}
  %0 = stablehlo.reduce(%a init: %low) applies stablehlo.maximum {reduce}
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : ({v}) -> {t}
  %2 = stablehlo.subtract %a, %1 : {t}
  %3 = stablehlo.exponential %2 : {t}
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add {reduce}
  %5 = stablehlo.broadcast_in_dim %4, dims = [0] : ({v}) -> {t}
  %6 = stablehlo.divide %3, %5 : {t}
  return %6 : {t}
}}
"""


ROWS = {"add": lambda b, n: elementwise("add", b, n), "mul": lambda b, n: elementwise("multiply", b, n),
        "div": lambda b, n: elementwise("divide", b, n), "relu": lambda b, n: unary("maximum %a, %zero", b, n),
        "tanh": lambda b, n: unary("tanh %a", b, n), "softmax": softmax}


def kernels(program, device="H100_80GB"):
    return command.result("ptx", "-", "--device", device, "--tool-path", COMPILER, stdin=program)


def microseconds(program, device):
    return sum(row["time_us"] for row in kernels(program, device))


def report(name, ours, measured):
    ratios = sorted(a / b for a, b in zip(ours, measured))
    error = sum(abs(ratio - 1) for ratio in ratios) / len(ratios)
    correlation = rank_correlation(ours, measured)
    print(f"{name}: {len(ratios)} kernels, rank correlation {correlation:.3f}, mean error {error:.1%}, ours / measured {ratios[0]:.2f} to "
          f"{ratios[-1]:.2f}, median {ratios[len(ratios) // 2]:.2f}", file=sys.stderr)
    return correlation


class Counts(unittest.TestCase):
    def test_twice_the_sum_takes_twice_the_tensor_instructions(self):
        short, = kernels(matmul(512, 256, 1024))
        long, = kernels(matmul(512, 256, 2048))
        self.assertEqual(short["tensor_flops"], 2 * 512 * 256 * 1024)
        self.assertGreater(short["tensor"], 0)
        self.assertEqual(long["tensor"], 2 * short["tensor"])

    def test_a_sum_of_two_arrays_moves_each_once(self):
        row, = kernels(elementwise("add", 4096, 1024))
        self.assertEqual(row["l2_bytes"], 3 * 4 * 4096 * 1024)
        self.assertEqual(row["tensor"], 0)
        self.assertEqual(row["bound"], "memory")


class Measured(unittest.TestCase):
    def test_matmuls(self):
        with open(DATA / "gemm.csv", newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["key"] == "sm_90" and row["dtypes"].startswith("bf16")]
        rows = spread(rows, lambda row: float(row["latency_us"]), SHAPES)
        self.assertGreaterEqual(len(rows), min(SHAPES, 30))
        ours = [microseconds(matmul(*(int(row[name]) for name in "mnkb")), "H100_80GB") for row in rows]
        self.assertGreaterEqual(report("matmuls", ours, [float(row["latency_us"]) for row in rows]), LEAST_CORRELATION)

    def test_memory_bound_kernels(self):
        with gzip.open(DATA / "kernels.csv.gz", "rt", newline="") as file:
            rows = [row for row in csv.DictReader(file) if "A100" in row["gpu"] and float(row["latency_us"]) > 100]  # below, the host's time
        chosen = [row for op in ROWS for row in spread((row for row in rows if row["op"] == op), lambda row: float(row["latency_us"]), 2)]
        self.assertGreaterEqual(len(chosen), 10)
        ours = [microseconds(ROWS[row["op"]](int(float(row["b"])), int(float(row["n"]))), "A100_PCIe_40GB") for row in chosen]
        self.assertGreaterEqual(report("memory-bound kernels", ours, [float(row["latency_us"]) for row in chosen]), LEAST_CORRELATION)


if __name__ == "__main__":
    unittest.main()
