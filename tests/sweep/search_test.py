"""`hespas sweep --search`: what it finds, what it says it tried. Runs in the environment of python/locks/sweep.txt."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from cluster import BIN, ENVIRONMENT, ROOT

FILE = {"base": {"program": "examples/llama3-100m-4dev.mlir.gz"},
        "axes": {"device": ["A100_SXM_40GB", "H100_80GB", "A40_48GB", "MI300X"],
                 "system.bandwidth": {"from": "50 GB/s", "to": "800 GB/s", "steps": 16},
                 "system.latency": {"from": "1 us", "to": "16 us", "steps": 16}}}
POINTS = 4 * 16 * 16


class SearchTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.NamedTemporaryFile("w", suffix=".json", delete=False) as file:
            json.dump(FILE, file)
        cls.path = file.name
        lines = subprocess.run([BIN, "sweep", cls.path, "--format", "jsonl"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        cls.rows = [json.loads(line) for line in lines.splitlines()]

    @classmethod
    def tearDownClass(cls):
        os.unlink(cls.path)

    def search(self, *words, path=None):
        script = pathlib.Path(ROOT) / "python/sweep/sweep.py"
        return subprocess.run([sys.executable, script, path or self.path, *map(str, words), "--format", "json"], cwd=ROOT, env=os.environ | ENVIRONMENT,
                              capture_output=True, text=True, timeout=600, check=False)

    def answer(self, *words):
        done = self.search(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout)
        self.assertEqual(found["points"], POINTS)
        self.assertEqual(found["not_tried"], POINTS - found["tried"])
        return found

    def test_exhaustive_search_finds_the_best(self):
        found = self.answer("--search", "exhaustive")
        self.assertEqual(found["tried"], POINTS)
        self.assertEqual(found["best"]["step_time_ps"], min(row["step_time_ps"] for row in self.rows))

    def test_others_come_near_with_a_tenth_of_the_points(self):
        best = min(row["step_time_ps"] for row in self.rows)
        for method in ("bayesian", "halving"):
            with self.subTest(method):
                found = self.answer("--search", method, "--trials", 96, "--seed", 1)
                self.assertLessEqual(found["tried"], 96)
                self.assertLessEqual(found["best"]["step_time_ps"], 1.02 * best)
                exact = [row for row in self.rows if all(row[axis] == found["best"][axis] for axis in FILE["axes"])]
                self.assertEqual([row["step_time_ps"] for row in exact], [found["best"]["step_time_ps"]])

    def test_constraints_hold(self):
        allowed = min(row["energy_all_devices_j"] for row in self.rows) * 1.05
        condition = f"energy_all_devices < {allowed}"
        best = min(row["step_time_ps"] for row in self.rows if row["energy_all_devices_j"] < allowed)
        self.assertEqual(self.answer("--search", "exhaustive", "--subject-to", condition)["best"]["step_time_ps"], best)
        found = self.answer("--search", "bayesian", "--trials", 96, "--seed", 1, "--subject-to", condition)
        self.assertLess(found["best"]["energy_all_devices_j"], allowed)
        self.assertGreaterEqual(found["best"]["step_time_ps"], best)
        self.assertIsNone(self.answer("--search", "bayesian", "--trials", 8, "--subject-to", "step_time < 1 ns")["best"])

    def test_equal_seeds_give_equal_answers(self):
        first, again = (self.answer("--search", "bayesian", "--trials", 24, "--seed", 5) for _ in range(2))
        self.assertEqual(first, again)

    def test_bad_input(self):
        for words, text in ((("--search", "guess"), "invalid choice"), (("--search", "bayesian", "--trials", 0), "at least 1"),
                            (("--search", "bayesian", "--subject-to", "speed > 1"), "there is no setting or result `speed`"), (("--on", "kubernetes"), "no engine"),
                            (("--on", "ray"), "--output")):
            done = self.search(*words)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(text, done.stderr)


if __name__ == "__main__":
    unittest.main()
