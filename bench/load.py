#!/usr/bin/env python3
"""Memory and time under load, as a table: a program of a million operations, a file of 1 GB, 131,072 ranks, a sweep of 100,000 points, 64 processes that
share one cache. Each row checks what it got: counts, and for the cache that every process gives the answer of one alone.

usage: bench/load.py [--build build/release] [--scale 1.0] [--only NAME]      --scale 0.01: the same, smaller
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))
from network_rows import in_child, network  # noqa: E402
from read_ratio import write_ops  # noqa: E402
from scale import synthetic  # noqa: E402

LLAMA = str(ROOT / "examples/llama3-100m-4dev.mlir.gz")
DEVICE = ["--device", "A100_SXM_40GB"]
RING = (8, 16, 1024)


def spawn(command, folder, number=0):
    """A process whose standard output goes to a file of its number."""
    output = os.open(folder / f"stdout.{number}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    pid = os.posix_spawn(command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, output, 1)])
    os.close(output)
    return pid


def measure(commands, folder):
    """What the commands take side by side: seconds by the clock, CPU seconds of all, peak resident bytes of the largest."""
    started, cpu, peak = time.monotonic(), 0.0, 0
    names = {spawn([str(word) for word in command], folder, i): command for i, command in enumerate(commands)}
    while names:
        pid, status, usage = os.wait4(-1, 0)
        command = names.pop(pid)
        if status:
            sys.exit(f"{' '.join(map(str, command))}: status {status}")
        cpu, peak = cpu + usage.ru_utime + usage.ru_stime, max(peak, usage.ru_maxrss * 1024)
    return time.monotonic() - started, cpu, peak


def million_ops(hespas, folder, scale):
    count = int(1_000_000 * scale)
    in_child(lambda: synthetic(folder / "big.mlir", count))
    figures = measure([[hespas, "run", folder / "big.mlir", *DEVICE, "--num-npus", "4", "--quiet", "--output", folder / "out"]], folder)
    result = json.loads((folder / "out/result.json").read_text())
    return f"{count:,} operations: run with report, {result['blocks']['total']:,} blocks", figures


def large_file(hespas, folder, scale):
    def write():
        with open(folder / "large.mlir", "w", encoding="ascii") as out:
            write_ops(out, 1e9 * scale)
    in_child(write)
    size = (folder / "large.mlir").stat().st_size
    return f"file of {size / 1e6:,.0f} MB: check", measure([[hespas, "check", folder / "large.mlir"]], folder)


def many_ranks(hespas, folder, scale):
    shape = [*RING[:2], max(1, int(RING[2] * scale))]
    ranks = shape[0] * shape[1] * shape[2]
    preset = json.loads((ROOT / "data/systems/A100_SXM_40GB_4GPU.json").read_text())
    settings = {key: value * 3 if isinstance(value, list) else value for key, value in preset["system"].items()}
    (folder / "system.json").write_text(json.dumps({"network": network("Ring", shape), "system": settings}))
    figures = measure([[hespas, "run", LLAMA, *DEVICE, "--system", folder / "system.json", "--num-npus", ranks, "--quiet", "--output", folder / "out"]],
                      folder)
    assert json.loads((folder / "out/result.json").read_text())["npus"] == ranks
    files = [path.stat().st_size for path in (folder / "out").iterdir()]
    return f"{ranks:,} ranks: run with report, {len(files)} files of {sum(files) / 1e6:.1f} MB", figures


def long_sweep(hespas, folder, scale):
    points = max(1, int(500 * scale))
    (folder / "sweep.json").write_text(json.dumps({"base": {"program": LLAMA, "device": "A100_SXM_40GB", "system": "A100_SXM_40GB_4GPU"}, "axes": {
        "device.tdp": {"from": "300 W", "to": "500 W", "steps": points}, "system.bandwidth": {"from": "50 GB/s", "to": "900 GB/s", "steps": 20},
        "system.latency": {"from": "100 ns", "to": "10 us", "steps": 10, "scale": "log"}}}))
    figures = measure([[hespas, "sweep", folder / "sweep.json", "--quiet", "--output", folder / "out"]], folder)
    with open(folder / "out/rows.jsonl", encoding="utf-8") as rows:
        written = sum(1 for _ in rows)
    assert written == points * 200, written
    return f"sweep of {written:,} points into a folder", figures


def shared_cache(hespas, folder, scale):
    count = max(2, int(64 * scale))
    devices = ["A100_SXM_40GB", "H100_80GB", "A100_PCIe_40GB", "A100_SXM_80GB"]

    def command(i, cache):
        return [hespas, "run", LLAMA, "--device", devices[i % len(devices)], "--num-npus", "4", "--format", "json", "--quiet", "--cache", cache]
    figures = measure([command(i, folder / "cache.sqlite") for i in range(count)], folder)
    alone = {}
    for i in range(count):
        answer = json.loads((folder / f"stdout.{i}").read_text())["step_time_s"]
        if i % len(devices) not in alone:
            lone = subprocess.run(command(i, "none"), capture_output=True, check=True).stdout
            alone[i % len(devices)] = json.loads(lone)["step_time_s"]
        assert answer == alone[i % len(devices)], f"process {i} answers {answer}, alone {alone[i % len(devices)]}"
    size = (folder / "cache.sqlite").stat().st_size
    return f"{count} processes at once, one cache of {size / 1e6:.1f} MB", figures


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    options.add_argument("--scale", type=float, default=1)
    options.add_argument("--only", default="")
    arguments = options.parse_args()
    hespas = arguments.build.resolve() / "bin/hespas"
    print("| load | s | CPU s | peak MB of a process |\n|---|---:|---:|---:|")
    for case in (million_ops, large_file, many_ranks, long_sweep, shared_cache):
        if arguments.only in case.__name__:
            with tempfile.TemporaryDirectory() as place:
                name, (seconds, cpu, peak) = case(hespas, pathlib.Path(place), arguments.scale)
                print(f"| {name} | {seconds:.1f} | {cpu:.1f} | {peak / 1e6:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
