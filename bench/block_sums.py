#!/usr/bin/env python3
"""Sums of measured blocks against the measured whole program, by XLA's CPU plugin on one core.

usage: bench/block_sums.py [--repeats 5] [--clock cpu] [--sample N]... PROGRAM...

PROGRAM runs on one device (`hespas retarget PROGRAM --devices 1` makes one of a larger one). Each repetition measures, one after the
other: the whole program, its blocks cut where XLA's kernels end (--split fusion), cut every so many operations that there are as many
blocks (--split linear --block-lim), cut at communication alone (--split linear), and samples of the last. Printed are medians, their
spread (smallest to largest), and by how much each sum is off the whole program, each sample off all blocks.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HESPAS = pathlib.Path(os.environ.get("HESPAS_BIN", ROOT / "build/release/bin")) / "hespas"


def plugin():
    python = subprocess.run([ROOT / "scripts/python_env.sh", "pjrt"], check=True, capture_output=True, text=True).stdout.strip()
    return next(pathlib.Path(python).parent.parent.glob("lib/*/site-packages/lammps_jax_pjrt_cpu/*.so"))


def hespas(*words):
    command = [HESPAS, *map(str, words), "--quiet", "--format", "json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def blocks_of(program, *cut):
    return sum(block["kind"] == "compute" for block in hespas("split", program, *cut))


def limit_for(program, count):
    """Operations a block, so that a linear cut has about as many computing blocks, and not more."""
    low, high = 1, 1024
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if blocks_of(program, "--split", "linear", "--block-lim", middle) > count else (low, middle)
    return low


class Row:
    def __init__(self, name, *words):
        self.name, self.words, self.values, self.notes = name, words, [], set()

    def measure(self, program, common):
        answer = hespas("run", program, *common, *self.words)
        self.values.append(answer["compute_time_s"])
        self.notes |= {w["message"] for w in answer["warnings"] if w["code"] != "W0901"}
        return answer

    @property
    def median(self):
        return statistics.median(self.values)

    def text(self, other):
        off = f", {100 * (self.median / other.median - 1):+.1f} % off {other.name}" if other else ""
        spread = f"{1e3 * min(self.values):.1f}-{1e3 * max(self.values):.1f}"
        return f"{self.name}: {1e3 * self.median:.1f} ms ({spread}){off}"


def measure(program, given):
    limit = limit_for(program, blocks_of(program, "--split", "fusion"))
    whole = Row("whole program")
    linear = Row("linear", "--split", "linear", "--whole")
    cut = [Row("fusion", "--split", "fusion"), Row(f"linear by {limit}", "--split", "linear", "--block-lim", limit), linear]
    samples = [Row(f"sample {n}", "--split", "linear", "--sample", n) for n in given.sample]
    common = ["--estimator", "pjrt", "--plugin", plugin(), "--network-backend", "none", "--clock", given.clock, "--jobs", 1]
    for repetition in range(given.repeats):
        for row in [*cut, *samples]:
            answer = row.measure(program, common)
            if row is linear:
                whole.values.append(answer["measured_step"]["time_s"])
            print(f"{program.name} {repetition}: {row.name} {row.values[-1]:.4f} s", file=sys.stderr, flush=True)
    print(f"{program.name}:")
    for row, other in [(whole, None), *((row, whole) for row in cut), *((row, linear) for row in samples)]:
        print("  " + row.text(other), *sorted(row.notes), sep="\n    ", flush=True)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("programs", nargs="+", type=pathlib.Path)
    options.add_argument("--repeats", type=int, default=5)
    options.add_argument("--clock", choices=("wall", "cpu"), default="cpu")
    options.add_argument("--sample", type=int, action="append", default=[])
    given = options.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    for program in given.programs:
        measure(program, given)


if __name__ == "__main__":
    main()
