#!/usr/bin/env python3
"""Reading speed against jaxlib's parser (CPU time of both on the same text, in one run), and speed and memory on generated files.

usage: $(scripts/python_env.sh jaxlib) bench/read_ratio.py BIN_FOLDER [PROGRAM...] [--size BYTES] [--only-generated | --only-ratio]

BIN_FOLDER is that of a build and holds `hespas`; `read_bench` is built into it where it is missing. All times include verification, as jaxlib's do.
Generated, under --size bytes each (1e9): pretty text, constants in hexadecimal, decimal dense constants. "with file" includes
reading it. Memory is the peak of `hespas check FILE` less that of `hespas --version`; its bound is 1.5 times the file plus 64 bytes for each operand.
"""
import argparse
import gzip
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = ["examples/llama3-100m-4dev.mlir.gz",
            "tests/data/fixtures/resnet_50_train_step_4_devices_1024_batch.mlir.gz",
            "tests/data/fixtures/resnet_50_inference_step_4_devices_1024_batch.mlir.gz"]


def build_read_bench(binaries):
    if (binaries / "read_bench").exists():
        return
    subprocess.run(["cmake", "-DHESPAS_BENCH=ON", binaries.parent], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", binaries.parent, "bin/read_bench"], check=True, stdout=subprocess.DEVNULL)


def text_of(path):
    data = pathlib.Path(path).read_bytes()
    return (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode()


def jaxlib_seconds(text, repetitions=5):
    from jaxlib.mlir import ir
    from jaxlib.mlir._mlir_libs import _jax_mlir_ext
    from jaxlib.mlir.dialects import chlo, mhlo, sdy, stablehlo
    context = ir.Context()
    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    context.append_dialect_registry(registry)
    context.load_all_available_dialects()
    for dialect in (stablehlo, chlo, sdy):
        dialect.register_dialect(context)
    mhlo.register_mhlo_dialect(context)
    seconds = []
    with context:
        for _ in range(repetitions):
            start = time.process_time()
            module = ir.Module.parse(text)
            seconds.append(time.process_time() - start)
            del module
    return statistics.median(seconds)


def hespas_seconds(binaries, path, repetitions=5):
    out = subprocess.run([binaries / "read_bench", f"--benchmark_repetitions={repetitions}", "--benchmark_min_time=0.2",
                          "--benchmark_format=json", path], check=True, capture_output=True, text=True).stdout
    return statistics.median(row["cpu_time"] / 1e3 for row in json.loads(out)["benchmarks"] if "aggregate_name" not in row)


def ratios(binaries, programs):
    print(f"{'program':52} {'MB':>6} {'jaxlib MB/s':>12} {'Hespas MB/s':>12} {'ratio':>6}")
    for path in programs:
        text = text_of(path)
        size = len(text) / 1e6
        ours, theirs = hespas_seconds(binaries, path), jaxlib_seconds(text)
        print(f"{pathlib.Path(path).name:52} {size:6.2f} {size / theirs:12.1f} {size / ours:12.1f} {theirs / ours:6.1f}", flush=True)


def write_ops(out, size):
    """A long chain of elementwise ops and matmuls; returns the number of operands."""
    out.write("func.func @main(%a: tensor<128x128xf32>) -> tensor<128x128xf32> {\n  %0 = stablehlo.tanh %a : tensor<128x128xf32>\n")
    written, k, operands = 0, 0, 2
    while written < size:
        lines = []
        for _ in range(1000):
            k += 1
            if k % 8 == 0:
                lines.append(f"  %{k} = stablehlo.dot_general %{k - 1}, %a, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : "
                             "(tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>\n")
            else:
                lines.append(f"  %{k} = stablehlo.add %{k - 1}, %a : tensor<128x128xf32>\n")
        operands += 2000
        block = "".join(lines)
        written += len(block)
        out.write(block)
    out.write(f"  return %{k} : tensor<128x128xf32>\n}}\n")
    return operands


def write_constants(out, size, payload, count):
    """Constants of `count` f32 elements with the text `payload`; returns the number of operands."""
    out.write("func.func @main() {\n")
    for k in range(max(1, int(size / len(payload)))):
        out.write(f"  %{k} = stablehlo.constant dense<")
        out.write(payload)
        out.write(f"> : tensor<{count}xf32>\n")
    out.write("  return\n}\n")
    return 0


def write_hex(out, size):
    count = 2_000_000
    return write_constants(out, size, '"0x' + random.Random(1).randbytes(4 * count).hex().upper() + '"', count)


def write_decimal(out, size):
    numbers = random.Random(1)
    count = 500_000
    return write_constants(out, size, "[" + ", ".join(f"{numbers.gauss(0, 1):.6e}" for _ in range(count)) + "]", count)


def measured(command):
    """CPU seconds and peak resident bytes of a process."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{command} failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def generated(binaries, size):
    idle, base = measured([binaries / "hespas", "--version"])
    print(f"{'generated':10} {'MB':>7} {'MB/s':>7} {'with file':>10} {'peak MB':>8} {'bound MB':>9}")
    for name, write in (("ops", write_ops), ("hex", write_hex), ("decimal", write_decimal)):
        with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
            operands = write(file, size)
            file.flush()
            bytes_there = os.path.getsize(file.name)
            seconds, peak = measured([binaries / "hespas", "check", file.name])
            bound = 1.5 * bytes_there + 64 * operands
            in_memory = bytes_there / 1e6 / hespas_seconds(binaries, file.name, 1 if size > 2e8 else 5)
            print(f"{name:10} {bytes_there / 1e6:7.0f} {in_memory:7.0f} {bytes_there / 1e6 / (seconds - idle):10.0f} {(peak - base) / 1e6:8.0f} "
                  f"{bound / 1e6:9.0f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binaries", type=pathlib.Path)
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--size", type=float, default=1e9)
    parser.add_argument("--only-generated", action="store_true")
    parser.add_argument("--only-ratio", action="store_true")
    options = parser.parse_args()
    build_read_bench(options.binaries)
    if not options.only_ratio:
        generated(options.binaries, options.size)  # first: a process starts with the peak memory of the one that starts it
    if not options.only_generated:
        ratios(options.binaries, options.programs or [ROOT / path for path in PROGRAMS])


if __name__ == "__main__":
    main()
