#!/usr/bin/env python3
"""CPU seconds and peak memory of `hespas simulate` on the rows for which ASTRA-sim's are recorded.

Each row is run as a user would: Chakra files of every rank on disk, one process, user + system time and peak resident
memory of all of it. The recorded seconds are user seconds of ASTRA-sim's congestion-unaware backend on another machine,
so the ratios compare two machines, and all CPU time here with user time there; the CPU of this one is printed.

With --astra-sim, an installed ASTRA-sim (analytical, congestion-unaware) runs the same files here, and the ratios are of one machine and one run.

usage: bench/network_rows.py [--build build/release] [--runs 5] [--engine auto|events] [--only NAME] [--astra-sim BINARY]
"""
import argparse
import json
import os
import pathlib
import platform
import re
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MIB = 1 << 20
ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER = 0, 2, 7
COMPUTE, COLLECTIVE = 4, 7


def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def block(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data


def attribute(name, field, value):
    return block(10, block(1, name.encode()) + number(field, value))


def node(index, after, microseconds=0, collective=None, size=0, mark=0):
    kind = COMPUTE if collective is None else COLLECTIVE
    out = number(1, index) + block(2, b"node_%d" % index) + number(3, kind)
    if after:
        out += block(5, b"".join(varint(d) for d in after))
    if microseconds:
        out += number(7, microseconds)
    out += attribute("is_cpu_op", 27, 0)
    if collective is not None:
        out += attribute("comm_type", 9, collective) + attribute("comm_size", 9, size)
    if mark:
        out += attribute("schedule_mark", 9, mark)
    return varint(len(out)) + out


def trace(nodes):
    metadata = block(1, b"0.0.4")
    return varint(len(metadata)) + metadata + b"".join(nodes)


def sharded_step(layers):
    """All-gather before each layer's forward pass, reduce-scatter behind its backward pass."""
    nodes = []

    def add(after, **what):
        nodes.append(node(len(nodes), after, **what))
        return len(nodes) - 1

    gathered, computed = [], []
    for _ in range(layers):
        gathered = [add(gathered, collective=ALL_GATHER, size=MIB)]
        computed = [add(computed + gathered, microseconds=50)]
    for _ in range(layers):
        computed = [add(computed, microseconds=100)]
        add(computed, collective=REDUCE_SCATTER, size=64 * MIB)
    return trace(nodes)


def one_gather():
    return trace([node(0, [], collective=ALL_GATHER, size=MIB)])


def long_trace(count, salt):
    """Compute with an all-reduce each tenth node; `salt` makes ranks differ."""
    nodes = []
    for i in range(count):
        after = [i - 1] if i else []
        if i % 10 == 9:
            nodes.append(node(i, after, collective=ALL_REDUCE, size=MIB))
        else:
            nodes.append(node(i, after, microseconds=1 + (i * 7 + salt) % 5))
    return trace(nodes)


def network(kind, sizes):
    return {"topology": [kind] * len(sizes), "npus_count": sizes, "bandwidth": [50.0] * len(sizes),
            "latency": [500.0] * len(sizes)}


# name, network (or preset), algorithm, makes traces (one for all ranks, or one each), recorded seconds and MB
ROWS = [
    ("64 ranks ring x 60", network("Ring", [64]), "ring", lambda: [sharded_step(60)], 0.41, None),
    ("64 ranks direct x 60", network("Switch", [64]), "direct", lambda: [sharded_step(60)], 1.8, None),
    ("512 ranks direct x 2", network("Switch", [512]), "direct", lambda: [sharded_step(2)], 7.2, 308),
    ("512 ranks 8x8x8 x 60", network("Ring", [8, 8, 8]), "ring", lambda: [sharded_step(60)], 5.2, None),
    ("4096 ranks 8x8x64 x 2", network("Ring", [8, 8, 64]), "ring", lambda: [sharded_step(2)], 7.3, None),
    ("3648 ranks GPT3_455 x 1", "GPT3_455_MI300X_8", None, lambda: [sharded_step(1)], 26.8, 1600),
    ("4096 ranks ring all-gather", network("Ring", [4096]), "ring", lambda: [one_gather()], 20.9, 5600),
    ("100,000 nodes, 4 equal ranks", network("Ring", [4]), "ring", lambda: [long_trace(100_000, 0)], 2.9, 509),
    ("100,000 nodes, 4 differing ranks", network("Ring", [4]), "ring",
     lambda: [long_trace(100_000, salt) for salt in range(4)], 2.9, 509),
]


def in_child(action):
    """Runs in a process of its own: a child's peak memory starts at what its parent holds when it is spawned."""
    pid = os.fork()
    if pid == 0:
        action()
        os._exit(0)
    if os.waitpid(pid, 0)[1]:
        sys.exit("a row's files could not be written")


def write(folder, net, algorithm, make_traces):
    """The files of a row; the options that name them."""
    folder.mkdir(parents=True, exist_ok=True)
    preset = isinstance(net, str)
    shape = json.loads((ROOT / f"data/systems/{net}.json").read_text())["network"]["npus_count"] if preset else net["npus_count"]
    ranks = 1
    for size in shape:
        ranks *= size

    def write_traces():
        traces = make_traces()
        for rank in range(ranks):
            (folder / f"t.{rank}.et").write_bytes(traces[rank % len(traces)])

    in_child(write_traces)
    options = [f"--workload-configuration={folder}/t"]
    if preset:
        return options + [f"--system={net}"]
    system = {"preferred-dataset-splits": 1, "endpoint-delay": 10, "local-mem-bw": 1600, "scheduling-policy": "LIFO",
              "collective-optimization": "localBWAware"}
    for kind in ("all-reduce", "all-gather", "reduce-scatter", "all-to-all"):
        system[f"{kind}-implementation"] = [algorithm] * len(shape)
    (folder / "system.json").write_text(json.dumps(system))
    (folder / "network.yml").write_text("".join(f"{key}: {json.dumps(value)}\n" for key, value in net.items()))
    return options + [f"--system-configuration={folder}/system.json", f"--network-configuration={folder}/network.yml"]


def run(command):
    """User and system seconds and peak resident bytes of one process."""
    pid = os.posix_spawnp(command[0], command, os.environ,
                          file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
    _, status, usage = os.wait4(pid, 0)
    if status:
        sys.exit(f"{' '.join(command)} failed with status {status}")
    return usage.ru_utime, usage.ru_stime, usage.ru_maxrss * 1024


def cpu_name():
    found = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    return found.group(1) if found else platform.processor()


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--build", default="build/release")
    options.add_argument("--runs", type=int, default=5)
    options.add_argument("--engine", default="auto")
    options.add_argument("--only", default="")
    options.add_argument("--astra-sim", help="its binary; presets are left out then")
    arguments = options.parse_args()
    binary = str(ROOT / arguments.build / "bin/hespas")
    print(f"CPU: {cpu_name()}; engine {arguments.engine}; median of {arguments.runs}")
    print(f"{'row':34} {'user s':>8} {'sys s':>7} {'MB':>6} {'recorded':>16} {'times less':>22}")
    for name, net, algorithm, make_traces, seconds, megabytes in ROWS:
        if arguments.only not in name or (arguments.astra_sim and isinstance(net, str)):
            continue
        folder = ROOT / "build/bench/network_rows" / re.sub(r"\W+", "_", name)
        files = write(folder, net, algorithm, make_traces)
        command = [binary, "simulate", *files, f"--engine={arguments.engine}", "--quiet"]
        runs = [run(command) for _ in range(arguments.runs)]
        user, system, memory = (statistics.median(column) for column in zip(*runs))
        if arguments.astra_sim:
            memory_file = folder / "remote_memory.json"
            memory_file.write_text('{"memory-type": "NO_MEMORY_EXPANSION"}')
            theirs = run([arguments.astra_sim, *files, f"--remote-memory-configuration={memory_file}"])
            seconds, megabytes = round(theirs[0] + theirs[1], 3), round(theirs[2] / 1e6)
        # Both: the kernel tells them apart by samples, of which a short run may have none in one of them.
        less = f"{seconds / (user + system):.0f}x CPU"
        if megabytes:
            less += f", {megabytes * 1e6 / memory:.0f}x memory"
        recorded = f"{seconds} s" + (f", {megabytes} MB" if megabytes else "")
        print(f"{name:34} {user:8.4f} {system:7.4f} {memory / 1e6:6.1f} {recorded:>16} {less:>22}", flush=True)


if __name__ == "__main__":
    main()
