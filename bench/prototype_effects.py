#!/usr/bin/env python3
"""How much of a program's roofline compute time each fixed defect of the prototype accounts for (docs/differences.md).

Runs hespas_chakra_gen with and without --compat prototype, pairs the fusions of both runs by their types, and sorts the
differences by their cause; the other rows are sums over an operation's kind.

usage: bench/prototype_effects.py PROGRAM [--build build/release] [--node A100_SXM_40GB]
"""
import argparse
import collections
import difflib
import json
import pathlib
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def modules(folder):
    """Per block in program order: its text and its statistics by op."""
    statistics = json.loads((folder / "module_stats.json").read_text())["per_module"]
    for name in sorted(statistics, key=lambda name: int(re.search(r"\d+", name).group())):
        yield (folder / name).read_text(), statistics[name]["per_op"]


def fusions(folder):
    """The type signature, the text and the figures of every block with a fusion."""
    for text, ops in modules(folder):
        if "mhlo.fusion" in ops:
            signature = [line for line in text.splitlines() if line.startswith("    })") and " : " in line][-1]
            yield signature.split(" : ", 1)[1], text, ops["mhlo.fusion"]


def cause(text, old, new):
    if old["count"] != new["count"]:
        return "copies of derived constants (P11)"
    if new["mem_bytes"] > old["mem_bytes"]:
        return "booleans take a byte (P27)" if "xi1>" in text else "more bytes"
    return "bytes really touched (P12, P13)" if new["mem_bytes"] < old["mem_bytes"] else "rates (P10)"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("program")
    options.add_argument("--build", default="build/release")
    options.add_argument("--node", default="A100_SXM_40GB")
    arguments = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        runs = []
        for compat in (["--compat", "prototype"], []):
            output = pathlib.Path(folder) / f"run{len(runs)}"
            subprocess.run([ROOT / arguments.build / "bin/hespas_chakra_gen",
                            ROOT / f"configs/nodes/{arguments.node}/roofline/config.json", "--mlir_file", arguments.program,
                            "--output", output, "--num_npus", "4", "--split_fn", "individual_split", *compat],
                           check=True, stderr=subprocess.DEVNULL)
            runs.append(output)
        effects, counts = collections.Counter(), collections.Counter()
        for sign, output in zip((-1, 1), runs):
            for _, ops in modules(output):
                for name, numbers in ops.items():
                    if name != "mhlo.fusion":
                        effects[name] += sign * numbers["runtime"]
        old, new = (list(fusions(output)) for output in runs)
        matcher = difflib.SequenceMatcher(None, [f[0] for f in old], [f[0] for f in new], autojunk=False)
        for tag, a, b, c, d in matcher.get_opcodes():
            if tag != "equal":
                effects["fusions without a partner"] += sum(f[2]["runtime"] for f in new[c:d]) - sum(f[2]["runtime"] for f in old[a:b])
                continue
            for (_, text, before), (_, _, after) in zip(old[a:b], new[c:d]):
                if abs(after["runtime"] - before["runtime"]) > 1e-12:
                    effects[cause(text, before, after)] += after["runtime"] - before["runtime"]
                    counts[cause(text, before, after)] += 1
        for name, seconds in sorted(effects.items(), key=lambda item: -abs(item[1])):
            if abs(seconds) > 5e-8:
                print(f"{name:40} {seconds * 1e6:+10.1f} us {counts[name] or '':>5}")
        print(f"{'all':40} {sum(effects.values()) * 1e6:+10.1f} us")


if __name__ == "__main__":
    main()
