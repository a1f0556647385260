#!/usr/bin/env python3
"""Writes sources that include others, for one compiler run to take together.

usage: unity_batches.py LINES FOLDER FILE...     sorts the files into FOLDER/batch_N.cc and prints those for CMake
       unity_batches.py --refresh FOLDER         the same batches after an edit; FOLDER/batches.d names what was read
LINES: most lines of a batch.

A batch means exactly what its files mean alone. A name that a file keeps to itself (in an unnamed namespace) and that another file
of the batch mentions is renamed for the time of its file, after all headers. Files with names that cannot be renamed, because
headers use them as well, do not share a batch with files that mention those.
"""

import functools
import json
import math
import pathlib
import re
import sys
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parent.parent
MEMBERS = "members.json"  # of each batch; `ninja clean` removes the batches, not this
UNNAMED = re.compile(r"^namespace \{\n(.*?)^\}(?:  // namespace$|\Z)", re.MULTILINE | re.DOTALL)
IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
INCLUDE = re.compile(r'^#include ([<"]([^">]+)[">]).*$', re.MULTILINE)
NOISE = re.compile(r'R"(\w*)\(.*?\)\1"|//(?! namespace$)[^\n]*|"(?:\\.|[^"\\\n])*"|/\*.*?\*/', re.DOTALL | re.MULTILINE)
TYPE = re.compile(r"^\s*(?:struct|class|union|enum(?: class)?)\s+(?:alignas\([^)]*\)\s*)?(\w+)", re.MULTILINE)
OUTER_TYPE = re.compile(r"^(?:struct|class|union|enum(?: class)?)\s+(\w+)", re.MULTILINE)
ALIAS = re.compile(r"^(?:using|namespace)\s+(\w+)\s*=\s*([^;]*);|^using\s+((?:\w+::)*(\w+));", re.MULTILINE)
PLAIN_ENUM = re.compile(r"\benum\s+(?!class)(?:\w+\s*)?(?::\s*[\w:]+\s*)?\{([^}]*)\}")
MACRO = re.compile(r"^#define\s+(\w+)", re.MULTILINE)
TEST = re.compile(r"^TEST(?:_F|_P)?\((\w+)", re.MULTILINE)  # GoogleTest prints these names
MATCHER = re.compile(r"^MATCHER(?:_P\d*)?\((\w+)", re.MULTILINE)
CONDITION = re.compile(r"^#(?:if|define)", re.MULTILINE)
NAMESPACE = re.compile(r"^namespace ((?:\w|::)+) \{", re.MULTILINE)
UNQUALIFIED = re.compile(r"(?<!::)(?<!->)(?<!(?<!\.)\.)(?<!\w)([A-Za-z_]\w*)")
MEMBER = re.compile(r"(?:(\w+)\s*::|\.|->)\s*~?(\w+)")
# The first name before a bracket, an initialiser or the end of a declaration that begins a line.
DECLARED = re.compile(r"^(?!#|\}|namespace|using|struct|class|enum|union)[^\s][^\n;=({]*?(?:\(\*)?(?<!:)\b(\w+)(?:\[[^\]]*\])*\s*(?:[({=;]|$)", re.MULTILINE)


@functools.cache
def text_of(path):
    return path.read_text(errors="replace")


@functools.cache
def headers_of(path):
    """The project's headers that the file includes, and those that they include."""
    found = set()
    for sign, name in INCLUDE.findall(text_of(path)):
        header = found_header(path, name) if sign[0] == '"' else None
        if header:
            found |= {header} | headers_of(header)
    return frozenset(found)


def found_header(path, name):
    return next((header for header in (path.parent / name, ROOT / "src" / name, ROOT / name) if header.is_file()), None)


def rooted_includes(path):
    """The file's include lines, for a file elsewhere."""
    for sign, name in INCLUDE.findall(text_of(path)):
        header = found_header(path, name) if sign[0] == '"' else None
        yield f'#include "{header.relative_to(ROOT)}"' if header == path.parent / name else f"#include {sign}"


@functools.cache
def declared_in(header):
    """Names that a header declares outside of classes, each with every namespace that the header opens."""
    text = NOISE.sub('""', text_of(header))
    names = {*DECLARED.findall(text), *OUTER_TYPE.findall(text), *(a or b for a, _, _, b in ALIAS.findall(text))}
    return frozenset((space, name) for space in NAMESPACE.findall(text) for name in names)


@functools.cache
def mentioned_in(path):
    return frozenset(IDENTIFIER.findall(NOISE.sub('""', text_of(path))))


@dataclass
class Facts:
    own: set  # what the file keeps to itself and cannot be renamed, with its namespace
    space: str  # its namespace
    renamable: set  # names of what else it keeps to itself
    names: set  # every other name that it mentions without saying whose it is
    declared: set  # what its headers declare
    aliases: dict  # its aliases, with their namespace, and their meaning
    lines: int
    alone: bool  # its headers depend on what stands before them

    @functools.cached_property
    def spaces(self):
        """The namespaces in which its headers, its aliases and itself declare a name."""
        by_name = {}
        for space, name in {*self.declared, *self.aliases, *self.own}:
            by_name.setdefault(name, set()).add(space)
        return by_name

    def finds(self, space, name):
        """Whether a name of that namespace would be found for one that this file mentions. Names of its functions hide any."""
        if name not in self.names or not f"{self.space}::".startswith(f"{space}::"):
            return False
        known = self.spaces.get(name, set())
        nearer = any(inner.startswith(f"{space}::") and f"{self.space}::".startswith(f"{inner}::") for inner in known)
        return bool(known or name.islower()) and not nearer  # the system's functions are in lower case

    def clashes(self, other):
        """Names that this file keeps to itself, or that its headers declare, and that mean something else to the other."""
        yield from (name for space, name in self.own if other.finds(space, name) or (space, name) in other.declared - self.declared)
        # A header of this file hides what the other finds in an outer namespace.
        yield from (name for space, name in self.declared - other.declared if name in other.spaces and other.finds(space, name))
        for alias, meaning in self.aliases.items():
            unknown = alias not in other.aliases and alias[1] in other.spaces and other.finds(*alias)
            if other.aliases.get(alias, meaning) != meaning or unknown or alias in other.declared - self.declared:
                yield alias[1]


