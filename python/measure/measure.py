#!/usr/bin/env python3
"""Measures the kernels of `hespas calibrate --plan` on this machine's accelerator through JAX.

usage: hespas calibrate --plan | measure.py - --output measured.csv [--repeats 20] [--largest 2e11]
       hespas calibrate measured.csv --device BASE --output mine.json

Writes the same table with `latency_us` filled in (the median of the repeats, arrays on the device, compilation not
counted), and with the columns `device`, `jax` and `driver` that say what was measured. Rows above --largest
floating-point operations are left empty, so that a CPU can try the script out.
"""
import argparse
import csv
import statistics
import sys
import time

import jax
import jax.numpy as jnp

TYPES = {"f64": jnp.float64, "f32": jnp.float32, "tf32": jnp.float32, "f16": jnp.float16, "bf16": jnp.bfloat16}


def softmax(x):
    return jax.nn.softmax(x, axis=-1)


def layer_norm(x):
    mean = jnp.mean(x, axis=-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(jnp.var(x, axis=-1, keepdims=True) + 1e-5)


def causal_mask(x):
    rows, columns = x.shape[-2:]
    return jnp.where(jnp.arange(rows)[:, None] >= jnp.arange(columns)[None, :], x, -1e9)


ONE_ARRAY = {"softmax": softmax, "ln": layer_norm, "mask": causal_mask, "tanh": jnp.tanh, "exp": jnp.exp,
             "relu": jax.nn.relu, "gelu": jax.nn.gelu, "addu": lambda x: x + 1.5, "mulu": lambda x: x * 1.5}
TWO_ARRAYS = {"add": jnp.add, "mul": jnp.multiply, "div": jnp.divide, "pow": jnp.power}


def number(row, column):
    return int(float(row[column])) if row.get(column) else 1


def kernel(row):
    """The function of a row and the shapes and type of its arguments; None for an unknown operation."""
    operation, element = row["op"], TYPES.get(row.get("dtype") or "f32")
    b, m, n, k = (number(row, column) for column in "bmnk")
    if element is None:
        return None
    if operation in ("gemm", "linear", "bmm"):
        precision = None if row.get("dtype") == "tf32" or element != jnp.float32 else jax.lax.Precision.HIGHEST
        batch = () if b == 1 else (b,)
        return (lambda x, y: jnp.matmul(x, y, precision=precision)), [batch + (m, k), batch + (k, n)], element
    if operation in ONE_ARRAY:
        return ONE_ARRAY[operation], [(b, n)], element
    if operation in TWO_ARRAYS:
        return TWO_ARRAYS[operation], [(b, n), (b, n)], element
    return None


def flops(row):
    return 2 * number(row, "b") * number(row, "m") * number(row, "n") * number(row, "k")


def median_us(function, arguments, repeats):
    run = jax.jit(function)
    run(*arguments).block_until_ready()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run(*arguments).block_until_ready()
        times.append(1e6 * (time.perf_counter() - start))
    return statistics.median(times)


def measure(row, repeats):
    found = kernel(row)
    if found is None:
        return ""
    function, shapes, element = found
    key = jax.random.PRNGKey(0)
    arguments = [jax.random.uniform(key, shape, dtype=jnp.float32, minval=0.5, maxval=1.5).astype(element)
                 for shape in shapes]
    return f"{median_us(function, arguments, repeats):.3f}"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("plan", type=argparse.FileType("r"), help="table of kernels; - is stdin")
    options.add_argument("--output", type=argparse.FileType("w"), default=sys.stdout)
    options.add_argument("--repeats", type=int, default=20)
    options.add_argument("--largest", type=float, default=float("inf"), help="floating-point operations of a row")
    arguments = options.parse_args()
    rows = csv.DictReader(arguments.plan)
    columns = [*rows.fieldnames, *(c for c in ("latency_us", "device", "jax", "driver") if c not in rows.fieldnames)]
    table = csv.DictWriter(arguments.output, columns, lineterminator="\n")
    table.writeheader()
    device = jax.devices()[0]
    for row in rows:
        if flops(row) <= arguments.largest:
            row["latency_us"] = measure(row, arguments.repeats)
        row |= {"device": device.device_kind, "jax": jax.__version__, "driver": device.client.platform_version}
        row["driver"] = " ".join(row["driver"].split())
        table.writerow(row)


if __name__ == "__main__":
    main()
