#!/usr/bin/env python3
"""Writes docs/reference/verifier.md from the programs of tests/data/verify; --check fails where it is out of date."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "tests/data/verify/constraints.txt"
TABLE = ROOT / "docs/reference/verifier.md"
# Sections that are no op: where their rules stand.
PLACES = {
    "function": "CheckFunction, CheckReturn (rules/functions.cc)",
    "call": "CheckCall (rules/functions.cc)",
    "types": "TypeReader (read/stablehlo/type_reader.cc), ClassOf (verify/type_facts.cc)",
    "quantised": "FlawOf, MisfitOf (verify/type_facts.cc)",
    "constants": "DenseReader (read/stablehlo/attributes/dense.cc), FindMisfit (read/stablehlo/attributes/dense_elements.cc)",
    "groups": "CheckMeshAxes (rules/groups.cc), CheckChannel (rules/collectives.cc)",
    "bounds": "UpperSizes, WithinBounds (verify/type_facts.cc), ExpectStaticOrBounded (rules/shape_ops.cc)",
}
SYNTAX = "ReadConvolutionNumbers (read/stablehlo/attributes/convolution_numbers.cc)"
HEAD = """# What is verified of a program

Each program is verified when it is read, op by op, against the [StableHLO specification](https://openxla.org/stablehlo/spec). One row is one
constraint of the specification under its number there; `I3` and `O1` stand for what it says of the third input and the first output, `S1` for
the syntax of an attribute. Each row is a program of `tests/data/verify/constraints.txt` that breaks this constraint alone, which
`tests/read/constraints_test.cc` expects to be refused with one of these codes; the program without the defect must be read. Made by
`scripts/verifier_table.py`; do not edit.

A rule of the specification is relaxed where the reference implementation, JAX or XLA write programs that break it: refusing a program that
runs would be worse. Those rows have a remark instead of a code. The number of replicas and partitions is known to a run, not to a program:
ids must be distinct, not negative and without gaps; those of HLO must fit the counts of its header, where it has any.

HLO text goes through the same rules where they apply. HLO's own - operands of fusions and calls, parameters and roots of computations
and what their heads and `entry_computation_layout` say of them, layouts, literals - have their programs in `tests/data/hlo/refused.hlo.txt`.
The rules of whole modules - recursion, control-predecessors, starts without a done, aliases and donors of buffers, groups against the number
of devices - have theirs in `src/read/hlo/module_rules_test.cc`.

| op | constraint | program that breaks it | code | checked by |
|---|---|---|---|---|
"""


def snake(name):
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def op_rules():
    """The rule of each op, by the rows of table.cc; None where the row says all."""
    text = (ROOT / "src/ir/verify/table.cc").read_text()
    rules = {snake(kind): "CheckResultAccuracy" for kind in re.findall(r"Accurate\(OpKind::k(\w+)\)", text)}
    rules.update({snake(kind): None for kind in re.findall(r"(?:Unary|Binary)\(OpKind::k(\w+),", text)})
    for kind, rest in re.findall(r"Row\(OpKind::k(\w+),(.*?)\),\n", text, re.DOTALL):
        rule = re.search(r"\b(Check\w+)", rest)
        rules[snake(kind)] = rule.group(1) if rule else None
    for kind, rule in re.findall(r"Row\(OpKind::k(\w+), [^\n]*?\b(Check\w+|nullptr)", text):
        rules[snake(kind)] = None if rule == "nullptr" else rule
    return rules


def rule_files():
    files = {}
    for path in sorted((ROOT / "src/ir/verify/rules").glob("*.cc")):
        for name in re.findall(r"^bool (Check\w+)\(", path.read_text(), re.MULTILINE):
            files.setdefault(name, f"rules/{path.name}")
    return files


def sections():
    found = []
    for line in PROGRAMS.read_text().splitlines():
        header = re.match(r"== ([^:]+):\s*(.*)", line)
        variant = re.match(r"([A-Z]\d+) (E\d+(?:,E\d+)*) ([^|]*)", line)
        remark = re.match(r"-- ([A-Z]\d+) (.*)", line)
        if header:
            found.append((header.group(1).split(), header.group(2).split(), []))
        elif variant:
            found[-1][2].append((variant.group(1), variant.group(3).strip(), variant.group(2).replace(",", ", ")))
        elif remark:
            found[-1][2].append((remark.group(1), remark.group(2), ""))
    return found


def place(op, constraint, code, rules, files):
    if not code:
        return ""
    if constraint.startswith("S"):
        return SYNTAX
    if op in PLACES:
        return PLACES[op]
    if code.startswith("E01"):
        return "CheckDialectAttribute (read/stablehlo/attributes/dialect_attributes.cc)"
    rule = rules[op]
    return "row of verify/table.cc" + (f", {rule} ({files[rule]})" if rule else "")


def render():
    rules, files, lines, errors = op_rules(), rule_files(), [], []
    for ops, constraints, rows in sections():
        for missing in [c for c in constraints if c not in {row[0] for row in rows}]:
            errors.append(f"{', '.join(ops)}: no program or remark for {missing}")
        for op in ops:
            if op not in PLACES and op not in rules:
                errors.append(f"{op}: no such op in table.cc")
                continue
            for constraint, what, code in sorted(rows, key=lambda row: (row[0][0], int(row[0][1:]))):
                name = op if op in PLACES else f"`{op}`"
                lines.append(f"| {name} | {constraint} | {what} | {code} | {place(op, constraint, code, rules, files)} |\n")
    return HEAD + "".join(lines), errors


def main():
    text, errors = render()
    if "--check" in sys.argv[1:]:
        if not errors and (not TABLE.exists() or TABLE.read_text() != text):
            errors.append(f"{TABLE.relative_to(ROOT)} is out of date: run scripts/verifier_table.py")
    elif not errors:
        TABLE.write_text(text)
    print("\n".join(errors) or f"{text.count(chr(10)) - HEAD.count(chr(10))} rows")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
