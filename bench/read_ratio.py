#!/usr/bin/env python3
"""Reading speed against jaxlib's parser: CPU time of both on the same text, in one run.

usage: $(scripts/python_env.sh jaxlib) bench/read_ratio.py path/to/read_bench

`read_bench` is this repository's benchmark program (cmake -DHESPAS_BENCH=ON). Its times include verification, as jaxlib's do.
Prints one line a program: MB/s of jaxlib, MB/s of Hespas, their ratio (medians).
"""
import gzip
import json
import pathlib
import statistics
import subprocess
import sys
import time

from jaxlib.mlir import ir
from jaxlib.mlir._mlir_libs import _jax_mlir_ext
from jaxlib.mlir.dialects import chlo, mhlo, sdy, stablehlo

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = {
    "llama3_100m": "examples/llama3-100m-4dev.mlir.gz",
    "resnet50_train": "tests/data/fixtures/resnet_50_train_step_4_devices_1024_batch.mlir.gz",
}


def jaxlib_seconds(text, repetitions=7):
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


def hespas_seconds(program):
    out = subprocess.run([program, "--benchmark_filter=ReadProgramText", "--benchmark_repetitions=5", "--benchmark_format=json"],
                         check=True, capture_output=True, text=True).stdout
    return {row["run_name"].split("/")[1]: row["cpu_time"] / 1e3
            for row in json.loads(out)["benchmarks"] if row.get("aggregate_name") == "median"}


def main():
    ours = hespas_seconds(sys.argv[1])
    print(f"{'program':16} {'MB':>6} {'jaxlib MB/s':>12} {'Hespas MB/s':>12} {'ratio':>6}")
    for name, path in PROGRAMS.items():
        text = gzip.decompress((ROOT / path).read_bytes()).decode()
        size = len(text) / 1e6
        theirs = jaxlib_seconds(text)
        print(f"{name:16} {size:6.2f} {size / theirs:12.1f} {size / ours[name]:12.1f} {theirs / ours[name]:6.1f}")


if __name__ == "__main__":
    main()
