#!/usr/bin/env python3
"""usage: web_data.py ECHARTS OUTPUT      what the engine in WebAssembly reads: OUTPUT/data.json, the texts of the data folder by path;
the list of examples; package.json of the npm package
"""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PARTS = ("compat", "devices", "errors.json", "models", "report", "schemas", "serving", "systems")


def texts(part):
    path = ROOT / "data" / part
    files = [path] if path.is_file() else [file for file in sorted(path.rglob("*")) if file.is_file()]
    return {str(file.relative_to(ROOT / "data")): file.read_text() for file in files if file.suffix != ".md"}


def main(charts, output):
    data = {path: text for part in PARTS for path, text in texts(part).items()}
    data["report/echarts.min.js"] = pathlib.Path(charts).read_text()
    (output / "data.json").write_text(json.dumps(data, ensure_ascii=False, separators=(",", ":")))
    names = sorted(file.name for file in (output / "examples").iterdir())
    (output / "examples.json").write_text(json.dumps(names))
    version = re.search(r"project\(hespas VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
    package = json.loads((ROOT / "web/npm/package.json").read_text())
    (output / "npm/package.json").write_text(json.dumps({**package, "version": version}, indent=2) + "\n")


main(sys.argv[1], pathlib.Path(sys.argv[2]))
