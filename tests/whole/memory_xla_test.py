"""Peak memory of small programs against XLA's own `memory_analysis()`, compiled here: from the optimised HLO, and from what JAX exports."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(os.environ["HESPAS_ROOT"])
HESPAS = pathlib.Path(os.environ["HESPAS_BIN"]) / "hespas"
OPTIMISED, EXPORTED = 0.05, 0.10


class Memory(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        python = subprocess.run([ROOT / "scripts/python_env.sh", "export"], capture_output=True, text=True, check=True).stdout.strip()
        cls.kept = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.kept.cleanup)
        cls.folder = pathlib.Path(cls.kept.name)
        subprocess.run([python, ROOT / "tests/whole/small_programs.py", cls.folder], check=True)
        cls.memory = json.loads((cls.folder / "memory.json").read_text())

    def peak(self, name, *options):
        done = subprocess.run([HESPAS, "run", self.folder / name, "--device", "A100_SXM_40GB", "--format", "json", *options], capture_output=True,
                              text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["peak_memory_bytes"]

    def check(self, suffix, bound, *options):
        self.assertEqual(len(self.memory), 28)
        for name, expected in self.memory.items():
            with self.subTest(name):
                self.assertAlmostEqual(self.peak(f"{name}.{suffix}", *options) / expected, 1, delta=bound)

    def test_from_optimised_hlo(self):
        self.check("hlo", OPTIMISED)

    def test_from_the_export(self):
        self.check("mlir", EXPORTED, "--optimise", "xla-cpu")


if __name__ == "__main__":
    unittest.main()
