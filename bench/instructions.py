#!/usr/bin/env python3
"""Instructions that fixed workloads take, counted by callgrind, against those kept in bench/instructions.json: a rise of more than 5 % fails.

Counts do not depend on the machine's load or speed, but on the compiler and its flags; the file names those it holds for, and a build by others is
skipped (exit status 77). Renew the file, with the reason in the commit, by --write from a build by the reference, Debian 12's g++:

usage: bench/instructions.py [--build build/release] [--write] [--only NAME]
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))
from network_rows import network, sharded_step, write  # noqa: E402

KEPT = ROOT / "bench/instructions.json"
LIMIT = 1.05
LLAMA = str(ROOT / "examples/llama3-100m-4dev.mlir.gz")
SYSTEM = ["--device", "A100_SXM_40GB", "--system", "A100_SXM_40GB_4GPU"]
SWEEP = {"base": {"program": LLAMA, "device": SYSTEM[1], "system": SYSTEM[3]}, "axes": {
    "device.tdp": {"from": "300 W", "to": "500 W", "steps": 10},
    "system.bandwidth": {"from": "50 GB/s", "to": "900 GB/s", "steps": 10}, "system.latency": {"from": "100 ns", "to": "10 us", "steps": 10}}}


def workloads(folder):
    """Arguments of hespas by the workload's name."""
    sweep = folder / "sweep.json"
    sweep.write_text(json.dumps(SWEEP))
    ring = write(folder / "ring", network("Ring", [8, 8]), "ring", lambda: [sharded_step(20)])
    out = ["--quiet", "--output", str(folder / "out")]
    return {
        "read": ["check", LLAMA],
        "optimise": ["optimise", LLAMA, "--optimise", "xla-gpu", *SYSTEM[:2], "--format", "json"],
        "split, estimate, assemble": ["trace", LLAMA, *SYSTEM[:2], "--optimise", "none", "--split", "individual", *out],
        "simulate a ring": ["simulate", *ring, "--engine=events"],
        "sweep of 1,000 points": ["sweep", str(sweep), "--threads", "1", "--format", "jsonl"],
        "run with report": ["run", LLAMA, *SYSTEM, *out],
    }


def compiler(build):
    """What the counts hold for: compiler and flags of a build folder."""
    cache = (build / "CMakeCache.txt").read_text()
    found = next(build.glob("CMakeFiles/*/CMakeCXXCompiler.cmake")).read_text()
    entry = lambda key: (re.search(rf"^{key}:\w+=(.*)$", cache, re.MULTILINE) or ["", ""])[1]  # noqa: E731
    name = re.search(r'CMAKE_CXX_COMPILER_ID "(.*?)"', found)[1]
    version = re.search(r'CMAKE_CXX_COMPILER_VERSION "(.*?)"', found)[1]
    return {"compiler": f"{name} {version}", "flags": f"{entry('CMAKE_CXX_FLAGS')} {entry('CMAKE_CXX_FLAGS_RELEASE')}".strip(),
            "pic": entry("HESPAS_PIC")}


def count(hespas, arguments, folder):
    counts = folder / "callgrind"
    done = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={counts}", hespas, *arguments], cwd=folder,
                          capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"hespas {' '.join(arguments)}: status {done.returncode}\n{done.stderr}")
    return int(re.search(r"^(?:totals|summary): (\d+)", counts.read_text(), re.MULTILINE)[1])


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    options.add_argument("--kept", type=pathlib.Path, default=KEPT, help="another file of counts")
    options.add_argument("--write", action="store_true", help="keep the counts of this build")
    options.add_argument("--only", default="", help="workloads with this in their name")
    arguments = options.parse_args()
    built_by = compiler(arguments.build)
    kept = json.loads(arguments.kept.read_text()) if arguments.kept.exists() else {}
    if not arguments.write and kept.get("built_by") != built_by:
        print(f"built by {built_by}; the counts hold for {kept.get('built_by')}")
        sys.exit(77)
    counts, slower = {}, []
    with tempfile.TemporaryDirectory() as place:
        for name, words in workloads(pathlib.Path(place)).items():
            if arguments.only not in name:
                continue
            counts[name] = count(arguments.build.resolve() / "bin/hespas", words, pathlib.Path(place))
            before = kept.get("instructions", {}).get(name)
            change = f"{100 * (counts[name] / before - 1):+.2f} %" if before else "new"
            print(f"{name:26} {counts[name]:14,} {change}", flush=True)
            if not arguments.write and (not before or counts[name] > LIMIT * before):
                slower.append(name)
    if arguments.write:
        KEPT.write_text(json.dumps({"built_by": built_by, "instructions": {**kept.get("instructions", {}), **counts}}, indent=2) + "\n")
    if slower:
        sys.exit(f"more than {LIMIT - 1:.0%} above bench/instructions.json, or not in it: {', '.join(slower)}")


if __name__ == "__main__":
    main()
