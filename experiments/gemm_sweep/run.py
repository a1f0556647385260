#!/usr/bin/env python3
"""The operator-level sweep of square products, 32 to 4,096 in bfloat16, over estimators of every fidelity.

usage: run.py [--output DIR] [--hespas PATH] [--sizes 32,64,...] [--zigzag-python PATH] [--cocossim PATH] [--onnxim PATH --onnxim-config NPU.json]

Writes gemm_sweep.csv, gemm_sweep.md and gemm_sweep.svg. COCOSSim and ONNXim stand as recorded (recorded.csv), with gaps where
there is no record; a program that is given or found in PATH is run instead. ZigZag runs where a Python has it.
"""
import argparse
import csv
import io
import json
import pathlib
import shutil
import subprocess
import sys

import plot

HERE = pathlib.Path(__file__).resolve().parent
SIZES = [32, 64, 128, 256, 512, 1024, 2048, 4096]
BUILT_IN = ["roofline", "calibrated", "systolic", "scalesim", "genz"]
TOOLS = ["zigzag_onnx", "cocossim", "onnxim"]
PROGRAM = """func.func @main(%a: tensor<{n}x{n}xbf16>, %b: tensor<{n}x{n}xbf16>) -> tensor<{n}x{n}xbf16> {{
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<{n}x{n}xbf16>, tensor<{n}x{n}xbf16>) -> tensor<{n}x{n}xbf16>
  return %0 : tensor<{n}x{n}xbf16>
}}
"""


def hespas(options, words, text):
    done = subprocess.run([options.hespas, *map(str, words)], input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"run.py: {' '.join(map(str, words))} failed:\n{done.stderr}")
    return done


def built_in(options, name):
    """Seconds by size, from one table of kernels."""
    table = "op,dtype,m,n,k\n" + "".join(f"gemm,bf16,{n},{n},{n}\n" for n in options.sizes)
    done = hespas(options, ["estimate", "--kernels", "-", "--device", options.device, "--estimator", name], table)
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    return {n: float(row["predicted_us"]) * 1e-6 for n, row in zip(options.sizes, rows)}


def driven(options, name, *words):
    """Seconds by size of an external tool; a size on which it fails stays a gap."""
    times = {}
    for n in options.sizes:
        done = hespas(options, ["estimate", "-", "--optimise", "none", "--device", options.device, "--estimator", name,
                                "--tool-timeout", options.tool_timeout, "--format", "json", *words], PROGRAM.format(n=n))
        if done.stderr:
            print(f"{name}, {n}: {done.stderr.strip().splitlines()[0]}", file=sys.stderr)
        else:
            times[n] = json.loads(done.stdout)[0]["time_s"]
    return times


def recorded(options, name):
    with open(HERE / "recorded.csv", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["tool"] == name and int(row["size"]) in options.sizes]
    return {int(row["size"]): float(row["cycles"]) / float(row["clock_ghz"]) * 1e-9 for row in rows}


def tool_times(options, name):
    """(times, where they are from) of ZigZag, COCOSSim or ONNXim."""
    if name == "zigzag_onnx":
        python = options.zigzag_python
        has_it = shutil.which(python) and subprocess.run([python, "-c", "import zigzag"], capture_output=True, check=False).returncode == 0
        return (driven(options, name, "--tool-path", python), "run") if has_it else ({}, "not installed")
    path = options.cocossim or shutil.which("perf_model") if name == "cocossim" else options.onnxim or shutil.which("Simulator")
    config = ["--tool-config", options.onnxim_config] if name == "onnxim" and options.onnxim_config else []
    if not path or (name == "onnxim" and not config):
        return recorded(options, name), "recorded"
    return driven(options, name, "--tool-path", path, *config), "run"


def write(options, series, origins):
    options.output.mkdir(parents=True, exist_ok=True)
    names = list(series)
    cells = [[n, *(f"{series[name][n] * 1e6:.4g}" if n in series[name] else "" for name in names)] for n in options.sizes]
    with open(options.output / "gemm_sweep.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["size", *(f"{name}_us" for name in names)])
        writer.writerows(cells)
    lines = ["| size | " + " | ".join(f"{name} ({origins[name]})" for name in names) + " |", "|--:" * (len(names) + 1) + "|"]
    lines += ["| " + " | ".join(map(str, row)) + " |" for row in cells]
    (options.output / "gemm_sweep.md").write_text(f"Times in us of square bfloat16 products on {options.device}.\n\n" + "\n".join(lines) + "\n")
    (options.output / "gemm_sweep.svg").write_text(plot.loglog(
        f"Square bfloat16 products on {options.device}", "size", "time in s", series, options.sizes))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("gemm_sweep"))
    parser.add_argument("--hespas", default=shutil.which("hespas") or HERE.parent.parent / "build/release/bin/hespas")
    parser.add_argument("--device", default="TPUv3")
    parser.add_argument("--sizes", type=lambda text: [int(n) for n in text.split(",")], default=SIZES)
    parser.add_argument("--zigzag-python", default=sys.executable, help="a Python that has zigzag-dse")
    parser.add_argument("--cocossim", help="COCOSSim's perf_model")
    parser.add_argument("--onnxim", help="ONNXim's Simulator")
    parser.add_argument("--onnxim-config")
    parser.add_argument("--tool-timeout", type=float, default=600, help="seconds that one product may take")
    return parser.parse_args()


def main():
    options = arguments()
    if min(options.sizes) < 1:
        sys.exit("run.py: sizes must be positive")
    series = {name: built_in(options, name) for name in BUILT_IN}
    origins = dict.fromkeys(BUILT_IN, "built in")
    for name in TOOLS:
        series[name], origins[name] = tool_times(options, name)
    write(options, series, origins)
    print((options.output / "gemm_sweep.md").read_text(), end="")


if __name__ == "__main__":
    main()
