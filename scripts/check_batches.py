#!/usr/bin/env python3
"""Libraries are compiled in few batches (scripts/unity_batches.py): each parses all headers again. A tenth more than their lines need may be.

A file that shares a batch with no other keeps a name to itself that others mention with another meaning; the names are printed. Rename one of them.
"""
import math
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from unity_batches import ROOT, batches_of, clashes_between, facts_of  # noqa: E402

BUILD = (ROOT / "CMakeLists.txt").read_text()
MOST = int(re.search(r"HESPAS_UNITY_LINES (\d+)", BUILD)[1])
ALONE = re.compile(r"_test\.cc$|_absent\.cc$|/engines/(simgrid|sst)/|/cli/(main|hespas_pjrt_worker)\.cc$")


def libraries():
    """Sources by folder, without those that are compiled alone."""
    optional = {ROOT / "src" / f"{name}.cc" for name in re.findall(r"^hespas_optional\(\w+ (\S+)", BUILD, re.MULTILINE)}
    for folder in [*sorted((ROOT / "src").iterdir()), ROOT / "cli"]:
        files = sorted(p for p in folder.rglob("*.cc") if p not in optional and not ALONE.search(str(p)))
        if files:
            yield folder.relative_to(ROOT), files


def main():
    errors, total, least = [], 0, 0
    for folder, files in libraries():
        batches = batches_of(files, MOST)
        total += len(batches)
        needed = math.ceil(sum(facts_of(path).lines for path in files) / MOST)
        least += needed
        if len(batches) <= needed:
            continue
        errors.append(f"{folder}: {len(batches)} batches, where {needed} would hold all")
        for batch in batches[needed:]:
            for path in batch.files:
                for other in files:
                    names = clashes_between(path, other)
                    if other != path and names:
                        errors.append(f"  {path.relative_to(ROOT)} and {other.relative_to(ROOT)}: {', '.join(names)}")
    print("\n".join([*errors, f"{total} batches, of which the sources need {least}"]))
    return 1 if total > 1.1 * least else 0


if __name__ == "__main__":
    sys.exit(main())
