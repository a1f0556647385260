#!/usr/bin/env python3
"""Closing table of `make test`: each test, the tool it needs, that tool's version, and whether it ran.

Reads ctest's JUnit files. tests/tools.txt says which tests need which outside tool, and whether the tool itself runs or its
recorded output is read; tests/allowed_skips.txt lists the tests that may be skipped. Any other skip is a failure.
"""

import fnmatch
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
SKIPPED_CASE = re.compile(r"^\[  SKIPPED \] ([\w./]+) \(", re.MULTILINE)


def table_lines(name):
    path = ROOT / "tests" / name
    lines = path.read_text().splitlines() if path.exists() else []
    return [line.split("|") for line in lines if line.strip() and not line.startswith("#")]


def rules():
    return [[cell.strip() for cell in row] for row in table_lines("tools.txt")]


def version_of(command, cache={}):
    if not command:
        return ""
    if command not in cache:
        run = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
        lines = (run.stdout or run.stderr).strip().splitlines()
        cache[command] = lines[0].rstrip(" \\")[:30] if run.returncode == 0 and lines else "absent"
    return cache[command]


def state_of(case, mode):
    skipped = case.find("skipped")
    if skipped is not None or case.get("status") in ("disabled", "notrun"):
        return "skipped", (skipped.get("message") if skipped is not None else "") or "skipped"
    if case.find("failure") is not None or case.get("status") == "fail":
        return "FAILED", ""
    return mode, ""


def rows_of(path):
    for case in xml.etree.ElementTree.parse(path).getroot().iter("testcase"):
        name = case.get("name")
        tool, mode, command = next((r[1:4] for r in rules() if fnmatch.fnmatch(name, r[0])), ("-", "real", ""))
        state, why = state_of(case, mode)
        yield [f"{path.stem}:{name}", tool, version_of(command), state, float(case.get("time") or 0), why]
        for inner in sorted(set(SKIPPED_CASE.findall(case.findtext("system-out") or ""))):
            yield [f"{path.stem}:{name}:{inner}", tool, "", "skipped", 0.0, "skipped by the test itself"]


def main():
    allowed = [[cell.strip() for cell in row] for row in table_lines("allowed_skips.txt")]
    bad, times = [], []
    print(f"{'test':58} {'tool':12} {'version':20} {'state':9} {'s':>6}  why")
    for path in map(pathlib.Path, sys.argv[1:]):
        if not path.exists():
            continue
        for name, tool, version, state, seconds, why in rows_of(path):
            if state == "skipped":
                reason = next((row[1] for row in allowed if fnmatch.fnmatch(name, row[0])), None)
                why = reason or f"UNLISTED SKIP ({why})"
                if reason is None:
                    bad.append(name)
            times.append((seconds, name))
            print(f"{name:58} {tool:12} {version:20} {state:9} {seconds:6.1f}  {why}")
    print("\nThe ten longest:")
    for seconds, name in sorted(times, reverse=True)[:10]:
        print(f"{seconds:7.1f} s  {name}")
    for name in bad:
        print(f"skip not listed in tests/allowed_skips.txt: {name}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
