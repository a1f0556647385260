#!/usr/bin/env python3
"""Lines of src/ that the tests of the build `coverage` have run, by folder; fails where a core folder has 90 % or fewer.

usage: scripts/coverage.py [--files]      after ctest --test-dir build/coverage; --files: also each file with lines that did not run
"""
import collections
import glob
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/coverage"
LIMIT = 0.90
# Beside the core, with why less of it runs here.
SHOWN_ONLY = {"driver": "commands for outside tools", "validate": "fits with a device held out run in release builds", "hardware": "networks are handed to SimGrid and SST there",
              "pjrt": "workers that load a device's plugin are killed", "engines": "run where SimGrid, SST or ASTRA-sim is"}


def programs():
    """Everything that can hold code of src/."""
    found = sorted(path for path in (BUILD / "bin").iterdir() if path.is_file() and not path.is_symlink() and not path.name.endswith("_fuzz"))
    return [word for path in found for word in ("-object", str(path))][1:]


def summaries():
    profiles = glob.glob(str(BUILD / "profiles/*.profraw"))
    if not profiles:
        sys.exit("no counts: scripts/build.sh coverage, then ctest --test-dir build/coverage -LE 'repository|fuzz|full|network|sweep|experiments' -E package")
    merged = BUILD / "profiles/all.profdata"
    subprocess.run(["llvm-profdata-14", "merge", "--sparse", "--failure-mode=all", *profiles, "-o", merged], check=True)
    done = subprocess.run(["llvm-cov-14", "export", "--summary-only", f"--instr-profile={merged}", "--ignore-filename-regex", r"_test\.cc", *programs()],
                          capture_output=True, text=True, check=True)
    for file in json.loads(done.stdout)["data"][0]["files"]:
        path = pathlib.Path(file["filename"]).resolve()
        if path.is_relative_to(ROOT / "src"):
            yield path.relative_to(ROOT / "src"), file["summary"]["lines"]


def main():
    found = collections.defaultdict(lambda: [0, 0])
    for path, lines in sorted(summaries()):
        found[path.parts[0]][0] += lines["count"]
        found[path.parts[0]][1] += lines["covered"]
        if "--files" in sys.argv[1:] and lines["covered"] < lines["count"]:
            print(f"{lines['count'] - lines['covered']:5} of {lines['count']:5}  {path}")
    print("| folder | lines | covered |\n|---|---:|---:|")
    for name, (lines, ran) in sorted(found.items()):
        note = f" ({SHOWN_ONLY[name]})" if name in SHOWN_ONLY else ""
        print(f"| {name}{note} | {lines} | {100 * ran / lines:.1f} % |")
    core = {name: counts for name, counts in found.items() if name not in SHOWN_ONLY}
    lines, ran = (sum(counts[i] for counts in core.values()) for i in (0, 1))
    print(f"| core | {lines} | {100 * ran / lines:.1f} % |")
    low = [name for name, (lines, ran) in core.items() if ran <= LIMIT * lines]
    if low:
        sys.exit(f"{LIMIT:.0%} or less: {', '.join(low)}")


if __name__ == "__main__":
    main()
