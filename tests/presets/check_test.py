"""`hespas check` accepts what ships and places what is wrong; `hespas schema` prints what may stand in a file."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

HESPAS = pathlib.Path(os.environ["HESPAS_BIN"]) / "hespas"
ROOT = pathlib.Path(os.environ["HESPAS_ROOT"])


def hespas(*arguments):
    return subprocess.run([HESPAS, *arguments], capture_output=True, text=True, check=False)


class Check(unittest.TestCase):
    def test_everything_that_ships_is_good(self):
        paths = [*(ROOT / "data/devices").glob("*.json"), *(ROOT / "data/systems").glob("*.json")]
        paths += [ROOT / "configs/systems/TPUv3_4_2/astra-sim", ROOT / "examples/llama3-100m-4dev.mlir.gz"]
        for path in paths:
            done = hespas("check", path)
            self.assertEqual((done.returncode, done.stderr), (0, ""), path)

    def test_defects_are_placed(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "chip.json"
            path.write_text('{\n  "peak_flops": "312 TFLOP/s",\n  "memory_bandwith": "1 TB/s"\n}\n')
            done = hespas("check", path)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"{path}:3:3: error[E0802]: unknown key `memory_bandwith`", done.stderr)
            self.assertIn("did you mean `memory_bandwidth`?", done.stderr)
            self.assertIn("error[E0804]: `memory_bandwidth` is missing", done.stderr)

    def test_schemas_are_listed_and_printed(self):
        names = hespas("schema").stdout.split()
        self.assertIn("device", names)
        self.assertIn("system", names)
        for name in names:
            self.assertIn("$schema", json.loads(hespas("schema", name).stdout))
        wrong = hespas("schema", "devise")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("did you mean `device`?", wrong.stderr)


if __name__ == "__main__":
    unittest.main()
