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


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("workloads", type=pathlib.Path)
    options.add_argument("table")
    options.add_argument("--build", default="build/release")
    arguments = options.parse_args()
    errors = []
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
    if errors:
        print(f"LLaMA on GPUs, rows of 0.10 s and more: mean error {sum(map(abs, errors)) / len(errors):.1f} %, "
              f"bias {sum(errors) / len(errors):+.1f} %, worst {max(errors, key=abs):+.1f} %")


if __name__ == "__main__":
    main()
