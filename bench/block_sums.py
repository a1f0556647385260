#!/usr/bin/env python3
"""Blocks against the whole program, and a sample of blocks against all of them, measured by XLA's CPU plugin.

usage: bench/block_sums.py [--repeats 5] [--sample 3] PROGRAM...

PROGRAM runs on one device. Each repetition measures, one after the other, the whole program, all its blocks and a sample; medians
and their spread (smallest to largest) are printed, and the error of the sum of blocks and of the sample.
"""
import argparse
import json
import pathlib
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
HESPAS = ROOT / "build/release/bin/hespas"


def plugin():
    python = subprocess.run([ROOT / "scripts/python_env.sh", "pjrt"], check=True, capture_output=True, text=True).stdout.strip()
    return next(pathlib.Path(python).parent.parent.glob("lib/*/site-packages/lammps_jax_pjrt_cpu/*.so"))


def run(program, *words):
    command = [HESPAS, "run", program, "--estimator", "pjrt", "--plugin", plugin(), "--network-backend", "none", "--quiet",
               "--format", "json", *map(str, words)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def figure(values):
    return f"{1e3 * statistics.median(values):.2f} ms ({1e3 * min(values):.2f}-{1e3 * max(values):.2f})"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("programs", nargs="+", type=pathlib.Path)
    options.add_argument("--repeats", type=int, default=5)
    options.add_argument("--sample", type=int, default=3)
    given = options.parse_args()
    for program in given.programs:
        whole, blocks, sampled, notes = [], [], [], []
        for _ in range(given.repeats):
            full = run(program, "--whole")
            whole.append(full["measured_step"]["time_s"])
            blocks.append(full["compute_time_s"])
            part = run(program, "--sample", given.sample)
            sampled.append(part["compute_time_s"])
            notes = [w["message"] for w in part["warnings"] if w["code"] == "W0518"]
        step, total, part = map(statistics.median, (whole, blocks, sampled))
        print(f"{program.name}: whole {figure(whole)}, blocks {figure(blocks)} {100 * (total / step - 1):+.1f} %, "
              f"sample {figure(sampled)} {100 * (part / total - 1):+.1f} % of the blocks; {' '.join(notes)}", flush=True)


if __name__ == "__main__":
    main()
