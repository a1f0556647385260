#!/usr/bin/env python3
"""Every relative link of every Markdown file leads to something."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def documents():
    skipped = {"build", ".git"}
    return [p for p in sorted(ROOT.rglob("*.md")) if not skipped & set(p.relative_to(ROOT).parts)]


def main():
    errors, links = [], 0
    for path in documents():
        for target in LINK.findall(FENCE.sub("", path.read_text())):
            if re.match(r"[a-z]+:", target):
                continue
            links += 1
            if not (path.parent / target).exists():
                errors.append(f"{path.relative_to(ROOT)}: `{target}` does not exist")
    print("\n".join(errors) or f"{links} links lead somewhere")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
