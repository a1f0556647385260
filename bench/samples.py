#!/usr/bin/env python3
"""What `--sample N` is off against measuring all blocks, by XLA's CPU plugin on one core.

usage: bench/samples.py [--repeats 3] [--sample N]... [--split fusion]... [--clock cpu] PROGRAM...

A sample is taken, and the measurements kept; then the other blocks are measured too. What both measured is the same, so that the
difference is what scaling is off. Printed are the sums of all blocks' times (each as often as it runs, without the network), medians over
repetitions with the smallest and the largest, how many blocks were measured, and what the run itself says about its error (W0518).
"""
import argparse
import os
import pathlib
import re
import tempfile

from block_sums import hespas, plugin, spread


def run(program, split, clock, cache, *words):
    return hespas("run", program, "--estimator", "pjrt", "--plugin", plugin(), "--network-backend", "none", "--clock", clock, "--split", split,
                  "--jobs", 1, "--cache", cache, *words)


def off(program, split, sample, given):
    """(measured, all, seconds of the sample, of all, error that the sample told)."""
    with tempfile.TemporaryDirectory() as folder:
        cache = pathlib.Path(folder) / "cache.sqlite"
        sampled = run(program, split, given.clock, cache, "--sample", sample)
        full = run(program, split, given.clock, cache)
    told = next((w["message"] for w in sampled["warnings"] if w["code"] == "W0518"), "")
    counts = re.match(r"(\d+) of (\d+) distinct", told)
    error = re.search(r"leave-one-out error .*?(\d+) %", told)
    return (*(counts.groups() if counts else ("all", "all")), sampled["compute_time_s"], full["compute_time_s"], error and error.group(1))


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("programs", nargs="+", type=pathlib.Path)
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("--sample", type=int, action="append", default=[])
    options.add_argument("--split", action="append", default=[])
    options.add_argument("--clock", choices=("wall", "cpu"), default="cpu")
    given = options.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    for program in given.programs:
        for split in given.split or ["fusion"]:
            for sample in given.sample or [3]:
                rows = [off(program, split, sample, given) for _ in range(given.repeats)]
                measured, count = rows[0][:2]
                print(f"{program.name} {split}, {sample} of each family ({measured} of {count} blocks): "
                      f"{spread([100 * (s / f - 1) for *_, s, f, _ in rows], lambda x: f'{x:+.1f} %')} off "
                      f"{spread([1e3 * f for *_, f, _ in rows], lambda x: f'{x:.1f} ms')}; told {[row[-1] for row in rows]} %", flush=True)


if __name__ == "__main__":
    main()
