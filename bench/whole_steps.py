#!/usr/bin/env python3
"""Steps of several CPU devices against the whole chain of predictions, by XLA's CPU plugin, in processor time.

usage: bench/whole_steps.py [--repeats 5] [--save FILE] PROGRAM...

The plugin's devices share one core, so all figures are what one device computes, in processor time: that of the process over the number of
devices. Blocks are measured on all devices at once (--at-once), as the step has them: each has its own arguments in the caches. The network is
simulated (--network-backend analytical), and the step is run. What connects two devices is a copy in memory, by the core that gets it, and a meeting
of threads: each device has one shard after the other from all others (`ring`). Latency and bandwidth of that link are fitted to single collectives
of vectors, of the kinds and element types that the program has (XLA's CPU compiler widens bf16 for each), which each repetition measures before the
program. Printed are medians over repetitions with the smallest and the largest, and by how much each prediction is off the measured step:
`simulated` is the chain's, `own collectives` has the program's collectives, each run alone on all devices, in the place of the network,
`blocks alone` has neither. --save writes the median link of the last program as a system file.
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

from block_sums import BIN, Worker, hespas, plugin, spread

SIZES = [1 << 12, 1 << 16, 1 << 19, 1 << 21, 1 << 23]  # bytes of the full buffer
FLAGS = "--xla_force_host_platform_device_count={} --xla_disable_hlo_passes=spmd-partitioning,spmd-partitioner,spmd_partitioner"
ADD = """({{
  ^bb0(%x: tensor<{0}>, %y: tensor<{0}>):
    %s = "stablehlo.add"(%x, %y) : (tensor<{0}>, tensor<{0}>) -> tensor<{0}>
    "stablehlo.return"(%s) : (tensor<{0}>) -> ()
  }})"""

BYTES = {"f32": 4, "bf16": 2, "f16": 2}
# All-reduce: reduce-scatter and all-gather, in each a shard of every other device.
PHASES = {"all-reduce": 2, "all-gather": 1, "reduce-scatter": 1}


def collective(kind, ranks, size, element):
    """A program of one collective of all devices, of `size` bytes in its full buffer."""
    groups = (f"replica_groups = dense<[{list(range(ranks))}]> : tensor<1x{ranks}xi64>, "
              "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids")
    whole = size // BYTES[element]
    name, attributes, region, given, made = {
        "all-reduce": ("all_reduce", groups, ADD.format(element), whole, whole),
        "all-gather": ("all_gather", f"all_gather_dim = 0 : i64, {groups}", "", whole // ranks, whole),
        "reduce-scatter": ("reduce_scatter", f"scatter_dimension = 0 : i64, {groups}", ADD.format(element), whole, whole // ranks),
    }[kind]
    given, made = (f"tensor<{count}x{element}>" for count in (given, made))
    return f""""func.func"() <{{function_type = ({given}) -> {made}, sym_name = "main"}}> ({{
^bb0(%a: {given}):
  %0 = "stablehlo.{name}"(%a) <{{{attributes}}}> {region} : ({given}) -> {made}
  "func.return"(%0) : ({made}) -> ()
}}) : () -> ()
"""


NOTHING = """"func.func"() <{function_type = (tensor<8xf32>) -> tensor<8xf32>, sym_name = "main"}> ({
^bb0(%a: tensor<8xf32>):
  "func.return"(%a) : (tensor<8xf32>) -> ()
}) : () -> ()
"""


class Devices:
    """Several devices of the plugin, as `hespas run --whole` has them."""

    def __init__(self, ranks, folder):
        self.ranks, self.folder = ranks, folder
        os.environ["XLA_FLAGS"] = FLAGS.format(ranks)
        self.worker = Worker("cpu")
        del os.environ["XLA_FLAGS"]

        self.nothing = min(self.started(NOTHING) for _ in range(5))

    def started(self, text):
        """Seconds of one device."""
        path = self.folder / "collective.mlir"
        path.write_text(text)
        return self.worker.ask("time", path, partitions=self.ranks)["seconds"] / self.ranks

    def seconds(self, text):
        """The same without what starting the program costs."""
        return max(self.started(text) - self.nothing, 0)

    def link(self, texts):
        """Seconds of latency and seconds a byte, by least squares of errors over measured times, for what the program communicates."""
        kinds = [kind for kind in PHASES if any(f'"stablehlo.{kind.replace("-", "_")}"' in text for text in texts)]
        elements = [element for element in BYTES if any(re.search(rf"[<x]{element}>", text) for text in texts)]
        rows = []
        for size in SIZES:
            for kind in kinds or PHASES:
                for element in elements or BYTES:
                    started = self.started(collective(kind, self.ranks, size, element))
                    steps = PHASES[kind] * (self.ranks - 1)
                    rows.append((steps / started, steps * size / self.ranks / started, 1 - self.nothing / started))
        aa, ab, bb, a, b = (sum(r[i] * r[j] for r in rows) for i, j in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2)))
        latency = max((a * bb - b * ab) / (aa * bb - ab * ab), 0)
        return latency, (b - latency * ab) / bb


def communication(program):
    """The program's collectives as programs, and how often each occurs."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([BIN / "hespas", "split", program, "--split", "linear", "--output", folder, "--quiet", "--format", "json"],
                       check=True, stdout=subprocess.DEVNULL)
        rows = json.loads((pathlib.Path(folder) / "blocks.json").read_text())["blocks"]
        return collections.Counter(re.sub(r"handle = \d+", "handle = 1", (pathlib.Path(folder) / row["file"]).read_text())
                                   for row in rows if row["kind"] == "communication")


