#!/usr/bin/env python3
"""CPU seconds, wall seconds and peak memory of the network stage at scale: LLaMA 70B carried over to 131,072 devices in three levels, to
1,048,576 ranks in rank classes, and max-min fair sharing of links among 4,096 ranks of a fat tree (SimGrid).

usage: bench/network_scale.py [--build build/release] [--runs 3]
"""
import argparse
import json
import os
import pathlib
import statistics
import tempfile
import time

import network_rows

ROOT = pathlib.Path(__file__).resolve().parent.parent
LARGE = ROOT / "data/workloads/llama3-70b-8dev.mlir.zst"
MIB = 1 << 20


def carried_over(devices, system):
    return ["run", str(LARGE), "--device", "H100_80GB", "--retarget", str(devices), "--system", system]


def fat_tree(folder, ranks, layers):
    """A sharded step of some layers, or one all-reduce of 64 MiB: traces of all ranks, and the options."""
    reduce = network_rows.trace([network_rows.node(0, [], collective=network_rows.ALL_REDUCE, size=64 * MIB)])
    step = network_rows.sharded_step(layers) if layers else reduce
    for rank in range(ranks):
        (folder / f"t.{rank}.et").write_bytes(step)
    (folder / "network.yml").write_text(f"topology: [Switch]\nnpus_count: [{ranks}]\nbandwidth: [50.0]\nlatency: [500.0]\n")
    system = {"preferred-dataset-splits": 1, "endpoint-delay": 10, "local-mem-bw": 1600, "scheduling-policy": "LIFO"}
    for kind in ("all-reduce", "all-gather", "reduce-scatter", "all-to-all"):
        system[f"{kind}-implementation"] = ["halvingDoubling"]
    (folder / "system.json").write_text(json.dumps(system))
    return ["simulate", f"--workload-configuration={folder}/t", f"--system-configuration={folder}/system.json",
            f"--network-configuration={folder}/network.yml", "--network-backend", "simgrid", "--physical-topology", "fat-tree:64,32:64", "--quiet"]


def measured(command):
    begin = time.monotonic()
    user, system, memory = network_rows.run(command)
    return user + system, time.monotonic() - begin, memory / 1e6


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--build", default="build/release")
    options.add_argument("--runs", type=int, default=3)
    arguments = options.parse_args()
    binary = str(ROOT / arguments.build / "bin/hespas")
    os.environ.setdefault("HESPAS_DATA_DIR", str(ROOT / "data"))
    print(f"CPU: {network_rows.cpu_name()}; median of {arguments.runs}")
    print(f"{'row':50} {'CPU s':>8} {'wall s':>8} {'MB':>6}")
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as step:
        rows = {"LLaMA 70B on 131,072 devices, 8x256x64": carried_over(131072, "H100_80GB 8x256x64 ib=400Gbit/s oversubscription=2"),
                "LLaMA 70B on 1,048,576 ranks, 8x1024x128": carried_over(1048576, "H100_80GB 8x1024x128 ib=400Gbit/s oversubscription=2"),
                "4,096 ranks of a fat tree, all-reduce of 64 MiB": fat_tree(pathlib.Path(one), 4096, 0),
                "4,096 ranks of a fat tree, a step of two layers": fat_tree(pathlib.Path(step), 4096, 2)}
        for name, words in rows.items():
            runs = [measured([binary, *words]) for _ in range(arguments.runs)]
            cpu, wall, memory = (statistics.median(column) for column in zip(*runs))
            print(f"{name:50} {cpu:8.2f} {wall:8.2f} {memory:6.0f}", flush=True)


if __name__ == "__main__":
    main()
