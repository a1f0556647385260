#!/usr/bin/env python3
"""Breaks the formulas of tests/repository/mutations.txt one by one and expects a test to fail each time; prints a table, fails where a mutant lives.

Works on a copy of the tree and its build (build/mutation), bound over the tree's own path in a namespace of its own (unshare), so that only what the
broken file reaches is built again and nothing here changes. Exit status 77 where such namespaces are not allowed.

usage: scripts/mutate.py [--preset release] [--only WORD]
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
COPY = ROOT / "build/mutation"
INSIDE = "HESPAS_MUTATION_COPY"


def mutations():
    for line in (ROOT / "tests/repository/mutations.txt").read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            name, file, old, new, targets, tests = (cell.strip() for cell in line.split(" | "))
            yield name, file, old, new, targets.split(), tests.split()


def enter_copy(preset):
    """Copies tree and build and starts this script again where the copy stands in the tree's place."""
    if subprocess.run(["unshare", "-rm", "true"], capture_output=True, check=False).returncode:
        sys.exit(77)
    shutil.rmtree(COPY, ignore_errors=True)
    COPY.mkdir(parents=True)
    files = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True).stdout
    subprocess.run(["tar", "--null", "-T", "-", "--ignore-failed-read", "-cf", f"{COPY}/tree.tar"], cwd=ROOT, input=files, check=True)
    subprocess.run(["tar", "-xf", "tree.tar"], cwd=COPY, check=True)
    (COPY / "tree.tar").unlink()
    (COPY / "build").mkdir(exist_ok=True)
    subprocess.run(["cp", "-a", ROOT / "build" / preset, COPY / "build" / preset], check=True)
    done = subprocess.run(["unshare", "-rm", "sh", "-c", 'mount --bind "$1" "$2" && cd "$2" && shift 2 && exec "$@"', "sh", COPY, ROOT, sys.executable,
                           *sys.argv], env={**os.environ, INSIDE: "1"}, check=False)
    shutil.rmtree(COPY, ignore_errors=True)
    sys.exit(done.returncode)


def ran_red(preset, targets, tests):
    """The tests that fail, or None where the mutant does not build."""
    built = subprocess.run(["ninja", "-C", f"build/{preset}", "--quiet", *targets], cwd=ROOT, capture_output=True, text=True, check=False)
    if built.returncode:
        print(built.stdout[-2000:])
        return None
    pattern = "^(" + "|".join(map(re.escape, tests)) + ")$"
    done = subprocess.run(["ctest", "--test-dir", f"build/{preset}", "-R", pattern], cwd=ROOT, capture_output=True, text=True, check=False)
    assert len(re.findall(r"Test\s+#\d+: ", done.stdout)) >= len(tests), done.stdout
    return re.findall(r"\d+ - (\S+) \((?:Failed|SEGFAULT|Subprocess aborted|Timeout)", done.stdout)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--preset", default="release")
    options.add_argument("--only", default="")
    arguments = options.parse_args()
    if INSIDE not in os.environ:
        enter_copy(arguments.preset)
    chosen = [m for m in mutations() if arguments.only in m[0]]
    all_targets = sorted({t for m in chosen for t in m[4]})
    all_tests = sorted({t for m in chosen for t in m[5]})
    if ran_red(arguments.preset, all_targets, all_tests) != []:
        sys.exit("mutate.py: the tests do not pass as the tree stands")
    alive = []
    print("| broken formula | file | red tests | seconds |\n|---|---|---|---:|", flush=True)
    for name, file, old, new, targets, tests in chosen:
        started, path = time.monotonic(), ROOT / file
        text = path.read_text()
        if text.count(old) != 1:
            sys.exit(f"mutate.py: {file} has `{old}` {text.count(old)} times")
        path.write_text(text.replace(old, new))
        red = ran_red(arguments.preset, targets, tests)
        path.write_text(text)
        if not red:
            alive.append(name)
        what = "does not build" if red is None else ", ".join(red) or "NONE"
        print(f"| {name} | `{file}` | {what} | {time.monotonic() - started:.0f} |", flush=True)
    if alive:
        sys.exit(f"no test fails with: {', '.join(alive)}")
    print(f"{len(chosen)} formulas broken, {len(chosen)} times red")


if __name__ == "__main__":
    main()
