#!/usr/bin/env python3
"""Steps and kernels of StableHLO programs on this machine's accelerator, by JAX's own client.

usage: bench/program_steps.py PROGRAM.mlir[.zst]...   with a JAX that sees the device; prints data/measured/program_steps.csv's columns

A step is one of many executions back to back, with the command buffers of XLA's defaults; kernels are those of two steps without command
buffers, where the profiler tells them apart. Donated arguments are kept, since they are used again.
"""
import csv
import glob
import gzip
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax._src.interpreters import mlir as lowering
from jax._src.lib import xla_client
from jaxlib.mlir import ir

DONATED = re.compile(r",? ?(tf.aliasing_output = \d+ : i32|jax.buffer_donor = true)")
DTYPES = {"i1": "bool", "f8E4M3FN": "float8_e4m3fn", "f8E5M2": "float8_e5m2", "f8E8M0FNU": "float8_e8m0fnu", "bf16": "bfloat16",
          "complex<f32>": "complex64", "complex<f64>": "complex128"}


def dtype_of(element):
    plain = re.fullmatch(r"(ui|i|f)(\d+)", element)
    return jnp.dtype({"ui": "uint", "i": "int", "f": "float"}[plain[1]] + plain[2] if plain and element not in DTYPES else DTYPES[element])


def compiled(text, command_buffers):
    """The loaded program, and (shape, element) of its arguments."""
    options = xla_client.CompileOptions()
    if not command_buffers:
        options.env_option_overrides = [("xla_gpu_enable_command_buffer", "")]
    device = jax.devices()[0]
    with lowering.make_ir_context():
        module = ir.Module.parse(text)
        main = next(op for op in module.body.operations if str(op.attributes["sym_name"] if "sym_name" in op.attributes else "") == '"main"')
        types = [ir.RankedTensorType(t) for t in ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value).inputs]
        arguments = [(list(t.shape), str(t.element_type)) for t in types]
        return device.client.compile_and_load(lowering.module_to_bytecode(module), xla_client.DeviceList((device,)), options), arguments


def value(shape, element, key):
    dtype = dtype_of(element)
    if dtype.kind == "c":
        return jnp.asarray(np.full(shape, 1 + 0.25j, dtype))
    if jnp.issubdtype(dtype, jnp.floating):
        return (jax.random.uniform(key, shape) / 2 + 0.25).astype(dtype)
    return jax.random.randint(key, shape, 0, 100).astype(dtype) if dtype.kind in "iu" and dtype.itemsize > 1 else jnp.ones(shape, dtype)


def execution(program, values):
    return lambda: program.execute_sharded(values).disassemble_into_single_device_arrays()[0][0]


def step_us(run):
    run().block_until_ready()
    began = time.perf_counter()
    run().block_until_ready()
    count = int(np.clip(0.25 / (time.perf_counter() - began), 5, 200))
    times = []
    for _ in range(3):
        began = time.perf_counter()
        for _ in range(count):
            last = run()
        last.block_until_ready()
        times.append((time.perf_counter() - began) / count)
    return 1e6 * sorted(times)[1]


def kernels(run):
    """How many run in a step, and microseconds of all."""
    run().block_until_ready()
    with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder):
            run().block_until_ready()
            run().block_until_ready()
        events = json.loads(gzip.open(glob.glob(f"{folder}/**/*.trace.json.gz", recursive=True)[0]).read())["traceEvents"]
    devices = {e["pid"] for e in events if e.get("name") == "process_name" and "/device:GPU" in e["args"].get("name", "")}
    streams = {(e["pid"], e["tid"]) for e in events if e.get("name") == "thread_name" and e["pid"] in devices and "Stream" in e["args"]["name"]}
    spent = [e["dur"] for e in events if e.get("ph") == "X" and (e["pid"], e["tid"]) in streams]
    return len(spent) // 2, sum(spent) / 2


def main():
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["program", "step_us", "kernels", "kernel_us", "temporary_bytes"])
    for path in map(pathlib.Path, sys.argv[1:]):
        packed = path.suffix == ".zst"
        text = subprocess.run(["zstd", "-dc", path], capture_output=True, text=True, check=True).stdout if packed else path.read_text()
        text = DONATED.sub("", text)
        program, arguments = compiled(text, command_buffers=True)
        keys = jax.random.split(jax.random.key(0), len(arguments) + 1)
        values = [value(shape, element, key) for (shape, element), key in zip(arguments, keys)]
        step = step_us(execution(program, values))
        count, spent = kernels(execution(compiled(text, command_buffers=False)[0], values))
        out.writerow([path.name.split(".")[0], f"{step:.1f}", count, f"{spent:.1f}", program.get_compiled_memory_stats().temp_size_in_bytes])
        sys.stdout.flush()


if __name__ == "__main__":
    main()
