#!/usr/bin/env python3
"""Writes sources that include others, for one compiler run to take together; prints their names for CMake.

usage: unity_batches.py LINES FOLDER FILE...     LINES: most lines of a batch; FOLDER: where they are written

Two files share a batch only where neither mentions a name that the other keeps to itself (its unnamed namespaces and
macros): so a batch means exactly what its files mean alone, and no file needs names that are unique in its folder.
"""

import functools
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
UNNAMED = re.compile(r"^namespace \{\n(.*?)^\}(?:  // namespace$|\Z)", re.MULTILINE | re.DOTALL)
IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
NOISE = re.compile(r'//(?! namespace$)[^\n]*|"(?:\\.|[^"\\\n])*"|/\*.*?\*/', re.DOTALL | re.MULTILINE)
TYPE = re.compile(r"^\s*(?:struct|class|union|enum(?: class)?)\s+(?:alignas\([^)]*\)\s*)?(\w+)", re.MULTILINE)
OUTER_TYPE = re.compile(r"^(?:struct|class|union|enum(?: class)?)\s+(\w+)", re.MULTILINE)
ALIAS = re.compile(r"^(?:using|namespace)\s+(\w+)\s*=\s*([^;]*);|^using\s+((?:\w+::)*(\w+));", re.MULTILINE)
PLAIN_ENUM = re.compile(r"\benum\s+(?!class)(?:\w+\s*)?(?::\s*[\w:]+\s*)?\{([^}]*)\}")
MACRO = re.compile(r"^#define\s+(\w+)", re.MULTILINE)
# The first name before a bracket, an initialiser or the end of a declaration that begins a line.
DECLARED = re.compile(r"^(?!#|\}|namespace|using|struct|class|enum|union)[^\s][^\n;=({]*?(?:\(\*)?\b(\w+)(?:\[[^\]]*\])*\s*(?:[({=;]|$)", re.MULTILINE)


@functools.cache
def header_names(path):
    """Names that a header and those it includes declare outside of classes."""
    raw = path.read_text(errors="replace")
    text = NOISE.sub('""', raw)
    names = {*DECLARED.findall(text), *OUTER_TYPE.findall(text), *(a or b for a, _, _, b in ALIAS.findall(text))}
    return names.union(*(header_names(header) for header in headers_of(raw)))


def headers_of(text):
    paths = [ROOT / folder / name for name in INCLUDE.findall(text) for folder in ("src", ".")]
    return [path for path in paths if path.is_file()]


def facts_of(path):
    """What the file keeps to itself, its aliases with their meaning, every name that it can see, its lines."""
    raw = path.read_text(errors="replace")
    text = NOISE.sub('""', raw)
    own = set(MACRO.findall(text))
    for region in UNNAMED.findall(text):
        own.update(TYPE.findall(region), DECLARED.findall(region))
        for body in PLAIN_ENUM.findall(region):
            own.update(IDENTIFIER.findall(body))
    aliases = {}
    for name, meaning, target, last in ALIAS.findall(text):
        aliases[name or last] = meaning or target
    names = set(IDENTIFIER.findall(text)).union(*map(header_names, headers_of(raw)))
    return own, aliases, names, raw.count("\n")


class Batch:
    def __init__(self):
        self.files, self.own, self.names, self.aliases, self.lines = [], set(), set(), {}, 0

    def takes(self, facts, most):
        own, aliases, names, lines = facts
        if self.lines and self.lines + lines > most:
            return False
        if own & self.names or self.own & names:
            return False
        return all(self.aliases.get(name, meaning) == meaning for name, meaning in aliases.items()) and all(
            name in aliases or name not in names for name in self.aliases) and all(
            name in self.aliases or name not in self.names for name in aliases)

    def add(self, path, facts):
        self.files.append(path)
        self.own |= facts[0]
        self.aliases |= facts[1]
        self.names |= facts[2]
        self.lines += facts[3]


def batches_of(paths, most):
    batches = []
    for path in paths:
        facts = facts_of(path)
        batch = next((batch for batch in batches if batch.takes(facts, most)), None)
        if batch is None:
            batch = Batch()
            batches.append(batch)
        batch.add(path, facts)
    return [batch.files for batch in batches]


def write(path, text):
    """Leaves a file alone that says the same, so that nothing is compiled again for it."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main():
    folder = pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for number, files in enumerate(batches_of([pathlib.Path(name).resolve() for name in sys.argv[3:]], int(sys.argv[1]))):
        written.append(folder / f"batch_{number}.cc")
        write(written[-1], "".join(f'#include "{file.relative_to(ROOT)}"\n' for file in files))
    for stale in set(folder.glob("batch_*.cc")) - set(written):
        stale.unlink()
    print(";".join(map(str, written)), end="")


if __name__ == "__main__":
    main()