@functools.cache
def facts_of(path):
    raw = text_of(path)
    text = NOISE.sub('""', raw)
    own = set()
    for region in UNNAMED.findall(text):
        own.update(TYPE.findall(region), DECLARED.findall(region))
        for body in PLAIN_ENUM.findall(region):
            own.update(IDENTIFIER.findall(body))
    own = {name for name in own if name != "struct" and not name.isupper()}  # an object's type without a name; calls of macros
    own.update(MATCHER.findall(text))
    headers = headers_of(path)
    members = {name for qualifier, name in MEMBER.findall(text) if qualifier not in own}
    outside = members.union(TEST.findall(text), *map(mentioned_in, headers))
    renamable = {name for name in own if not name.islower() and name not in outside}
    space = (NAMESPACE.findall(text) or [""])[-1]
    aliases = {(space, name or last): meaning or target for name, meaning, target, last in ALIAS.findall(text)}
    names = set(UNQUALIFIED.findall(text)) - renamable
    fixed = {(space, name) for name in {*own, *MACRO.findall(text)} - renamable}
    condition, includes = CONDITION.search(raw), list(INCLUDE.finditer(raw))
    alone = bool(condition and includes and condition.start() < includes[-1].start())
    return Facts(fixed, space, renamable, names, set().union(*map(declared_in, headers)), aliases, raw.count("\n"), alone)


def clash(path, other):
    """Whether two files cannot share a batch."""
    one, two = facts_of(path), facts_of(other)
    return next(one.clashes(two), None) is not None or next(two.clashes(one), None) is not None


def clashes_between(path, other):
    """The names for which they cannot."""
    one, two = facts_of(path), facts_of(other)
    return sorted({*one.clashes(two), *two.clashes(one)})


class Batch:
    def __init__(self):
        self.files, self.lines, self.alone = [], 0, False

    def takes(self, path, most):
        facts = facts_of(path)
        if self.files and (self.lines + facts.lines > most or self.alone or facts.alone):
            return False
        return not any(clash(path, other) for other in self.files)

    def add(self, path):
        self.files.append(path)
        self.lines += facts_of(path).lines
        self.alone |= facts_of(path).alone

    def text(self):
        seen = {path: mentioned_in(path) | {name for _, name in facts_of(path).declared} for path in self.files}
        parts = []
        for path in self.files:
            others = set().union(*(names for other, names in seen.items() if other != path))
            clashing = sorted(facts_of(path).renamable & others)
            name = path.relative_to(ROOT)
            suffix = re.sub(r"\W", "_", str(name.with_suffix("")))
            parts += [f"#define {own} {own}_{suffix}" for own in clashing]
            parts += [f'#include "{name}"', *(f"#undef {own}" for own in clashing)]
        if len(self.files) > 1:
            # A local name may hide one that a neighbour keeps to itself.
            parts[:0] = [*sorted({line for path in self.files for line in rooted_includes(path)}), '#pragma GCC diagnostic ignored "-Wshadow"']
        return "\n".join(parts) + "\n"


def batches_of(paths, most):
    lines = sum(facts_of(path).lines for path in paths)
    most = math.ceil(lines / math.ceil(lines / most) * 1.05) if lines else most  # batches of one size
    batches = []
    for path in paths:
        batch = next((batch for batch in batches if batch.takes(path, most)), None)
        if batch is None:
            batch = Batch()
            batches.append(batch)
        batch.add(path)
    return batches


def write(path, text):
    """Leaves a file alone that says the same, so that nothing is compiled again for it."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def sort(most, folder, paths):
    folder.mkdir(parents=True, exist_ok=True)
    written, members = [], {}
    for number, batch in enumerate(batches_of(paths, most)):
        written.append(folder / f"batch_{number}.cc")
        write(written[-1], batch.text())
        members[written[-1].name] = [str(path) for path in batch.files]
    write(folder / MEMBERS, json.dumps(members))
    for stale in set(folder.glob("batch_*.cc")) - set(written):
        stale.unlink()
    print(";".join(map(str, written)), end="")
    return 0


def refresh(folder):
    read = set()
    for name, files in json.loads((folder / MEMBERS).read_text()).items():
        batch = Batch()
        for file in map(pathlib.Path, files):
            if not batch.takes(file, sys.maxsize):
                (folder.parent / "sort_again").touch()  # CMake looks at this
                print(f"{file}: a name of it is in others of its batch; build once more", file=sys.stderr)
                return 1
            batch.add(file)
            read |= {file} | headers_of(file)
        write(folder / name, batch.text())
    write(folder / "batches.d", f"{folder / 'batch_0.cc'}: {' '.join(map(str, sorted(read)))}\n")
    return 0


if __name__ == "__main__":
    if sys.argv[1] == "--refresh":
        sys.exit(refresh(pathlib.Path(sys.argv[2])))
    sys.exit(sort(int(sys.argv[1]), pathlib.Path(sys.argv[2]), [pathlib.Path(name).resolve() for name in sys.argv[3:]]))
