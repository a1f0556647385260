#!/usr/bin/env python3
"""Holds every #include of src/ against cmake/layers.txt, and the file itself against cycles.

A file in src/X may include "X/..." and "Y/..." for each Y on X's line, and "hespas/..." (the public API).
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def read_layers(text):
    layers = {}
    for line in text.splitlines():
        name, colon, sees = line.partition(":")
        if colon and re.fullmatch(r"[a-z]+", name):
            layers[name] = sees.split()
    return layers


def order_errors(layers):
    """A layer may only see layers above it: that order is what excludes cycles."""
    seen = set()
    for name, sees in layers.items():
        for other in sees:
            if other not in layers:
                yield f"cmake/layers.txt: {name} sees {other}, which is no layer"
            elif other not in seen:
                yield f"cmake/layers.txt: {name} sees {other}, which stands below it (a cycle, or a wrong order)"
        seen.add(name)


def include_errors(layers, path):
    layer = path.relative_to(ROOT / "src").parts[0]
    if layer not in layers:
        yield f"{path.relative_to(ROOT)}: the folder src/{layer} is not in cmake/layers.txt"
        return
    text = path.read_text(errors="replace")
    for match in INCLUDE.finditer(text):
        target = match.group(1).split("/")[0]
        if target not in layers[layer] and target not in (layer, "hespas"):
            line = text.count("\n", 0, match.start(1)) + 1
            yield f'{path.relative_to(ROOT)}:{line}: {layer} may not include "{match.group(1)}"'


def main():
    layers = read_layers((ROOT / "cmake" / "layers.txt").read_text())
    errors = list(order_errors(layers))
    files = sorted(p for p in (ROOT / "src").rglob("*") if p.suffix in (".h", ".cc"))
    for path in files:
        errors += include_errors(layers, path)
    print("\n".join(errors) or f"{len(files)} files keep to cmake/layers.txt")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
