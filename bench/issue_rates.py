#!/usr/bin/env python3
"""How fast kernels issue: the busiest of data/measured/issue_rates.csv, and what a model with one rate errs by (elementwise.streamed_fraction).

usage: bench/issue_rates.py [SHARE...]      shares of the lanes' rate to try; default 0.36 and 0.9
"""
import csv
import math
import pathlib
import statistics
import sys

TABLE = pathlib.Path(__file__).resolve().parent.parent / "data/measured/issue_rates.csv"
# H100 SXM (datasheet: 132 SMs of 128 lanes and 16 special units, 1.755 GHz), the memory rate that long kernels reach, and our launch of a lone kernel.
SMS, LANES, SPECIAL, CLOCK_MHZ, BYTES_PER_US, LAUNCH_US = 132, 128, 16, 1755, 2.77e6, 2.5


def main():
    rows = list(csv.DictReader(TABLE.open()))
    for row in rows:
        row["issue"] = (int(row["lane_instructions"]) / LANES + int(row["special_instructions"]) / SPECIAL) / (SMS * CLOCK_MHZ)
        row["memory"] = int(row["bytes"]) / BYTES_PER_US
        row["us"] = float(row["median_us"])
    busiest = max(rows, key=lambda row: row["issue"] / row["us"])
    print(f"{len(rows)} kernels; the busiest issues {busiest['issue'] / busiest['us']:.2f} of the lanes' rate: {busiest['kernel']} of {busiest['program']}")
    slowed = [row for row in rows if row["issue"] / 0.36 > 0.7 * row["memory"]]
    for share in map(float, sys.argv[1:] or ("0.36", "0.9")):
        errors = [math.log((LAUNCH_US + (row["memory"] ** 6 + (row["issue"] / share) ** 6) ** (1 / 6)) / row["us"]) for row in slowed]
        print(f"share {share}: {len(slowed)} that instructions could slow err by {statistics.mean(map(abs, errors)):.0%}, bias {statistics.mean(errors):+.0%} (mean of logarithms)")


if __name__ == "__main__":
    main()
