"""Golden shapes of every file format that we write or read: tests/data/formats/NAME.json holds its version, and each key with its type.

A key that goes away or changes its type without a new `schema_version` is an error that no option hides; new keys (which readers ignore) and new
versions are written down by `HESPAS_BIN=build/release/bin HESPAS_ROOT=. tests/formats/formats_test.py --write`.
"""
import contextlib
import json
import pathlib
import re
import sqlite3
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from command import LLAMA, ROOT, run  # noqa: E402

GOLDENS = ROOT / "tests/data/formats"
MACHINE = ["--device", "A100_SXM_40GB", "--system", "A100_SXM_40GB_4GPU"]
MAPS = {"per_module", "ops", "terms", "facts", "families", "input_hashes", "systems"}  # whose keys are data
INPUTS = ["configuration", "device", "ranks", "sweep", "system"]  # read; `hespas schema` prints what is accepted


def shape(value, path=""):
    """Lines `path: type` of a JSON value; members of a list are taken together."""
    if isinstance(value, dict):
        named = [("*" if path.split(".")[-1] in MAPS else key, member) for key, member in value.items()]
        return {line for key, member in named for line in shape(member, f"{path}.{key}" if path else key)}
    if isinstance(value, list):
        return {f"{path}: list"} | {line for member in value for line in shape(member, f"{path}[]")}
    kind = "boolean" if isinstance(value, bool) else "number" if isinstance(value, (int, float)) else type(value).__name__
    return {f"{path}: {kind}"}


def accepted(schema, definitions, path=""):
    """The same of what a JSON Schema lets in."""
    lines = set()
    target = schema.get("$ref", "")
    if target.startswith("#/$defs/") and path.count(".") < 6:
        return accepted(definitions[target.removeprefix("#/$defs/")], definitions, path)
    for key, member in schema.get("properties", {}).items():
        kind = member.get("type") or member.get("$ref") or sorted(set(member) - {"description"})
        lines.add(f"{path}{key}: {kind}")
        for way in (member, *member.get("anyOf", [])):
            if "type" in way:
                lines.add(f"{path}{key}: {way['type']}")
            lines |= accepted(way, definitions, f"{path}{key}.")
    if isinstance(schema.get("items"), dict):
        lines |= accepted(schema["items"], definitions, f"{path}[].")
    return lines


