#!/usr/bin/env python3
"""Sums of measured blocks against the measured whole program, by XLA's CPU plugin on one core.

usage: bench/block_sums.py [--rounds 9] [--cold-rounds 3] [--only fusion]... [--clock cpu] PROGRAM...

PROGRAM runs on one device (`hespas retarget PROGRAM --devices 1` makes one of a larger one). All is compiled first, in one process; then each
round measures the whole program (before and behind) and all blocks of each cut as the estimator does, so that what else the machine does meets all alike. Cuts:
where XLA's kernels end (fusion), at communication alone (linear), every so many operations that there are as many blocks as with fusion
(linear by N), at each operation (individual). `plain` is a sum without what starting a program costs being subtracted, `cold` one with
what the processor caches replaced before each run. Printed are medians over rounds, and of what each sum is off the whole program of its
round, with the smallest and the largest.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIN = pathlib.Path(os.environ.get("HESPAS_BIN", ROOT / "build/release/bin"))


def plugin():
    python = subprocess.run([ROOT / "scripts/python_env.sh", "pjrt"], check=True, capture_output=True, text=True).stdout.strip()
    return next(pathlib.Path(python).parent.parent.glob("lib/*/site-packages/lammps_jax_pjrt_cpu/*.so"))


def hespas(*words):
    command = [BIN / "hespas", *map(str, words), "--quiet", "--format", "json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def blocks_of(program, *cut):
    return sum(block["kind"] == "compute" for block in hespas("split", program, *cut))


def limit_for(program, count):
    """Operations a block, so that a linear cut has about as many computing blocks, and not more."""
    low, high = 1, 1024
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if blocks_of(program, "--split", "linear", "--block-lim", middle) > count else (low, middle)
    return low


def arguments_of(text):
    """Of `main`, as the worker wants them."""
    head = next(line for line in text.splitlines() if '"func.func"' in line and 'sym_name = "main"' in line)
    types = re.search(r"function_type = \((.*?)\) ->", head).group(1)
    shapes = [text.split("x") for text in re.findall(r"tensor<([^>]*)>", types)]
    return [{"element": element, "shape": [int(d) for d in dims]} for *dims, element in shapes]


class Worker:
    """The process that the estimator starts, asked directly."""

    def __init__(self, clock):
        command = [BIN / "hespas_pjrt_worker", "--plugin", plugin(), *(["--cpu-clock"] if clock == "cpu" else [])]
        self.process = subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        greeting = json.loads(self.process.stdout.readline())
        assert greeting["ready"], greeting

    def ask(self, what, path, **more):
        request = {"id": 1, "do": what, "program": str(path), "arguments": arguments_of(path.read_text()), **more}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        assert answer["ok"], (path, answer["message"])
        return answer

    def time(self, path, cold=False):
        """Seconds of a run, and what starting it costs."""
        answer = self.ask("time", path, keep=True, cold=cold)
        return answer["seconds"], answer["overhead_s"]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def corrected_time(worker, path):
    seconds, overhead = worker.time(path)
    return seconds - overhead


class Cut:
    def __init__(self, name, program, folder, *words):
        self.name = name
        folder.mkdir()
        subprocess.run([BIN / "hespas", "split", program, *map(str, words), "--output", folder, "--quiet", "--format", "json"], check=True,
                       stdout=subprocess.DEVNULL)
        rows = json.loads((folder / "blocks.json").read_text())["blocks"]
        self.uses = collections.Counter(folder / row["file"] for row in rows if row["kind"] == "compute")

    def sums(self, worker, cold=False):
        """With and without what starting programs costs being subtracted."""
        times = [(uses, *worker.time(path, cold)) for path, uses in self.uses.items()]
        return (sum(uses * max(0, seconds - overhead) for uses, seconds, overhead in times),
                sum(uses * seconds for uses, seconds, _ in times))


def spread(values, form):
    return f"{form(statistics.median(values))} ({form(min(values))} to {form(max(values))})"


def measure(program, folder, given):
    whole = folder / "whole.mlir"
    text = subprocess.run([BIN / "hespas", "print", program, "--generic"], check=True, capture_output=True, text=True).stdout
    # Without donated arguments (attributes of the module and of `main`), which would leave nothing for a second run.
    text = re.sub(r"\}\) \{[^\n]*\} : \(\) -> \(\)\s*$", "}) : () -> ()\n", text)
    whole.write_text(re.sub(r"arg_attrs = \[.*?\], (?=function_type)", "", text))
    limit = limit_for(program, blocks_of(program, "--split", "fusion"))
    cuts = [Cut("fusion", program, folder / "fusion", "--split", "fusion"), Cut("linear", program, folder / "linear", "--split", "linear"),
            Cut(f"linear by {limit}", program, folder / "limit", "--split", "linear", "--block-lim", limit),
            Cut("individual", program, folder / "individual", "--split", "individual")]
    cuts = [cut for cut in cuts if not given.only or cut.name in given.only or (cut.name.startswith("linear by") and "equal" in given.only)]
    worker = Worker(given.clock)
    for path in [whole, *(path for cut in cuts for path in cut.uses)]:
        worker.ask("compile", path)
    rows = collections.defaultdict(list)  # seconds and what they are off the whole program
    for number in range(given.rounds):
        before, turn, found = corrected_time(worker, whole), number % len(cuts), {}
        for cut in cuts[turn:] + cuts[:turn]:
            corrected, plain = cut.sums(worker)
            found |= {cut.name: corrected, f"{cut.name}, plain": plain}
            if number < given.cold_rounds and cut.name in ("fusion", "linear"):
                found[f"{cut.name}, cold"], found[f"{cut.name}, plain, cold"] = cut.sums(worker, True)
        base = (before + corrected_time(worker, whole)) / 2
        rows["whole program"].append((base, 0))
        for name, value in found.items():
            rows[name].append((value, value / base - 1))
    worker.close()
    print(f"{program.name}: {', '.join(f'{cut.name} {cut.uses.total()} blocks, {len(cut.uses)} distinct' for cut in cuts)}")
    for name, values in sorted(rows.items(), key=lambda row: row[0] != "whole program"):
        print(f"  {name}: {spread([s for s, _ in values], lambda s: f'{1e3 * s:.1f} ms')}"
              + ("" if name == "whole program" else f", {spread([off for _, off in values], lambda off: f'{100 * off:+.1f} %')} off"), flush=True)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("programs", nargs="+", type=pathlib.Path)
    options.add_argument("--rounds", type=int, default=9)
    options.add_argument("--cold-rounds", type=int, default=3)
    options.add_argument("--only", action="append", choices=("fusion", "linear", "equal", "individual"),
                         help="this cut, not all; equal: linear, with as many blocks as fusion")
    options.add_argument("--clock", choices=("wall", "cpu"), default="cpu")
    given = options.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    for program in given.programs:
        with tempfile.TemporaryDirectory() as folder:
            measure(program, pathlib.Path(folder), given)


if __name__ == "__main__":
    main()
