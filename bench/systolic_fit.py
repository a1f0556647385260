#!/usr/bin/env python3
"""Fits the three constants of the `systolic` model on recorded COCOSSim cycles, and its error leave-one-shape-out.

usage: bench/systolic_fit.py
The constants found here stand in data/devices/TPUv3.json (bandwidths in bytes per second: beats/cycle * 64 B * 0.94 GHz).
"""
import json
import math
import pathlib

DATA = pathlib.Path(__file__).resolve().parent.parent / "tests/data/external/cocossim_gemm.json"
ROWS = 128  # and columns
BUFFER = 8 << 20
START = (3.7, 4.6, 15.0)


def job(m, k, n, read, write, overhead):
    def beats(elements):
        return math.ceil(elements * 2 / 64)

    weights, activations = min(k, ROWS) * min(n, ROWS), m * min(k, ROWS)
    row_tiles, column_tiles = math.ceil(k / ROWS), math.ceil(n / ROWS)
    tile = 2 * m + max(2 * ROWS, beats(weights) / read) + overhead
    return (max(ROWS, beats(weights + activations) / read) + row_tiles * column_tiles * tile +
            (row_tiles - 1) * beats(activations) / read + beats(m * n) / write)


def cycles(shape, constants):
    m, k, n = shape["M"], shape["K"], shape["N"]
    if (m * n + m * min(k, ROWS)) * 2 <= BUFFER:
        return job(m, k, n, *constants)
    of_job = max(1, BUFFER // (2 * m))
    whole, rest = divmod(n, of_job)
    return whole * job(m, k, of_job, *constants) + (job(m, k, rest, *constants) if rest else 0)


def error(shape, constants):
    return abs(cycles(shape, constants) / shape["cycles"] - 1)


def mean_error(shapes, constants):
    return sum(error(shape, constants) for shape in shapes) / len(shapes)


def fit(shapes, start):
    """Pattern search: halves its steps when no step along an axis helps."""
    best, lowest, step = list(start), mean_error(shapes, start), 0.2
    while step > 1e-4:
        improved = False
        for axis in range(len(best)):
            for factor in (1 + step, 1 / (1 + step)):
                trial = [value * factor if i == axis else value for i, value in enumerate(best)]
                found = mean_error(shapes, trial)
                if found < lowest:
                    best, lowest, improved = trial, found, True
        if not improved:
            step /= 2
    return best


def main():
    shapes = json.loads(DATA.read_text())
    constants = fit(shapes, START)
    read, write, overhead = constants
    print(f"read {read:.4f} beats/cycle ({read * 64 * 0.94:.1f} GB/s), write {write:.4f} ({write * 64 * 0.94:.1f} GB/s), "
          f"overhead {overhead:.2f} cycles a tile")
    inside = [error(shape, constants) for shape in shapes]
    outside = [error(shape, fit(shapes[:i] + shapes[i + 1:], constants)) for i, shape in enumerate(shapes)]
    for name, errors in (("in sample", inside), ("leave one shape out", outside)):
        print(f"{name}: {len(errors)} shapes, mean {100 * sum(errors) / len(errors):.2f} %, max {100 * max(errors):.1f} %")


if __name__ == "__main__":
    main()
