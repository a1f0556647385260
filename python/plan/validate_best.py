#!/usr/bin/env python3
"""Published configurations beside what `hespas plan` finds for the same model, batch and devices, by our own estimates.

    python3 python/plan/validate_best.py [--only TEXT] [--evaluations N] [--sample N]      rows of data/published/rows.csv

Counts say how many configurations were estimated to be faster than the published one, how many more no lower bound proves to be slower, how
many of a random sample of those were faster, and how many may be in all, with 95 % confidence.
"""
import argparse
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "export")]

import published  # noqa: E402
from environments import Refused  # noqa: E402
from export import data_folder, guarded  # noqa: E402

ROWS = ("a3-llama2-7b-1vm", "a3-llama2-7b-2vm", "a3-llama2-7b-4vm", "dgxc-llama3-70b-bf16-128", "maxtext-v5p-32b-1x128")
AXES = ("data", "fsdp", "context", "tensor", "expert")
REMATS = ("minimal_flash", "full")  # beside the published one


def settings(keys, devices):
    """The published configuration in words of `--why`."""
    sizes = {axis: keys.get(f"dcn_{axis}_parallelism", 1) * keys.get(f"ici_{axis}_parallelism", 1) for axis in AXES}
    parts = sizes["data"] * sizes["fsdp"] * sizes["expert"]
    outer = {axis: keys[f"dcn_{axis}_parallelism"] for axis in AXES if keys.get(f"dcn_{axis}_parallelism", 1) > 1}
    own = {**sizes, "pipeline": 1, "remat": keys["remat_policy"], "microbatch": round(keys["per_device_batch_size"] * devices / parts),
           "between_nodes": "+".join(f"{axis}:{size}" for axis, size in outer.items()) or "none"}
    if sizes["data"] > 1:  # no published row divides its optimiser over it
        own["zero"] = 0
    return ",".join(f"{key}={value}" for key, value in own.items())


def planned(row, folder, arguments):
    keys, devices = published.configuration(row), int(row["devices"])
    model = folder / f"{row['id']}.yml"
    published.write(row, model)
    remats = dict.fromkeys((keys["remat_policy"], *REMATS))
    done = subprocess.run([os.environ.get("HESPAS_COMMAND", "hespas"), "plan", model, "--devices", str(devices), "--device", row["device"],
                           "--system", published.system(row), "--remat", ",".join(remats), "--why", settings(keys, devices), "--evaluations",
                           str(arguments.evaluations), "--sample", str(arguments.sample), "--format", "json", "-q"], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise Refused(f"{row['id']} cannot be planned")
    return json.loads(done.stdout)


def line(row, found):
    one, count = found["why"], found["funnel"]["configurations"]
    sample, best = found["sample"], found["best"][0]
    known = one["better"][0] - sample["better"]  # before the sample
    return (f"| {row['id']} | {one['name']}: {one['step_time_s']:.4g} s | {best['name']}: {best['step_time_s']:.4g} s | {count:,} | {known:,} | "
            f"{sample['population']:,} | {sample['better']} of {sample['size']} | {(known + sample['at_most']) / count:.1%} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="rows whose name holds the text, of all published ones")
    parser.add_argument("--evaluations", type=int, default=40)
    parser.add_argument("--sample", type=int, default=40, help="at least 1")
    arguments = parser.parse_args()
    if arguments.sample < 1:
        raise Refused("--sample is at least 1", status=2)
    rows = csv.DictReader((data_folder() / "published/rows.csv").open(newline=""))
    wanted = [row for row in rows if (arguments.only in row["id"] if arguments.only else row["id"] in ROWS)]
    print("| row | published | best found | configurations | known to be faster | not proved to be slower | of these, faster | at most faster |\n|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="hespas-", ignore_cleanup_errors=True) as folder:
        for row in wanted:
            print(line(row, planned(row, pathlib.Path(folder), arguments)), flush=True)


if __name__ == "__main__":
    guarded(main)
