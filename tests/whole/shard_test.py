"""`hespas shard`: candidates made by XLA's partitioner equal the export of that mesh; bad input is refused before any work."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(os.environ["HESPAS_ROOT"])
HESPAS = pathlib.Path(os.environ["HESPAS_BIN"]) / "hespas"
PROGRAM = ROOT / "tests/data/whole/llama3-tiny-4dev-raw.mlir.gz"
EXPORTED = ROOT / "tests/data/optimise/run/llama3-tiny-4dev.mlir.gz"
DEVICE = ("--device", "A100_SXM_40GB")


def shard(*words):
    return subprocess.run([HESPAS, "shard", *map(str, words)], capture_output=True, text=True, timeout=900)


class Candidates(unittest.TestCase):
    def test_they_are_ranked_and_equal_to_the_export_of_their_mesh(self):
        with tempfile.TemporaryDirectory() as folder:
            done = shard(PROGRAM, "--devices", 4, "--axes", "fsdp,tensor", "--mesh", "fsdp=2,nonsense=2", *DEVICE, "--format", "json", "--output", folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            rows = json.loads(done.stdout)
            self.assertEqual(len(list(pathlib.Path(folder).glob("*.mlir.gz"))), 3)
        self.assertEqual({row["mesh"] for row in rows}, {"fsdp=4", "fsdp=2,tensor=2", "tensor=4", "fsdp=2,nonsense=2"})
        self.assertIn("no axis `nonsense`", rows[-1]["error"])
        times = [row["step_time_s"] for row in rows[:-1]]
        self.assertEqual(times, sorted(times))
        own = subprocess.run([HESPAS, "run", EXPORTED, *DEVICE, "--format", "json"], capture_output=True, text=True, check=True)
        expected = json.loads(own.stdout)
        found = next(row for row in rows if row["mesh"] == "fsdp=4")
        for key in ("step_time_s", "compute_time_s", "exposed_communication_s"):
            self.assertEqual(found[key], expected[key])


class BadInput(unittest.TestCase):
    def refused(self, status, text, *words):
        done = shard(*words, *DEVICE)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn(text, done.stderr)
        self.assertIn("help:" if status == 2 else "error", done.stderr)

    def test_words_without_meaning(self):
        self.refused(2, "AXIS=SIZE", PROGRAM, "--mesh", "fsdp")
        self.refused(2, "nothing to partition", PROGRAM, "--mesh", "fsdp=1")
        self.refused(2, "nothing to partition", PROGRAM, "--devices", 1, "--axes", "fsdp")
        self.refused(2, "which shardings", PROGRAM)
        self.refused(2, "which shardings", PROGRAM, "--devices", 4)
        self.refused(1, "no file", "nowhere.mlir", "--mesh", "fsdp=4")


if __name__ == "__main__":
    unittest.main()
