#!/usr/bin/env python3
"""Writes what commands print into the documents that show it.

usage: scripts/document_outputs.py FILE.md ...

In a fenced block that begins with `$ COMMAND`, all below each such line is replaced by what the command prints; where the old text ended in a line `...`, by as many
of its first lines as stood before that (eight, where there were none) and `...`. Commands run in a folder of links to the tree, so that nothing is written into it, with
build/release/bin (or HESPAS_BIN) first in PATH.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIN = pathlib.Path(os.environ.get("HESPAS_BIN", ROOT / "build/release/bin")).resolve()
FIRST_LINES = 8
BLOCK = re.compile(r"(?<=^```\n)\$ .*?(?=^```$)", re.M | re.S)


def link_tree(folder):
    """The tree as links, with a `build` of its own."""
    for path in ROOT.iterdir():
        if not path.name.startswith((".", "build")):
            (folder / path.name).symlink_to(path)
    (folder / "build/tutorial").mkdir(parents=True)
    (folder / "build/release").mkdir()
    (folder / "build/release/bin").symlink_to(BIN)


def printed(command, folder):
    environment = dict(os.environ, PATH=f"{BIN}:{os.environ['PATH']}", NO_COLOR="1")
    done = subprocess.run(["bash", "-ec", command], cwd=folder, capture_output=True, text=True, env=environment, check=False)
    if done.returncode != 0:
        sys.exit(f"{command}\n{done.stderr}")
    return [line.rstrip() for line in done.stdout.rstrip().splitlines()]


def section(lines, folder):
    """`$ COMMAND`, its continuation lines, and what is to stand below."""
    count = 1
    while lines[count - 1].endswith("\\"):
        count += 1
    command = "\n".join(lines[:count]).removeprefix("$ ")
    old, new = "\n".join(lines[count:]).strip("\n").splitlines(), printed(command, folder)
    if old and old[-1] == "...":
        new = [*new[:len(old) - 1 or FIRST_LINES], "..."]
    return [*lines[:count], *new]


def block(text, folder):
    lines = text.rstrip("\n").split("\n")
    starts = [i for i, line in enumerate(lines) if line.startswith("$ ")] + [len(lines)]
    parts = [section(lines[start:end], folder) for start, end in zip(starts, starts[1:])]
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def renewed(text, folder):
    """A document with what its commands print today."""
    return BLOCK.sub(lambda found: block(found[0], folder), text)


def main():
    with tempfile.TemporaryDirectory(prefix="hespas-") as name:
        link_tree(pathlib.Path(name))
        for path in map(pathlib.Path, sys.argv[1:]):
            text = path.read_text(encoding="utf-8")
            path.write_text(renewed(text, name), encoding="utf-8")


if __name__ == "__main__":
    main()
