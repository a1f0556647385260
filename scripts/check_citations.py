#!/usr/bin/env python3
"""Comments that cite a specification cite one that is in docs/spec: "spec NAME section N[ and M]" a heading of NAME.md, "spec NAME A1" (or P1) a row
of its table. Citations without a page ("spec section 9", "specification 9.3") fail."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("src", "cli", "tests", "python", "bench", "experiments", "fuzz", "docs")
SUFFIXES = {".h", ".cc", ".py", ".md", ".txt"}
NUMBER = r"\d+(?:\.\d+)*"
CITED = re.compile(rf"\bspec ([a-z]+(?:-[a-z]+)+),? (?:sections? ({NUMBER}(?:(?:, | and ){NUMBER})*)|([A-Z]\d+))", re.I)
PAGELESS = re.compile(r"\bspec(?:ification)?,? (?:section )?\d+\b", re.I)
CONTINUED = re.compile(r"\n[ \t]*(?://|#)?[ \t]*")  # a sentence goes on in the next line of a comment


def pages():
    """The numbers of each page's headings and table rows."""
    out = {}
    for path in (ROOT / "docs/spec").glob("*.md"):
        text = path.read_text()
        out[path.stem] = set(re.findall(rf"^#+ ({NUMBER})\.? ", text, re.M)) | set(re.findall(r"^\| ([A-Z]\d+) \|", text, re.M))
    return out


def check(name, text, known):
    """Messages about the citations of one file."""
    bad = [f"{name}: `{found[0]}` names no page of docs/spec" for found in PAGELESS.finditer(text)]
    for found in CITED.finditer(text):
        page, sections, row = found.groups()
        if page.lower() not in known:
            bad.append(f"{name}: docs/spec has no page {page}")
            continue
        numbers = re.findall(NUMBER, sections) if sections else [row]
        bad += [f"{name}: docs/spec/{page.lower()}.md has no {number}" for number in numbers if number not in known[page.lower()]]
    return bad


def main():
    known = pages()
    bad, count = [], 0
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            name = str(path.relative_to(ROOT))
            if path.suffix not in SUFFIXES or not path.is_file() or name.startswith("docs/adr"):
                continue
            text = CONTINUED.sub(" ", path.read_text(errors="replace"))
            count += len(CITED.findall(text))
            bad += check(name, text, known)
    if bad:
        sys.exit("\n".join(bad))
    print(f"{count} citations of docs/spec name a page and a section")


if __name__ == "__main__":
    main()
