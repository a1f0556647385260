#!/usr/bin/env python3
"""Predicted against measured step times, from the plain exports with the built-in passes and the calibrated model.

usage: bench/step_times.py WORKLOADS STEP_TIMES.csv [--build build/release]

WORKLOADS holds llama3-*-4dev.mlir.gz and resnet*_train_step_4_devices_1024_batch.mlir.gz; the table has the columns
system, workload, step_time_s. Rows without a program are listed as such.
"""
import argparse
import csv
import json
import pathlib
import subprocess


def predicted(binary, program, system):
    device = system.rsplit("_4GPU", 1)[0].rsplit("_4_2", 1)[0]
    out = subprocess.run([binary, "run", program, "--device", device, "--system", system, "--format", "json", "--quiet"],
                         check=True, capture_output=True, text=True).stdout
    return json.loads(out)["step_time_s"]


def program_of(folder, workload, system):
    devices = 8 if system.startswith("TPUv3") else 4
    names = [f"{workload}-{devices}dev.mlir.gz", f"{workload}_train_step_4_devices_1024_batch.mlir.gz"]
    return next((folder / n for n in names if (folder / n).exists()), None)


def print_ratios(rows):
    """Errors of the ratios between devices and between neighbouring sizes; `rows`: {(system, workload): (measured, predicted)}."""
    systems = sorted({system for system, _ in rows})
    workloads = list(dict.fromkeys(workload for _, workload in rows))
    pairs = [((a, w), (b, w)) for w in workloads for a, b in zip(systems, systems[1:])]
    pairs += [((s, a), (s, b)) for s in systems for a, b in zip(workloads, workloads[1:])]
    for one, other in pairs:
        if one not in rows or other not in rows:
            continue
        (m1, p1), (m2, p2) = rows[one], rows[other]
        rounding = 0.005 / m1 + 0.005 / m2
        print(f"{' '.join(one)} / {' '.join(other)}: {100 * (p1 / p2 / (m1 / m2) - 1):+.1f} %, "
              f"rounding of the measured +-{100 * rounding:.1f} %")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("workloads", type=pathlib.Path)
    options.add_argument("table")
    options.add_argument("--build", default="build/release")
    arguments = options.parse_args()
    errors = []
    rows = {}
    print(f"{'system':22} {'workload':14} {'measured s':>10} {'predicted s':>11} {'error %':>8}")
    with open(arguments.table, encoding="utf-8") as file:
        for row in csv.DictReader(file):
            program = program_of(arguments.workloads, row["workload"], row["system"])
            if program is None:
                print(f"{row['system']:22} {row['workload']:14} no program")
                continue
            measured = float(row["step_time_s"])
            time = predicted(f"{arguments.build}/bin/hespas", program, row["system"])
            error = 100 * (time / measured - 1)
            print(f"{row['system']:22} {row['workload']:14} {measured:10.2f} {time:11.4f} {error:8.1f}")
            if row["workload"].startswith("llama3") and row["system"].endswith("GPU") and measured >= 0.1:
                errors.append(error)
                rows[row["system"], row["workload"]] = (measured, time)
    if errors:
        print(f"LLaMA on GPUs, rows of 0.10 s and more: mean error {sum(map(abs, errors)) / len(errors):.1f} %, "
              f"bias {sum(errors) / len(errors):+.1f} %, worst {max(errors, key=abs):+.1f} %")
        print_ratios(rows)


if __name__ == "__main__":
    main()
