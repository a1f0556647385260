"""The published JSON Schemas: everything that ships is valid, misspelt keys are not, and the program agrees with the schema.

Runs in the environment of python/locks/schemas.txt.
"""
import copy
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import jsonschema

ROOT = pathlib.Path(os.environ["HESPAS_ROOT"])
HESPAS = pathlib.Path(os.environ["HESPAS_BIN"]) / "hespas"
PROGRAM = ROOT / "tests/data/fixtures/test_no_comm_graph.mlir.gz"

FILES = {
    "device": sorted((ROOT / "data/devices").glob("*.json")),
    "system": sorted((ROOT / "data/systems").glob("*.json")),
    "configuration": sorted((ROOT / "configs/nodes").glob("*/*/config.json")),
}


def validator(name):
    schema = json.loads((ROOT / f"data/schemas/{name}.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def accepted(name, content):
    """Whether the program takes a file of that kind."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "file.json"
        path.write_text(json.dumps(content))
        words = ["check", path] if name != "configuration" else ["run", PROGRAM, "--print-config", "--config", path]
        return subprocess.run([HESPAS, *words], capture_output=True, check=False).returncode == 0


class Schemas(unittest.TestCase):
    def test_all_that_ships_is_valid(self):
        for name, paths in FILES.items():
            schema = validator(name)
            self.assertTrue(paths, name)
            for path in paths:
                schema.validate(json.loads(path.read_text()))

    def test_schema_and_program_refuse_unknown_keys(self):
        for name, paths in FILES.items():
            content = json.loads(paths[0].read_text())
            self.assertTrue(accepted(name, content), paths[0])
            broken = copy.deepcopy(content) | {"memory_bandwith": 1}
            self.assertFalse(validator(name).is_valid(broken), name)
            self.assertFalse(accepted(name, broken), name)

    def test_one_value_stands_for_a_list_of_one(self):
        schema = validator("system")
        network = {"topology": "Switch", "npus_count": 8, "bandwidth": "450 GB/s", "latency": "1 us"}
        for changed, valid in (({}, True), ({"bandwidth": 450, "latency": 1000}, True), ({key: [value] for key, value in network.items()}, True),
                               ({"topology": "Sitch"}, False), ({"npus_count": "8"}, False), ({"bandwidth": -1}, False), ({"latency": {}}, False)):
            content = {"network": network | changed, "system": {}}
            self.assertEqual(schema.is_valid(content), valid, changed)
            self.assertEqual(accepted("system", content), valid, changed)

    def test_the_program_takes_every_key_of_the_configuration(self):
        schema = validator("configuration").schema
        examples = {"string": "text", "boolean": True, "integer": 4}
        for key, rule in schema["properties"].items():
            if key in ("perf_estimator", "separator_node_type"):
                continue
            value = rule["const"] if "const" in rule else rule["enum"][0] if "enum" in rule else examples[rule["type"]]
            value = {"split_strategy": "Linear_Split", "device": "TPUv3", "system": "TPUv3_2"}.get(key, value)
            validator("configuration").validate({key: value})
            self.assertTrue(accepted("configuration", {key: value}), key)


if __name__ == "__main__":
    unittest.main()
