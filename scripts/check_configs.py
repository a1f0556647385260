#!/usr/bin/env python3
"""Holds configs/ (the prototype's folder layout) against data/, from which it is made; --write makes it again.

configs/nodes/NAME/ESTIMATOR/config.json carries the prototype's own figures, so that its files work unchanged;
`--device NAME` takes the corrected ones. configs/systems/NAME/astra-sim/ has the three files of each of its systems.
"""

import json
import pathlib
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMPAT = ROOT / "data" / "compat" / "prototype"


def text_of(value):
    return json.dumps(value, indent=2) + "\n"


def network_yaml(network):
    """Flow lists with JSON's numbers are YAML as ASTRA-sim reads it."""
    lines = []
    for key in ("topology", "npus_count", "bandwidth", "latency"):
        items = [item if isinstance(item, str) else json.dumps(item) for item in network[key]]
        lines.append(f"{key}: [ {', '.join(items)} ]\n")
    return "".join(lines)


def node_files():
    for path in sorted((COMPAT / "devices").glob("*.json")):
        yield f"nodes/{path.stem}/roofline/config.json", text_of(json.loads(path.read_text()))
    for path in sorted((COMPAT / "nodes").glob("*/*.json")):
        yield f"nodes/{path.parent.name}/{path.stem}/config.json", text_of(json.loads(path.read_text()))


def system_files():
    for path in sorted((ROOT / "data" / "systems").glob("*.json")):
        system = json.loads(path.read_text())
        if "prototype" not in system.get("source", ""):
            continue
        folder = f"systems/{path.stem}/astra-sim"
        yield f"{folder}/network.yml", network_yaml(system["network"])
        yield f"{folder}/system.json", text_of(system["system"])
        yield f"{folder}/remote_memory.json", text_of(system["remote_memory"])
    for path in sorted((COMPAT / "system-variants").glob("*/*.json")):
        yield f"systems/{path.parent.name}/astra-sim/{path.name}", text_of(json.loads(path.read_text()))


def main():
    folder = ROOT / "configs"
    wanted = dict(node_files()) | dict(system_files())
    if "--write" in sys.argv:
        for part in ("nodes", "systems"):
            shutil.rmtree(folder / part, ignore_errors=True)
        for name, text in wanted.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
    there = {str(p.relative_to(folder)): p for part in ("nodes", "systems") for p in (folder / part).rglob("*") if p.is_file()}
    errors = [f"configs/{name} differs from data/" for name in wanted if name not in there or there[name].read_text() != wanted[name]]
    errors += [f"configs/{name} comes from nothing in data/" for name in there if name not in wanted]
    print("\n".join(errors) or f"{len(wanted)} files of configs/ agree with data/")
    if errors:
        print("run: make configs")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