class Made:
    """What the commands write, once."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "sweep.json").write_text(json.dumps({
            "base": {"program": str(LLAMA), "device": MACHINE[1], "system": MACHINE[3]}, "axes": {"device.tdp": ["300 W", "400 W"]}}))
        self.call("run", LLAMA, *MACHINE, "--output", "out", "--cache", "cache.sqlite", "--quiet")
        self.call("trace", LLAMA, *MACHINE[:2], "--num-npus", "8", "--rank-classes", "--output", "many", "--quiet")
        self.call("sweep", "sweep.json", "--output", "swept", "--quiet")

    def call(self, *words):
        done = run(*words, cwd=self.folder)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def documents(self):
        """Name, version and shape of each format."""
        def file(path):
            return json.loads((self.folder / path).read_text())

        def printed(*words):
            return json.loads(self.call(*words, "--format", "json", "--quiet"))

        def experiment(*words):
            return json.loads(self.call("experiment", *words, "--no-figure", "--format", "json"))
        objects = {
            "result": file("out/result.json"), "module_stats": file("out/module_stats.json"), "ranks_manifest": file("many/dev.ranks.json"),
            "sweep_manifest": file("swept/sweep.json"), "calibration": json.loads((ROOT / "data/models/calibrated.json").read_text()),
            "optimise": printed("optimise", LLAMA, *MACHINE[:2]), "explain": printed("explain", LLAMA, "1", *MACHINE),
            "compare": printed("compare", LLAMA, "--device", "H100_80GB,TPUv5p", "--system", MACHINE[3]),
            "experiment_steps": experiment("llama3", "--workloads", "llama3-100m,llama3-200m", "--systems", f"{MACHINE[3]},H100_80GB_4GPU"),
            "experiment_kernels": experiment("gemm_sweep", "--sources", "Calibrated"),
            "simulate": printed("simulate", "--workload-configuration=out/dev", "--comm-group-configuration=out/comm_group.json", *MACHINE[2:]),
        }
        for name, value in objects.items():
            yield name, value["schema_version"], shape(value)
        with open(self.folder / "swept/rows.jsonl", encoding="utf-8") as rows:
            yield "sweep_rows", file("swept/sweep.json")["schema_version"], set().union(*(shape(json.loads(row)) for row in rows))
        for name in INPUTS:
            schema = json.loads(self.call("schema", name))
            yield f"{name}_file", schema["properties"]["schema_version"]["const"], accepted(schema, schema.get("$defs", {}))
        with contextlib.closing(sqlite3.connect(self.folder / "cache.sqlite")) as cache:
            tables = cache.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
            value = cache.execute("SELECT value FROM estimates ORDER BY key LIMIT 1").fetchone()[0]
            text = bytes(value).decode() if isinstance(value, bytes) else value
            layout = re.sub(r"-?[0-9][0-9.e+-]*", "N", text)
            layout = re.sub(r'\["[^"]+",N\](,\["[^"]+",N\])*', '["TERM",N]', layout)  # which terms depends on the op
            yield "cache", cache.execute("PRAGMA user_version").fetchone()[0], {table[0] for table in tables} | {f"value: {layout}"}


def made():
    with tempfile.TemporaryDirectory() as place:
        yield from Made(pathlib.Path(place)).documents()


def fault(golden, version, lines):
    """Why a format does not agree with its golden."""
    gone, new = sorted(set(golden["keys"]) - lines), sorted(lines - set(golden["keys"]))
    if version == golden["schema_version"] and gone:
        return f"without a new schema_version these went away or changed: {gone}"
    if version < golden["schema_version"]:
        return "the version fell"
    return f"new, write the golden: {new}" if new or version != golden["schema_version"] else ""


class Formats(unittest.TestCase):
    def test_no_format_changes_without_a_version(self):
        seen = set()
        for name, version, lines in made():
            seen.add(name)
            with self.subTest(name):
                golden = json.loads((GOLDENS / f"{name}.json").read_text())
                self.assertEqual(fault(golden, version, lines), "")
        self.assertEqual(seen, {path.stem for path in GOLDENS.glob("*.json")})

    def test_the_check_tells_changes(self):
        golden = {"schema_version": 1, "keys": ["a: number", "b: str"]}
        self.assertEqual(fault(golden, 1, {"a: number", "b: str"}), "")
        self.assertIn("went away", fault(golden, 1, {"a: str", "b: str"}))
        self.assertIn("write the golden", fault(golden, 1, {"a: number", "b: str", "c: str"}))
        self.assertIn("write the golden", fault(golden, 2, {"a: number"}))

    def test_unknown_versions_are_refused(self):
        sweep = {"base": {"program": str(LLAMA), "device": MACHINE[1]}, "axes": {"device.tdp": ["300 W"]}}
        system = json.loads((ROOT / "data/systems/A100_SXM_40GB_4GPU.json").read_text())
        cases = {"device": ({"peak_flops": 1e12, "memory_bandwidth": 1e12}, ["check", "FILE"]), "sweep": (sweep, ["sweep", "FILE"]),
                 "system": (system, ["check", "FILE"]), "configuration": ({"mlir_file": str(LLAMA), "device": MACHINE[1]}, ["run", "--config", "FILE"])}
        for kind, (content, words) in cases.items():
            for version, wanted in ((1, 0), (2, 1), ("1", 1)):
                with self.subTest(kind, version=version), tempfile.TemporaryDirectory() as folder:
                    file = pathlib.Path(folder, f"{kind}.json")
                    file.write_text(json.dumps({**content, "schema_version": version}))
                    done = run(*[file if word == "FILE" else word for word in words])
                    self.assertEqual(done.returncode != 0, bool(wanted), done.stderr)
                    if wanted:
                        self.assertRegex(done.stderr, r"error\[E0803\].*schema_version")


def write():
    for name, version, lines in made():
        path = GOLDENS / f"{name}.json"
        why = fault(json.loads(path.read_text()), version, lines) if path.exists() else ""
        if "went away" in why or "fell" in why:
            sys.exit(f"{name}: {why}")
        path.write_text(json.dumps({"schema_version": version, "keys": sorted(lines)}, indent=1) + "\n")


if __name__ == "__main__":
    write() if sys.argv[1:] == ["--write"] else unittest.main()
