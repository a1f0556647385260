#!/usr/bin/env python3
"""Ratios of LLaMA-3 steps between A100 and H100 and between sizes, predicted and measured, for steps of 0.10 s and more.

usage: bench/step_ratios.py [HESPAS]

Measured steps are rounded to 0.01 s: `of what rounding allows` is the distance from the nearest ratio that the unrounded ones can have.
"""
import csv
import itertools
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HESPAS = sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/release/bin/hespas"
DEVICES = {"A100_SXM_40GB_4GPU": "A100_SXM_40GB", "H100_80GB_4GPU": "H100_80GB"}
ROUNDING = 0.005  # s


def predicted(system, workload):
    command = [HESPAS, "run", ROOT / "data/workloads" / f"{workload}-4dev.mlir.zst", "--device", DEVICES[system], "--system", system, "-q", "--format", "json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["step_time_s"]


def main():
    steps = {}
    with open(ROOT / "data/measured/step_times.csv") as table:
        for row in csv.DictReader(table):
            seconds = float(row["step_time_s"])
            if row["system"] in DEVICES and row["workload"].startswith("llama") and seconds >= 0.10:
                steps[DEVICES[row["system"]], row["workload"]] = (predicted(row["system"], row["workload"]), seconds)
    print("| ratio | measured | predicted | error % | of what rounding allows % |\n|---|---:|---:|---:|---:|")
    worst = [0.0, 0.0]
    for (one, (p1, m1)), (two, (p2, m2)) in itertools.combinations(steps.items(), 2):
        if (one[0] == two[0]) == (one[1] == two[1]):
            continue  # one thing changes
        ratio, measured = p1 / p2, m1 / m2
        low, high = (m1 - ROUNDING) / (m2 + ROUNDING), (m1 + ROUNDING) / (m2 - ROUNDING)
        error = 100 * (ratio / measured - 1)
        beyond = 100 * (ratio / min(max(ratio, low), high) - 1)
        worst = [max(worst[0], abs(error)), max(worst[1], abs(beyond))]
        print(f"| {' '.join(one)} / {' '.join(two)} | {measured:.3f} | {ratio:.3f} | {error:+.1f} | {beyond:+.1f} |")
    print(f"\nlargest: {worst[0]:.1f} %, of what rounding allows {worst[1]:.1f} %")


if __name__ == "__main__":
    main()
