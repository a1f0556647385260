"""Options of whole programs as a user gives them: what is wrong or concerns nothing is said, with a remedy."""
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(os.environ["HESPAS_ROOT"])
HESPAS = pathlib.Path(os.environ["HESPAS_BIN"]) / "hespas"
UNPARTITIONED = ROOT / "tests/data/whole/llama3-tiny-4dev-raw.mlir.gz"
PROGRAM = ROOT / "tests/data/optimise/run/llama3-tiny-4dev.mlir.gz"
STEPS = """phase,batch,context,seconds
prefill,1,128,0.01
prefill,1,1024,0.05
decode,1,128,0.01
decode,8,128,0.012
decode,1,2048,0.011
decode,8,2048,0.02
"""


class Case(unittest.TestCase):
    def told(self, status, code, text, *words):
        """The exit status, and a message of that code, text and remedy on stderr; without errors there is an answer."""
        done = subprocess.run([HESPAS, *map(str, words)], capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn(f"[{code}]", done.stderr)
        self.assertIn(text, done.stderr)
        if status:
            self.assertIn("help: ", done.stderr)
        self.assertEqual(bool(done.stdout), status == 0)
        return done.stderr

    def run_told(self, status, code, text, *words):
        return self.told(status, code, text, "run", PROGRAM, "--device", "A100_SXM_40GB", "--cache", "none", *words)


class Run(Case):
    def test_assumptions_that_concern_nothing(self):
        self.run_told(0, "W0987", "no loop", "--trip-count", 5)
        self.run_told(0, "W0987", "no branch with 2 arms", "--branch-probabilities", "0.5,0.5")
        self.run_told(0, "W0987", "no ragged", "--moe-imbalance", 2)

    def test_assumptions_without_sense(self):
        self.run_told(2, "E0941", "add up to 1.1", "--branch-probabilities", "0.5,0.6")
        self.run_told(2, "E0941", "imbalance of 0.5", "--moe-imbalance", 0.5)

    def test_a_rank_has_one_device(self):
        self.run_told(2, "E0943", "NPU 1 has two devices", "--rank-devices", "0-1=H100_80GB", "--rank-devices", "1-2=V100_32GB")

    def test_shardings_that_were_not_applied(self):
        self.told(0, "W0986", "shardings", "run", UNPARTITIONED, "--device", "A100_SXM_40GB")
        self.told(1, "E0545", "shardings", "retarget", UNPARTITIONED, "--devices", 8)

    def test_shards_that_do_not_divide(self):
        self.told(1, "E0545", "do not divide", "retarget", PROGRAM, "--devices", 3)


class Serve(Case):
    def served(self, status, code, text, table, *words):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "steps.csv"
            path.write_text(table)
            return self.told(status, code, text, "serve-estimate", path, *words)

    def test_tables(self):
        self.served(1, "E0944", "no column `context`", "phase,batch,seconds\ndecode,1,1\n")
        self.served(1, "E0944", "no row of a decode step", "phase,batch,context,seconds\nprefill,1,128,0.01\n")
        every = self.served(1, "E0944", "`x` is no time of a prefill step",
                            "phase,batch,context,seconds\nprefill,1,128,x\ndecode,1,1,-1\nfoo,1,1,1\ndecode,0,1,1\ndecode,1,-1,1\n")
        for line in range(2, 7):
            self.assertIn(f"steps.csv:{line}:", every)

    def test_options(self):
        for words, text in ((("--rate", "0"), "rate"), (("--prompt", "foo:5"), "--prompt: `foo:5`"), (("--output", "0"), "--output: `0`"),
                            (("--max-batch", "0"), "batch"), (("--requests", "10", "--warm-up", "10"), "warm-up")):
            self.served(2, "E0945", text, STEPS, *words)

    def test_what_the_answer_cannot_tell(self):
        self.served(0, "W0988", "beyond the table", STEPS, "--rate", 1, "--prompt", 100000, "--output", 4)
        self.served(0, "W0989", "faster than they are answered", STEPS, "--rate", 1000, "--prompt", 512, "--output", 64)


if __name__ == "__main__":
    unittest.main()
