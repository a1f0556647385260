#!/usr/bin/env python3
"""Every type has one definition: two of the same qualified name are undefined behaviour that no linker reports.

Types in anonymous namespaces are nobody else's. Relies on the repository's format: namespaces and their types begin lines."""

import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TYPE = re.compile(r"(?:struct|class|enum class|enum|union) ([\w:]+)(?: final)?(?: :[^;{]*)? *\{")


def definitions(path):
    """Qualified names of the types that a file defines."""
    spaces = []
    for line in path.read_text(errors="replace").splitlines():
        if opened := re.match(r"namespace *([\w:]*) *\{", line):
            spaces.append(opened[1])
        elif re.match(r"\} *// namespace", line) and spaces:
            spaces.pop()
        elif (found := TYPE.match(line)) and "" not in spaces:
            yield "::".join([*spaces, found[1]])


def main():
    where = collections.defaultdict(list)
    for path in sorted(p for folder in ("src", "cli", "python/bindings") for p in (ROOT / folder).rglob("*")):
        if path.suffix in (".h", ".cc"):
            for name in definitions(path):
                where[name].append(str(path.relative_to(ROOT)))
    errors = [f"{name} is defined more than once: {', '.join(places)}" for name, places in where.items() if len(places) > 1]
    print("\n".join(errors) or f"{len(where)} types, each defined once")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
