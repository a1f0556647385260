#!/usr/bin/env python3
"""usage: make_site.py HESPAS OUTPUT      the documents as a site, with a reference made from the program itself (Python of `python_env.sh docs`)

Source of the site is the tree's Markdown as it stands; the reference comes from the parser's helps, the schemas and the headers. A
link that leads nowhere is an error (MkDocs, strict).
"""
import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINK = re.compile(r"\[([^\]]*)\]\(([^)#\s]+)(#[^)]*)?\)")


def answer(*command):
    # The helps' width is the terminal's.
    return subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, "COLUMNS": "100"}).stdout


def own_documents():
    yield from (ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE"))
    for path in sorted(ROOT.glob("*/**/*.md")):
        if path.relative_to(ROOT).parts[0] in ("docs", "data", "examples", "experiments", "bench"):
            yield path
    yield from sorted(ROOT.glob("docs/pictures/*.svg"))


def copy_documents(site):
    """The Markdown files where they stand in the tree; links to what is no document become names."""
    known = set(own_documents())
    for path in known:
        def linked(match, folder=path.parent):
            text, target, anchor = match.groups()
            if re.match("[a-z]+:", target) or (folder / target).resolve() in known:
                return match[0]
            inside = (folder / target / "README.md").resolve()
            return f"[{text}]({target.rstrip('/')}/README.md)" if inside in known else text
        target = site / path.relative_to(ROOT)
        target = target.with_suffix(".md") if path.name == "LICENSE" else target
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(LINK.sub(linked, path.read_text()).replace("](LICENSE)", "](LICENSE.md)"))


def commands(hespas):
    names = re.findall(r"^  ([a-z-]+) ", answer(hespas, "-h").split("Commands:")[1].split("\n\n")[0], re.M)
    yield "# Commands\n\nWhat `hespas COMMAND --help` prints.\n"
    for name in names:
        if name not in ("export", "shard", "plan"):  # of the Python package: docs/python.md, docs/whole-programs.md, docs/plan.md
            yield f"## hespas {name}\n\n```text\n{answer(hespas, name, '--help').strip()}\n```\n"


def properties(schema, prefix=""):
    for key, value in schema.get("properties", {}).items():
        kind = value.get("type") or value.get("$ref", "").rsplit("/", 1)[-1] or "value"
        kind = " or ".join(kind) if isinstance(kind, list) else kind
        choices = ", ".join(f"`{choice}`" for choice in value.get("enum", []))
        text = " ".join(filter(None, (value.get("description", ""), choices))).replace("|", "\\|").replace("\n", " ")
        yield f"| `{prefix}{key}` | {kind} | {text} |"
        yield from properties(value, f"{prefix}{key}.")


def schemas(hespas):
    yield "# File formats\n\nMade from the schemas that `hespas schema NAME` prints and `hespas check FILE` applies.\n"
    for name in answer(hespas, "schema").split():
        schema = json.loads(answer(hespas, "schema", name))
        yield f"## {name}\n\n{schema.get('description', '')}\n\n| key | type | meaning |\n|---|---|---|\n" + "\n".join(properties(schema)) + "\n"


def headers():
    yield "# Headers\n\nEvery layer's declarations, in the order of `cmake/layers.txt`.\n"
    for layer in layers():
        yield f"## {layer}\n"
        for path in sorted((ROOT / "src" / layer).rglob("*.h")):
            code = re.sub(r"^#(pragma|include).*\n", "", path.read_text(), flags=re.M)
            comment = re.match(r"(?://.*\n)*", code)[0]
            text = "\n".join(line.removeprefix("//").removeprefix(" ") for line in comment.splitlines())
            yield f"### {path.relative_to(ROOT / 'src')}\n\n{html.escape(text, quote=False)}\n\n```cpp\n{code[len(comment):].strip()}\n```\n"


def layers():
    lines = [line.split(":") for line in (ROOT / "cmake/layers.txt").read_text().splitlines() if re.match("[a-z]+:", line)]
    return {name: [layer.split("/")[0] for layer in sees.split()] for name, sees in lines}


def draw_layers(path):
    """The dependency rule as a picture; what is seen through another layer is left out."""
    seen = layers()
    edges = [(name, other) for name, others in seen.items() for other in others
             if not any(other in seen[between] for between in others)]
    graph = "digraph { rankdir=BT; node [shape=box, fontname=Helvetica]; " + "; ".join(f'"{a}" -> "{b}"' for a, b in edges) + " }"
    path.write_bytes(subprocess.run(["dot", "-Tsvg"], input=graph.encode(), check=True, capture_output=True).stdout)


def navigation(site):
    title = re.compile("^# (.+)", re.M)
    page = lambda path: {title.search((site / path).read_text())[1]: path}  # noqa: E731
    some = lambda pattern: [page(str(path.relative_to(site))) for path in sorted(site.glob(pattern))]  # noqa: E731
    first = [page(f"docs/{name}.md") for name in ("installing", "tutorial") if (site / f"docs/{name}.md").exists()]
    guides = [entry for entry in some("docs/*.md") if entry not in first]
    return [{"Start": "README.md"}, *first, {"Guides": guides}, {"Reference": some("docs/reference/*.md") + some("data/**/README.md")},
            {"Specifications": some("docs/spec/*.md")},
            {"Experiments": some("experiments/**/*.md") + some("bench/*.md") + some("examples/**/*.md")},
            {"Decisions": some("docs/adr/*.md")}, {"Project": [page("CHANGELOG.md"), page("CONTRIBUTING.md"), {"Licence": "LICENSE.md"}]}]


def main():
    hespas, output = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        site = pathlib.Path(folder) / "site"
        site.mkdir()
        copy_documents(site)
        for name, text in (("commands", commands(hespas)), ("formats", schemas(hespas)), ("headers", headers())):
            (site / f"docs/reference/{name}.md").write_text("\n".join(text))
        draw_layers(site / "docs/layers.svg")
        with (site / "docs/architecture.md").open("a") as page:
            page.write("\n## The dependency rule, drawn\n\n![which layer sees which](layers.svg)\n")
        settings = {"site_name": "Hespas", "docs_dir": str(site), "site_dir": str(output), "theme": {"name": "mkdocs", "highlightjs": False}, "strict": True,
                    "use_directory_urls": False, "nav": navigation(site),
                    "validation": {"links": {"not_found": "warn", "anchors": "warn"}, "nav": {"omitted_files": "warn"}}}
        (pathlib.Path(folder) / "mkdocs.yml").write_text(json.dumps(settings))  # JSON is YAML
        shutil.rmtree(output, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--config-file", f"{folder}/mkdocs.yml"], check=True)


main()
