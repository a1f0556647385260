#!/usr/bin/env python3
"""`hespas shard`: which sharding of an unpartitioned program is fastest. XLA's partitioner makes each candidate, `hespas run` estimates it.

    hespas shard step.mlir --mesh fsdp=8 --mesh fsdp=4,tensor=2 --device H100_80GB
    hespas shard step.mlir --devices 16 --axes fsdp,tensor,data --device H100_80GB -- --estimator roofline

The program is StableHLO with Shardy annotations, as `jax.jit(f).lower(...)` or `hespas export --stage lowered` gives it. Axes that a candidate
does not name have size 1. What follows `--` goes to `hespas run`.
"""
import argparse
import asyncio
import csv
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from environments import Refused, jax_python, program_text, suggested  # noqa: E402
from export import data_folder, guarded  # noqa: E402
import shard_page  # noqa: E402
from shard_page import percent, plain  # noqa: E402
from workers import Workers  # noqa: E402

COLUMNS = ("mesh", "devices", "step_time_s", "compute_time_s", "exposed_communication_s", "peak_memory_bytes", "fits_in_memory", "batch", "unit",
           "units_per_second_per_device", "flops_all_devices", "model_flops_utilisation", "hardware_flops_utilisation", "error")
SAME_FLOPS, SAME_BATCH = 0.05, 0.001  # as report/text/efficiency.cc
OWN = ("--device", "--system", "--format", "--output")


class Parser(argparse.ArgumentParser):
    def error(self, message):
        behind = ""
        if "unrecognized" in message:
            unknown = next(iter(message.partition(": ")[2].split()), "").partition("=")[0]
            behind = suggested(unknown, self._option_string_actions) + "what `hespas run` is to take stands behind `--`; "
        elif choice := re.search(r"invalid choice: '([^']*)' \(choose from (.*)\)", message):
            behind = suggested(choice[1], re.findall(r"[\w-]+", choice[2]))
        raise Refused(message, f"{behind}`{self.prog} --help` lists the options", 2)


