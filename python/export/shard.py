#!/usr/bin/env python3
"""`hespas shard`: which sharding of an unpartitioned program is fastest. XLA's partitioner makes each candidate, `hespas run` estimates it.

    hespas shard step.mlir --mesh fsdp=8 --mesh fsdp=4,tensor=2 --device H100_80GB
    hespas shard step.mlir --devices 16 --axes fsdp,tensor,data --device H100_80GB -- --estimator roofline

The program is StableHLO with Shardy annotations, as `jax.jit(f).lower(...)` or `hespas export --stage lowered` gives it. Axes that a candidate
does not name have size 1. What follows `--` goes to `hespas run`.
"""
import argparse
import concurrent.futures
import csv
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from environments import Refused, jax_python  # noqa: E402
from export import guarded  # noqa: E402

COLUMNS = ("mesh", "devices", "step_time_s", "compute_time_s", "exposed_communication_s", "peak_memory_bytes", "fits_in_memory", "error")


def options():
    parser = argparse.ArgumentParser(prog="hespas shard", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="StableHLO text with a Shardy mesh, plain or gzip")
    parser.add_argument("--mesh", action="append", default=[], metavar="AXIS=SIZE,...", help="a candidate; may be repeated")
    parser.add_argument("--devices", type=int, help="with --axes: every way to spread that many devices over the axes")
    parser.add_argument("--axes", default="", help="with --devices: AXIS,AXIS,...")
    parser.add_argument("--device", required=True, help="preset or file")
    parser.add_argument("--system", default="auto", help="preset or file (default: auto, the devices of the candidate as the device's nodes have them)")
    parser.add_argument("--format", choices=("table", "json", "csv"), default="table")
    parser.add_argument("--output", help="folder that keeps the partitioned programs")
    parser.add_argument("run_options", nargs="*", help=argparse.SUPPRESS)
    return parser.parse_args()


def mesh_of(text):
    sizes = {}
    for each in text.split(","):
        name, _, size = each.partition("=")
        if not name or not size.isdigit() or int(size) < 1 or name in sizes:
            raise Refused(f"--mesh takes AXIS=SIZE,..., not `{text}`", "for example --mesh fsdp=8,tensor=4", 2)
        sizes[name] = int(size)
    if math.prod(sizes.values()) < 2:
        raise Refused(f"`{text}` leaves nothing to partition", "the sizes must multiply to 2 or more", 2)
    return sizes


def factorisations(devices, axes):
    """Every assignment of sizes to `axes` whose product is `devices`."""
    if len(axes) == 1:
        return [{axes[0]: devices}]
    return [{axes[0]: size, **rest} for size in range(1, devices + 1) if devices % size == 0
            for rest in factorisations(devices // size, axes[1:])]


def candidates(arguments):
    axes = [axis for axis in arguments.axes.split(",") if axis]
    if bool(axes) != bool(arguments.devices) or not (axes or arguments.mesh):
        raise Refused("which shardings?", "give --mesh AXIS=SIZE,... (often), or --devices N with --axes AXIS,...", 2)
    if arguments.devices is not None and arguments.devices < 2:
        raise Refused("one device leaves nothing to partition", "give 2 or more --devices", 2)
    return [mesh_of(text) for text in arguments.mesh] + (factorisations(arguments.devices, axes) if axes else [])


def name_of(sizes):
    return ",".join(f"{axis}={size}" for axis, size in sizes.items() if size > 1)


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return next((line for line in lines if "error" in line), lines[-1] if lines else "no message")


def estimate(arguments, python, folder, sizes):
    row = dict.fromkeys(COLUMNS) | {"mesh": name_of(sizes), "devices": math.prod(sizes.values())}
    path = folder / f"{pathlib.Path(arguments.program).name.split('.mlir')[0]}.{row['mesh'].replace('=', '').replace(',', '-')}.mlir.gz"
    made = subprocess.run([python, HERE / "remesh.py", arguments.program, json.dumps(sizes), path], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        return row | {"error": last_line(made.stderr)}
    run = subprocess.run([os.environ["HESPAS_COMMAND"], "run", path, "--device", arguments.device, "--system", arguments.system, "--format", "json",
                          *arguments.run_options], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        return row | {"error": last_line(run.stderr)}
    result = json.loads(run.stdout)
    return row | {column: result.get(column) for column in COLUMNS if column in result}


def show(rows, form):
    if form == "json":
        print(json.dumps(rows, indent=2))
    elif form == "csv":
        writer = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    else:
        width = max(len(row["mesh"]) for row in rows)
        print(f"{'mesh':<{width}}  devices  step [ms]  compute [ms]  exposed [ms]  memory [GB]  fits")
        for row in rows:
            head = f"{row['mesh']:<{width}}  {row['devices']:>7}"
            if row["error"]:
                print(f"{head}  {row['error']}")
                continue
            times = [1e3 * row[key] for key in COLUMNS[2:5]]
            fits = {True: "yes", False: "NO", None: "?"}[row["fits_in_memory"]]
            print(f"{head}  {times[0]:>9.4g}  {times[1]:>12.4g}  {times[2]:>12.4g}  {(row['peak_memory_bytes'] or 0) / 1e9:>11.3g}  {fits}")


def main():
    arguments = options()
    wanted = candidates(arguments)
    if not pathlib.Path(arguments.program).is_file():
        raise Refused(f"there is no file `{arguments.program}`", status=1)
    python = jax_python()
    with tempfile.TemporaryDirectory(prefix="hespas-") as temporary:
        folder = pathlib.Path(arguments.output or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            rows = list(pool.map(lambda sizes: estimate(arguments, python, folder, sizes), wanted))
    rows.sort(key=lambda row: (row["step_time_s"] is None, row["step_time_s"] or 0, row["mesh"]))
    show(rows, arguments.format)
    return 0 if any(row["step_time_s"] is not None for row in rows) else 5


if __name__ == "__main__":
    guarded(main)
