#!/usr/bin/env python3
"""No function above 70 lines, no file above 600, no folder of src or cli above 28 files: tests/repository/long.txt has the exceptions, each with its reason.

Functions of C++ and JavaScript are told by the layout that clang-format gives them: a line that opens a block behind a parameter list, up to the line
of the same indent that closes it.
"""
import ast
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILE, FUNCTION, FOLDER = 600, 70, 28  # lines, lines, files of its own
COMMANDS = ROOT / "cli/commands"  # one file for each subcommand (docs/adr/0008-rooms.md)
OPENS = re.compile(r"\)(?: const| noexcept| override| mutable| =>| -> [\w:<>*& ]+)*\s*(?:\{|: .*\)\s*\{)$")
RAW = re.compile(r'R"(\w*)\(.*?\)\1"', re.DOTALL)
KEYWORD = re.compile(r"\s*(?:\} )?(?:if|for|while|switch|else|do|catch|namespace|struct|class|enum|union)\b")


def header(lines, last):
    """The line that a function's header starts in, which ends in line `last`."""
    depth = 0
    for first in range(last, -1, -1):
        depth += lines[first].count(")") - lines[first].count("(")
        goes_on = lines[first].lstrip().startswith(":") or (first and lines[first - 1].rstrip().endswith((",", "(", "=")))
        if depth <= 0 and not goes_on:
            return first
    return last


def indent(line):
    return len(line) - len(line.lstrip())


def braced(text):
    """Name, first line and length of each function of a file with braces."""
    lines = RAW.sub(lambda found: '""' + "\n" * found[0].count("\n"), text).split("\n")
    for opens, line in enumerate(lines):
        if not OPENS.search(line):
            continue
        first, inside = header(lines, opens), 0
        if lines[first].lstrip().startswith("return "):
            first = opens  # a lambda among arguments, which may stand deeper than its line
            inside = max(0, indent(lines[opens + 1]) - indent(lines[opens]) - 2)
        if KEYWORD.match(lines[first]):
            continue
        close = " " * (indent(lines[first]) + inside) + "}"
        last = next((i for i in range(opens + 1, len(lines)) if lines[i].startswith(close)), opens)
        yield re.sub(r"\(.*", "", lines[first]).strip(), first, last - first + 1


def python(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node.lineno - 1, node.end_lineno - node.lineno + 1


def main():
    excused = {}
    for line in (ROOT / "tests/repository/long.txt").read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            name, reason = line.split("|", 1)
            excused[name.strip()] = reason.strip()
    bad, used, files, functions = [], set(), 0, 0
    for name in subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True,
                               check=True).stdout.split("\n"):
        path = ROOT / name
        if path.suffix not in (".cc", ".h", ".py", ".js", ".mjs", ".sh") or "tests/data" in name or not path.is_file():
            continue
        text = path.read_text()
        lines = text.splitlines()
        files += 1
        long = [(name, 0, len(lines), FILE)]
        for function, first, length in python(text) if path.suffix == ".py" else braced(text):
            functions += 1
            long.append((f"{name}:{function}", first, length, FUNCTION))
        for what, first, length, limit in long:
            if length <= limit:
                continue
            if what in excused and excused[what]:
                used.add(what)
            else:
                bad.append(f"{name}:{first + 1}: {what.removeprefix(name + ':')} has {length} lines, more than {limit}")
    for folder in sorted(path for top in ("src", "cli") for path in [ROOT / top, *(ROOT / top).rglob("*")] if path.is_dir()):
        own = sum(path.is_file() for path in folder.iterdir())
        if own > FOLDER and folder != COMMANDS:
            bad.append(f"{folder.relative_to(ROOT)}: {own} files, more than {FOLDER}: give those of one subject a folder of their own")
    bad += [f"tests/repository/long.txt: {name} is not too long any more" for name in excused if name not in used]
    print("\n".join(bad) or f"{files} files up to {FILE} lines, {functions} functions up to {FUNCTION}, {len(used)} exceptions with a reason")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
