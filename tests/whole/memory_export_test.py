"""Peak memory from plain exports against the totals of XLA's buffer assignment for GPUs (tests/data/whole/xla_memory.csv)."""
import csv
import json
import os
import pathlib
import subprocess
import unittest

ROOT = pathlib.Path(os.environ["HESPAS_ROOT"])
HESPAS = pathlib.Path(os.environ["HESPAS_BIN"]) / "hespas"
BOUND = 0.10


class MemoryOfExports(unittest.TestCase):
    def test_totals(self):
        with open(ROOT / "tests/data/whole/xla_memory.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 15)
        for row in rows:
            with self.subTest(row["program"], device=row["device"]):
                places = (ROOT / f"data/workloads/{row['program']}.mlir.zst", ROOT / f"tests/data/whole/{row['program']}.mlir.gz")
                program = next(filter(pathlib.Path.exists, places))
                command = [HESPAS, "run", program, "--device", row["device"], "--network-backend", "none", "--format", "json", "-q"]
                result = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
                self.assertAlmostEqual(result["peak_memory_bytes"] / int(row["total_bytes"]), 1, delta=BOUND)


if __name__ == "__main__":
    unittest.main()
