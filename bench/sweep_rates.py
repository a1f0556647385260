#!/usr/bin/env python3
"""Points a second of `hespas sweep` on one core, by CPU time: usage: sweep_rates.py build/release/bin/hespas

network  device and network figures from a few devices        devices  every point a device of its own        programs  every point another program
"""
import json
import pathlib
import resource
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BASE = {"program": "examples/llama3-100m-4dev.mlir.gz", "device": "A100_SXM_40GB", "system": "A100_SXM_40GB_4GPU"}
NETWORK = {"system.bandwidth": {"from": "50 GB/s", "to": "900 GB/s", "steps": 20}, "system.latency": {"from": "100 ns", "to": "10 us", "steps": 10, "scale": "log"}}
CASES = {
    "network": {"axes": {"device.tdp": {"from": "300 W", "to": "500 W", "steps": 100}, **NETWORK}},
    "devices": {"axes": {"device.tdp": {"from": "300 W", "to": "500 W"}, "device.memory_capacity": {"from": "40 GB", "to": "80 GB"},
                         "system.bandwidth": {"from": "50 GB/s", "to": "900 GB/s"}}, "sample": {"method": "latin-hypercube", "count": 10000, "seed": 1}},
    "programs": {"axes": {"moe_imbalance": {"from": 1, "to": 2, "steps": 60}}},
}


def measure(hespas, case, estimator, threads):
    file = {**case, "base": {**BASE, "estimator": estimator}}
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run([hespas, "sweep", "-", "--threads", str(threads), "--format", "jsonl"], input=json.dumps(file), cwd=ROOT,
                          capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    points = done.stdout.count("\n")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return points, points / cpu, points / (time.monotonic() - start)


def main():
    hespas = pathlib.Path(sys.argv[1]).resolve()
    print("| case | estimator | threads | points | a second of CPU time | a second |\n|---|---|---|---|---|---|")
    for name, case in CASES.items():
        for estimator in ("calibrated", "roofline"):
            for threads in (1, 2):
                points, by_cpu, by_clock = measure(hespas, case, estimator, threads)
                print(f"| {name} | {estimator} | {threads} | {points} | {by_cpu:.0f} | {by_clock:.0f} |", flush=True)


if __name__ == "__main__":
    main()
