#!/usr/bin/env python3
"""Collects every DiagnosticKind of the sources into data/errors.json, which `hespas explain CODE` reads.

usage: collect_errors.py [--check]   --check fails when the file is out of date or a code is used twice
"""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = ROOT / "data" / "errors.json"
OUTCOMES = {"kBadInput": 1, "kUsage": 2, "kUnsupported": 3, "kCannotRun": 4, "kToolFailed": 5, "kBoundMissed": 6,
            "kInternal": 70}
DECLARATION = re.compile(r'DiagnosticKind\s+k\w+\s*(?:=\s*)?\{\s*"([EW]\d{4})"\s*,((?:\s*"(?:[^"\\]|\\.)*")+)\s*'
                         r'(?:,\s*(?:\w+::)*Outcome::(\w+)\s*)?,?\s*\}', re.S)
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')


def collect():
    codes = {}
    for path in sorted([*ROOT.glob("src/**/*"), *ROOT.glob("cli/**/*"), *ROOT.glob("python/bindings/*")]):
        if path.suffix not in (".h", ".cc") or path.name.endswith("_test.cc"):
            continue
        source = path.read_text()
        found = DECLARATION.findall(source)
        if len(found) != len(re.findall(r"DiagnosticKind\s+k\w+\s*(?:=\s*)?\{", source)):
            sys.exit(f"{path}: a DiagnosticKind is not of the form {{\"E0000\", \"text\", Outcome::k...}}")
        for code, text, outcome in found:
            if code in codes:
                sys.exit(f"{path}: {code} is declared twice")
            explanation = "".join(STRING.findall(text)).replace('\\"', '"')
            codes[code] = {"explanation": explanation}
            if code.startswith("E"):
                codes[code]["exit_status"] = OUTCOMES[outcome or "kBadInput"]
    return dict(sorted(codes.items()))


def main():
    text = json.dumps({"schema_version": 1, "codes": collect()}, indent=1, ensure_ascii=False) + "\n"
    if "--check" not in sys.argv:
        TARGET.write_text(text)
    elif not TARGET.exists() or TARGET.read_text() != text:
        sys.exit("data/errors.json is out of date: run scripts/collect_errors.py")


if __name__ == "__main__":
    main()
