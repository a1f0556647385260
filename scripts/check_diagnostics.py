#!/usr/bin/env python3
"""Every diagnostic code is declared once, well-formed and explained; kinds that nothing reports are noted."""

import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
KIND = re.compile(r'DiagnosticKind\s+(k\w+)\s*(?:=\s*)?\{\s*"([^"]*)"\s*,\s*(")?', re.MULTILINE)
IDENTIFIER = re.compile(r"\bk[A-Z]\w*")


def main():
    sources = [p for folder in ("src", "cli", "python/bindings") for p in sorted((ROOT / folder).rglob("*")) if p.suffix in (".h", ".cc")]
    texts = {p: p.read_text(errors="replace") for p in sources}
    mentions = collections.Counter(name for text in texts.values() for name in IDENTIFIER.findall(text))
    errors, where = [], collections.defaultdict(list)
    for path, text in texts.items():
        for name, code, explained in KIND.findall(text):
            if path.name.endswith("_test.cc"):
                continue
            place = f"{path.relative_to(ROOT)}: {name}"
            where[code].append(place)
            if not re.fullmatch(r"[EW]\d{4}", code):
                errors.append(f"{place}: `{code}` is no code")
            if not explained:
                errors.append(f"{place}: {code} has no explanation")
            if mentions[name] < 2:
                print(f"note: {place}: {code} is reported nowhere")
    for code, places in sorted(where.items()):
        if len(places) > 1:
            errors.append(f"{code} is declared more than once: {', '.join(places)}")
    print("\n".join(errors) or f"{len(where)} diagnostic codes, each declared once")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