def options(words):
    own, run_options = (words[:words.index("--")], words[words.index("--") + 1:]) if "--" in words else (words, [])
    parser = Parser(prog="hespas shard", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    parser.add_argument("program", help="StableHLO text with a Shardy mesh, plain or gzip")
    parser.add_argument("--mesh", action="append", default=[], metavar="AXIS=SIZE,...", help="a candidate; may be repeated")
    parser.add_argument("--devices", type=int, help="with --axes: every way to distribute that many devices over the axes")
    parser.add_argument("--axes", default="", help="with --devices: AXIS,AXIS,...")
    parser.add_argument("--device", required=True, help="preset or file")
    parser.add_argument("--system", default="auto", help="preset or file (default: auto, the devices of the candidate as the device's nodes have them)")
    parser.add_argument("--format", choices=("table", "json", "csv"), default="table")
    parser.add_argument("--output", help="folder that keeps the partitioned programs, with a page of all candidates (report.html)")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress on stderr")
    arguments = parser.parse_args(own)
    for word in run_options:
        if word.partition("=")[0] in OWN:
            raise Refused(f"`{word}` stands behind `--`", "it is an option of `hespas shard` itself: put it before `--`", 2)
    arguments.run_options = run_options
    return arguments


def mesh_of(text):
    sizes = {}
    for each in text.split(","):
        name, _, size = each.partition("=")
        if not name or not size.isdecimal() or int(size) < 1 or name in sizes:
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
    """Each mesh once, in the order given."""
    axes = [axis for axis in arguments.axes.split(",") if axis]
    if bool(axes) != (arguments.devices is not None) or not (axes or arguments.mesh):
        raise Refused("which shardings?", "give --mesh AXIS=SIZE,... (often), or --devices N with --axes AXIS,...", 2)
    if len(set(axes)) < len(axes):
        raise Refused(f"--axes names an axis twice: `{arguments.axes}`", "name each once", 2)
    if arguments.devices is not None and arguments.devices < 2:
        raise Refused("one device leaves nothing to partition", "give 2 or more --devices", 2)
    every = [mesh_of(text) for text in arguments.mesh] + (factorisations(arguments.devices, axes) if axes else [])
    return list({frozenset(name_of(sizes).split(",")): sizes for sizes in reversed(every)}.values())[::-1]


def name_of(sizes):
    return ",".join(f"{axis}={size}" for axis, size in sizes.items() if size > 1)


def check_presets(arguments):
    """Better now than once for each candidate."""
    for kind, name in (("devices", arguments.device), ("systems", arguments.system)):
        if (kind, name) == ("systems", "auto"):
            continue
        done = subprocess.run([os.environ["HESPAS_COMMAND"], kind, name], stdout=subprocess.DEVNULL, check=False)
        if done.returncode != 0:
            raise Refused("", status=done.returncode)  # it has said why


def figures(result):
    """Columns of a result of `hespas run --format json`."""
    throughput = result["throughput"] or {}
    own = {"batch": throughput.get("per_step"), "unit": throughput.get("unit"), "units_per_second_per_device": throughput.get("per_second_and_device"),
           "flops_all_devices": result["flops"] * result["npus"]}
    return {column: result[column] for column in COLUMNS if column in result} | own


def unequal_work(rows):
    """A sentence where candidates do unequal work, so that their step times do not rank them, else ''."""
    found = []
    for column, same, what in (("batch", SAME_BATCH, "tokens or samples a step"), ("flops_all_devices", SAME_FLOPS, "FLOPs on all devices")):
        values = [row[column] for row in rows if not row["error"]]
        if values and None not in values and max(values) - min(values) > same * max(values):
            found.append(f"{min(values):.4g} to {max(values):.4g} {what}")
    return f"UNEQUAL WORK: {', '.join(found)}. Step times alone do not rank these candidates." if found else ""


class Ranking:
    """Candidates on their way through the workers."""

    def __init__(self, arguments, wanted, folder):
        self.arguments, self.wanted, self.folder, self.rows = arguments, wanted, folder, []

    async def run(self, command):
        """Rows of all candidates; CancelledError behind SIGINT, SIGTERM and SIGHUP, with all workers gone."""
        async with Workers(command, len(self.wanted)) as workers:
            try:
                async with asyncio.TaskGroup() as group:
                    for sizes in self.wanted:
                        group.create_task(self.ask(workers, sizes))
            except ExceptionGroup as failures:
                raise failures.exceptions[0] from None
        return self.rows

    async def ask(self, workers, sizes):
        row = dict.fromkeys(COLUMNS) | {"mesh": name_of(sizes), "devices": math.prod(sizes.values())}
        stem = pathlib.Path(self.arguments.program).name.split(".mlir")[0]
        path = self.folder / f"{stem}.{row['mesh'].replace('=', '').replace(',', '-')}.mlir.gz"
        answer = await workers.ask({"sizes": sizes, "output": str(path)})
        row |= figures(answer["result"]) if "result" in answer else answer
        self.rows.append(row)
        if not self.arguments.quiet:
            told = row["error"] or f"{1e3 * row['step_time_s']:.4g} ms"
            sys.stderr.write(f"{len(self.rows)}/{len(self.wanted)} {row['mesh']}: {told}\n")


def show(rows, form):
    if form == "json":
        print(json.dumps(rows, indent=2))
    elif form == "csv":
        writer = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    else:
        warning = unequal_work(rows)
        if warning:
            print(warning + "\n")
        width = max(len(row["mesh"]) for row in rows)
        print(f"{'mesh':<{width}}  devices  step [ms]  compute [ms]  exposed [ms]  memory [GB]  fits      batch  a second and device  all FLOPs     MFU     HFU")
        for row in rows:
            head = f"{row['mesh']:<{width}}  {row['devices']:>7}"
            if row["error"]:
                print(f"{head}  {row['error']}")
                continue
            times = [1e3 * row[key] for key in COLUMNS[2:5]]
            fits = {True: "yes", False: "NO", None: "?"}[row["fits_in_memory"]]
            print(f"{head}  {times[0]:>9.4g}  {times[1]:>12.4g}  {times[2]:>12.4g}  {(row['peak_memory_bytes'] or 0) / 1e9:>11.3g}  {fits:<4}"
                  f"  {plain(row['batch']):>9}  {plain(row['units_per_second_per_device']):>19}  {row['flops_all_devices']:>9.4g}"
                  f"  {percent(row['model_flops_utilisation']):>6}  {percent(row['hardware_flops_utilisation']):>6}")


def main():
    arguments = options(sys.argv[1:])
    wanted = candidates(arguments)
    if "sdy.mesh" not in program_text(arguments.program):
        raise Refused(f"`{arguments.program}` has no Shardy mesh (`sdy.mesh`)",
                      "take the program before partitioning: jax.jit(f).lower(...), or `hespas export --stage lowered`", 1)
    check_presets(arguments)
    python = jax_python()
    if arguments.output:
        pathlib.Path(arguments.output).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".hespas-", dir=arguments.output, ignore_cleanup_errors=True) as scratch:
        folder = pathlib.Path(arguments.output or scratch)
        command = [python, HERE / "remesh.py", arguments.program, scratch, os.environ["HESPAS_COMMAND"], "--device", arguments.device,
                   "--system", arguments.system, *arguments.run_options, "--format", "json", "-q"]
        try:
            rows = asyncio.run(Ranking(arguments, wanted, folder).run(command))
        except asyncio.CancelledError:
            sys.stderr.write("interrupted\n")
            return 130
    rows.sort(key=lambda row: (row["step_time_s"] is None, row["step_time_s"] or 0, row["mesh"]))
    if arguments.output:
        name = pathlib.Path(arguments.program).name
        shard_page.write(pathlib.Path(arguments.output) / "report.html", data_folder(), name, arguments.device, rows, unequal_work(rows))
    show(rows, arguments.format)
    return 0 if any(row["step_time_s"] is not None for row in rows) else 5


if __name__ == "__main__":
    guarded(main)
