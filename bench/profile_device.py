#!/usr/bin/env python3
"""Measures a device by its PJRT plugin: the kernels that calibrate it, and the blocks of a program.

usage: bench/profile_device.py --plugin PLUGIN.so --device H200_141GB --output FOLDER [--kernels CSV] [PROGRAM]

Kernels are those of `hespas calibrate --plan` (24 matmuls and, for the other families, 32 more), or of a table of the same columns. FOLDER
holds kernels.csv with what was measured and predicted, device.json (`hespas calibrate` from that), and blocks.jsonl with the measured blocks
of PROGRAM (llama3-100m on four devices); killed, it goes on where it was. Printed are the errors of the device as it ships and as calibrated now, and the step with measured
blocks beside the models'; data/measured/step_times.csv has published ones.
"""
import argparse
import collections
import csv
import io
import json
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIN = pathlib.Path(os.environ.get("HESPAS_BIN", ROOT / "build/release/bin"))
PROGRAM = ROOT / "data/workloads/llama3-100m-4dev.mlir.zst"
PAIRS = {"add": "add", "mul": "multiply", "div": "divide", "pow": "power"}


def hespas(*words):
    done = subprocess.run([BIN / "hespas", *map(str, words)], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(done.returncode)  # it has told why
    return done.stdout


def matmul(row):
    """The matmuls of `b` pairs of matrices; of `linear` by a transposed weight, with a bias."""
    b, m, n, k = (int(float(row[name] or 1)) for name in "bmnk")
    kind = row["dtype"]
    batch = f"{b}x" if b > 1 else ""
    inner, pairs = (2, "batching_dims = [0] x [0], ") if b > 1 else (1, "")
    left, right, result = (f"tensor<{batch}{x}x{y}x{kind}>" for x, y in ((m, k), (k, n), (m, n)))
    # f32 in tables is f32: XLA's default for GPUs would be TF32
    exact = ", precision = [HIGHEST, HIGHEST]" if kind == "f32" else ""
    if row["op"] != "linear":
        return [left, right], result, [f"%r = stablehlo.dot_general %a0, %a1, {pairs}contracting_dims = [{inner}] x [{inner - 1}]{exact} : "
                                       f"({left}, {right}) -> {result}"]
    right, bias = f"tensor<{n}x{k}x{kind}>", f"tensor<{n}x{kind}>"
    return [left, right, bias], result, [
        f"%p = stablehlo.dot_general %a0, %a1, contracting_dims = [{inner}] x [1]{exact} : ({left}, {right}) -> {result}",
        f"%b = stablehlo.broadcast_in_dim %a2, dims = [{inner}] : ({bias}) -> {result}", f"%r = stablehlo.add %p, %b : {result}"]


def elementwise(row):
    """Of `b` rows of `n` elements: one of them, two, or (with a `u` behind the name) one and a number."""
    kind = f"tensor<{int(float(row['b']))}x{int(float(row['n']))}x{row['dtype']}>"
    if row["op"] in PAIRS:
        return [kind, kind], kind, [f"%r = stablehlo.{PAIRS[row['op']]} %a0, %a1 : {kind}"]
    if row["op"][:-1] in PAIRS:
        return [kind], kind, [f"%c = stablehlo.constant dense<2.0> : {kind}", f"%r = stablehlo.{PAIRS[row['op'][:-1]]} %a0, %c : {kind}"]
    return [kind], kind, [f"%r = stablehlo.tanh %a0 : {kind}"]


def rows_of(row):
    """Softmax, or a layer norm with scale and shift, of `b` rows of `n` elements."""
    b, n, element = int(float(row["b"])), int(float(row["n"])), row["dtype"]
    kind, each, along = f"tensor<{b}x{n}x{element}>", f"tensor<{b}x{element}>", f"tensor<{n}x{element}>"
    lines = [f"%z = stablehlo.constant dense<0.0> : tensor<{element}>", f"%n = stablehlo.constant dense<{n}.0> : {each}",
             f"%e = stablehlo.constant dense<1.0e-5> : {each}"]

    def reduced(name, value, how="add"):
        lines.append(f"%{name} = stablehlo.reduce(%{value} init: %z) applies stablehlo.{how} across dimensions = [1] : "
                     f"({kind}, tensor<{element}>) -> {each}")

    def op(name, what, *values, kind=kind):
        lines.append(f"%{name} = stablehlo.{what} {', '.join('%' + value for value in values)} : {kind}")

    def spread(name, value, dim=0):
        lines.append(f"%{name} = stablehlo.broadcast_in_dim %{value}, dims = [{dim}] : ({along if dim else each}) -> {kind}")

    if row["op"] == "softmax":
        reduced("m", "a0", "maximum")
        spread("M", "m")
        op("d", "subtract", "a0", "M")
        op("x", "exponential", "d")
        reduced("s", "x")
        spread("S", "s")
        op("r", "divide", "x", "S")
        return [kind], kind, lines
    reduced("s", "a0")
    op("m", "divide", "s", "n", kind=each)
    spread("M", "m")
    op("d", "subtract", "a0", "M")
    op("q", "multiply", "d", "d")
    reduced("t", "q")
    op("v", "divide", "t", "n", kind=each)
    op("w", "add", "v", "e", kind=each)
    op("i", "rsqrt", "w", kind=each)
    spread("I", "i")
    op("y", "multiply", "d", "I")
    spread("G", "a1", 1)
    spread("B", "a2", 1)
    op("g", "multiply", "y", "G")
    op("r", "add", "g", "B")
    return [kind, along, along], kind, lines


KERNELS = {**dict.fromkeys(("gemm", "bmm", "linear"), matmul), **dict.fromkeys(("softmax", "ln"), rows_of),
           **dict.fromkeys(("tanh", *PAIRS, *(name + "u" for name in PAIRS)), elementwise)}


def program_of(row):
    arguments, result, lines = KERNELS[row["op"]](row)
    named = ", ".join(f"%a{i}: {kind}" for i, kind in enumerate(arguments))
    return "\n  ".join([f"func.func @main({named}) -> {result} {{", *lines, f"return %r : {result}"]) + "\n}\n"


def measure(given, measuring):
    """The table of kernels, with `latency_us` of each that the plugin could run."""
    text = given.kernels.read_text() if given.kernels else hespas("calibrate", "--plan", "--device", given.device, "--format", "csv")
    path = given.output / "kernel.mlir"
    for row in csv.DictReader(io.StringIO(text)):
        path.write_text(program_of(row))
        answer = json.loads(hespas("run", path, *measuring, "--split", "linear", "--network-backend", "none", "--cache", given.output / "kernels.sqlite",
                                   "--format", "json"))
        refused = next((w["message"] for w in answer["warnings"] if w["code"] == "W0517"), None)
        if refused:
            print(f"{row['op']} {row['dtype']} {row['b']} {row['m']} {row['n']} {row['k']}: {refused}", file=sys.stderr)
            continue
        yield {**row, "latency_us": 1e6 * answer["compute_time_s"]}
    path.unlink()


def errors(table, device):
    """Median |predicted / measured - 1| of each operation."""
    off = collections.defaultdict(list)
    for row in csv.DictReader(io.StringIO(hespas("estimate", "--kernels", table, "--device", device, "--format", "csv"))):
        off[row["op"]].append(abs(float(row["predicted_us"]) / float(row["latency_us"]) - 1))
    return {op: statistics.median(values) for op, values in off.items()}


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("program", nargs="?", type=pathlib.Path, default=PROGRAM)
    options.add_argument("--plugin", required=True)
    options.add_argument("--device", required=True)
    options.add_argument("--output", type=pathlib.Path, required=True)
    options.add_argument("--kernels", type=pathlib.Path)
    given = options.parse_args()
    given.output.mkdir(parents=True, exist_ok=True)
    measuring = ["--estimator", "pjrt", "--plugin", given.plugin, "--device", given.device]
    rows = list(measure(given, measuring))
    if not rows:
        sys.exit("no kernel was measured")
    table, calibrated, cache = (given.output / name for name in ("kernels.csv", "device.json", "blocks.sqlite"))
    with table.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    hespas("calibrate", table, "--device", given.device, "--output", calibrated)
    shipped, fitted = errors(table, given.device), errors(table, calibrated)
    for op in shipped:
        print(f"{op}: {100 * shipped[op]:.1f} % off as shipped, {100 * fitted[op]:.1f} % as calibrated")
    for name, words in (("measured blocks", [*measuring, "--cache", cache]),
                        ("calibrated, as shipped", ["--device", given.device]), ("calibrated, now", ["--device", calibrated])):
        answer = json.loads(hespas("run", given.program, *words, "--format", "json"))
        print(f"{given.program.name}, {name}: {1e3 * answer['step_time_s']:.2f} ms, computing {1e3 * answer['compute_time_s']:.2f} ms", flush=True)
    (given.output / "blocks.jsonl").write_text(hespas("cache", "export", cache))


if __name__ == "__main__":
    main()
