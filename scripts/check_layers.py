#!/usr/bin/env python3
"""Holds every #include of src/ against cmake/layers.txt, and the file itself against cycles.

A file in src/X may include "X/..." and "Y/..." for each Y on X's line, and "hespas/..." (the public API). Where X/Z has a
line of its own, a file in src/X/Z may include "X/W/..." only for each W on that line.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def read_layers(text):
    """Layers in order, and sub-folders, each with what it may see."""
    lines = re.findall(r"^([a-z_/]+):(.*)$", text, re.MULTILINE)
    layers = {name: sees.split() for name, sees in lines if "/" not in name}
    rooms = {name: sees.split() for name, sees in lines if "/" in name}
    return layers, rooms


def order_errors(layers, rooms):
    """A layer may only see layers above it: that order is what excludes cycles."""
    seen = set()
    for name, sees in layers.items():
        for other in sees:
            layer = other.split("/")[0]
            if layer not in layers:
                yield f"cmake/layers.txt: {name} sees {other}, which is no layer"
            elif layer not in seen:
                yield f"cmake/layers.txt: {name} sees {other}, which stands below it (a cycle, or a wrong order)"
        seen.add(name)
    for room, sees in rooms.items():
        layer = room.split("/")[0]
        for folder in [room, *(f"{layer}/{other}" for other in sees if other != ".")]:
            if not (ROOT / "src" / folder).is_dir():
                yield f"cmake/layers.txt: there is no folder src/{folder}"


def allowed(layers, rooms, folder, target):
    layer = folder.split("/")[0]
    if target == "hespas" or target == folder:
        return True
    if target.split("/")[0] != layer:
        return any(target == other or target.startswith(other + "/") for other in layers[layer])
    if folder not in rooms:
        return True
    within = target[len(layer) + 1 :] or "."
    return within in rooms[folder]


def include_errors(layers, rooms, path):
    folder = str(path.parent.relative_to(ROOT / "src"))
    if folder.split("/")[0] not in layers:
        yield f"{path.relative_to(ROOT)}: the folder src/{folder} is not in cmake/layers.txt"
        return
    text = path.read_text(errors="replace")
    for match in INCLUDE.finditer(text):
        if not allowed(layers, rooms, folder, str(pathlib.PurePath(match.group(1)).parent)):
            line = text.count("\n", 0, match.start(1)) + 1
            yield f'{path.relative_to(ROOT)}:{line}: {folder} may not include "{match.group(1)}"'


def main():
    layers, rooms = read_layers((ROOT / "cmake" / "layers.txt").read_text())
    errors = list(order_errors(layers, rooms))
    files = sorted(p for p in (ROOT / "src").rglob("*") if p.suffix in (".h", ".cc"))
    for path in files:
        errors += include_errors(layers, rooms, path)
    print("\n".join(errors) or f"{len(files)} files keep to cmake/layers.txt")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
