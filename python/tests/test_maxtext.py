"""`hespas export --maxtext`: MaxText's own step, from a ready size and from a configuration; and what is said where it cannot be."""
import json
import os
import pathlib
import sys
import tempfile
import unittest

import hespas
from common import ROOT, command

MISSING = "MaxText needs Python 3.12 or newer"
CONFIGURATION = """base_config: "base.yml"
base_emb_dim: 256
base_num_query_heads: 2
base_num_kv_heads: 2
base_num_decoder_layers: 3
base_mlp_dim: 512
head_dim: 128
vocab_size: 1024
attention: "dot_product"
decoder_block: "llama2"
per_device_batch_size: 1
scan_layers: False
"""


class MaxText(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)

    def export(self, *arguments):
        done = command("export", *arguments, "--maxtext", "--output", self.folder)
        if MISSING in done.stderr:  # the shipped exports are then held against their manifest: test_shipped.py
            self.assertEqual(done.returncode, 5)
            self.assertIn("HESPAS_PYTHON", done.stderr)
            return {}
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        return {path.name: path for path in map(pathlib.Path, done.stdout.split())}

    def test_ready_sizes_are_the_recorded_exports(self):
        """Lowered, each histogram is the one recorded of MaxText on another machine."""
        for name, record in json.loads((ROOT / "tests/data/exports.json").read_text())["lowered"].items():
            model = name.removesuffix("-4dev-raw")
            for path in self.export(model, "--stage", "lowered").values():
                found = {op.removeprefix("func."): count for op, count in hespas.analyze(path).items()}
                self.assertEqual(found, record["histogram"])
                about = json.loads(pathlib.Path(f"{path}.json").read_text())
                self.assertEqual(about["versions"]["maxtext"], "0.1.0")

    def test_a_configuration_on_a_mesh_of_two_axes(self):
        file = self.folder / "mine.yml"
        file.write_text(CONFIGURATION)
        made = self.export(file, "--axes", "fsdp=2,tensor=2", "--set", "max_target_length=128")
        for name, path in made.items():
            histogram = hespas.analyze(path, expand=True)
            self.assertGreaterEqual(histogram["stablehlo.dot_general"], 3 * 3 * 7, name)
            if "partitioned" in name:
                self.assertGreater(histogram["stablehlo.all_gather"] + histogram["stablehlo.all_reduce"], 0)
                self.assertEqual(hespas.run(path, "A100_SXM_40GB").npus, 4)
        for bad in (["--axes", "sideways=2"], ["--set", "attention=none"]):
            if made:
                done = command("export", file, "--maxtext", *bad, "--output", self.folder)
                self.assertEqual(done.returncode, 5)
                self.assertTrue(done.stderr.startswith("error[E0957]"), done.stderr)

    def test_without_a_new_python(self):
        if sys.version_info >= (3, 12):
            return  # this one would do
        bare = {"HOME": str(self.folder), "PATH": os.path.dirname(sys.executable)}
        done = command("export", "llama3-tiny", "--maxtext", "--output", self.folder, env=bare)
        self.assertEqual(done.returncode, 5)
        self.assertIn(MISSING, done.stderr)
        self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
