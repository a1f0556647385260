"""Peak memory of small programs from their optimised HLO against XLA's own `memory_analysis()`, compiled here."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(os.environ["HESPAS_ROOT"])
HESPAS = pathlib.Path(os.environ["HESPAS_BIN"]) / "hespas"
BOUND = 0.05


class Memory(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        python = subprocess.run([ROOT / "scripts/python_env.sh", "export"], capture_output=True, text=True, check=True).stdout.strip()
        cls.kept = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.kept.cleanup)
        cls.folder = pathlib.Path(cls.kept.name)
        subprocess.run([python, ROOT / "tests/whole/small_programs.py", cls.folder], check=True)
        cls.memory = json.loads((cls.folder / "memory.json").read_text())

    def peak(self, name):
        done = subprocess.run([HESPAS, "run", self.folder / name, "--device", "A100_SXM_40GB", "--format", "json"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["peak_memory_bytes"]

    def test_from_optimised_hlo(self):
        self.assertEqual(len(self.memory), 16)
        for name, expected in self.memory.items():
            with self.subTest(name):
                self.assertAlmostEqual(self.peak(f"{name}.hlo") / expected, 1, delta=BOUND)


if __name__ == "__main__":
    unittest.main()