def system_file(path, ranks, latency, seconds_per_byte):
    algorithms = {f"{kind}-implementation": ["ring"] for kind in ("all-reduce", "all-gather", "reduce-scatter", "all-to-all")}
    path.write_text(json.dumps({
        "name": "local devices", "description": "devices of one process", "source": "bench/whole_steps.py",
        "network": {"topology": ["FullyConnected"], "npus_count": [ranks], "bandwidth": [1 / seconds_per_byte / 2**30],
                    "latency": [latency * 1e9]},
        "system": {"scheduling-policy": "LIFO", "endpoint-delay": 0, "preferred-dataset-splits": 1, "active-chunks-per-dimension": 1,
                   **algorithms},
        "remote_memory": {"memory-type": "NO_MEMORY_EXPANSION"}}))
    return path


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("programs", nargs="+", type=pathlib.Path)
    options.add_argument("--repeats", type=int, default=5)
    options.add_argument("--save", type=pathlib.Path)
    given = options.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    ranks = {program: hespas("run", program, "--network-backend", "none", "--device", "EPYC_core", "--estimator", "roofline")["npus"] for program in given.programs}
    texts = {program: communication(program) for program in given.programs}
    links, rows = {program: [] for program in given.programs}, {program: [] for program in given.programs}
    for _ in range(given.repeats):
        with tempfile.TemporaryDirectory() as folder:
            devices = {count: Devices(count, pathlib.Path(folder)) for count in ranks.values()}
            for program, count in ranks.items():
                links[program].append(devices[count].link(texts[program]))
                system = system_file(pathlib.Path(folder) / "system.json", count, *links[program][-1])
                answer = hespas("run", program, "--estimator", "pjrt", "--plugin", plugin(), "--clock", "cpu", "--split", "linear", "--whole",
                                "--at-once", count, "--system", system, "--jobs", 1)
                alone = answer["compute_time_s"]
                collectives = sum(uses * devices[count].seconds(text) for text, uses in texts[program].items())
                rows[program].append((answer["measured_step"]["time_s"], answer["step_time_s"], alone + collectives, alone))
            for opened in devices.values():
                opened.worker.close()
    if given.save:
        system_file(given.save, count, *(statistics.median(part) for part in zip(*links[program])))
    for program, found in rows.items():
        print(f"{program.name}: measured {spread([1e3 * row[0] for row in found], lambda ms: f'{ms:.2f} ms')}, "
              f"link {spread([1e6 * latency for latency, _ in links[program]], lambda us: f'{us:.1f} us')}, "
              f"{spread([1e-9 / rate for _, rate in links[program]], lambda rate: f'{rate:.1f} GB/s')}")
        for i, name in enumerate(("simulated", "own collectives", "blocks alone"), 1):
            print(f"  {name}: {spread([1e3 * row[i] for row in found], lambda ms: f'{ms:.2f} ms')}, "
                  f"{spread([100 * (row[i] / row[0] - 1) for row in found], lambda off: f'{off:+.1f} %')} off", flush=True)


if __name__ == "__main__":
    main()
