"""Options of whole programs as a user gives them: what is wrong or concerns nothing is said, with a remedy."""
import json
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
        self.run_told(0, "W0987", "no conditional with 2 branches", "--branch-probabilities", "0.5,0.5")
        self.run_told(0, "W0987", "no ragged", "--moe-imbalance", 2)

    def test_assumptions_without_sense(self):
        self.run_told(2, "E0941", "add up to 1.1", "--branch-probabilities", "0.5,0.6")
        self.run_told(2, "E0941", "--moe-imbalance 0.5 is below 1", "--moe-imbalance", 0.5)

    def test_a_rank_has_one_device(self):
        self.run_told(2, "E0943", "NPU 1 has two devices", "--rank-devices", "0-1=H100_80GB", "--rank-devices", "1-2=V100_32GB")

    def test_shardings_that_were_not_applied(self):
        self.told(5, "E0986", "shardings have not been applied", "run", UNPARTITIONED, "--device", "A100_SXM_40GB", "--no-partition")
        self.told(1, "E0545", "shardings", "retarget", UNPARTITIONED, "--devices", 8)

    def test_shards_that_do_not_divide(self):
        self.told(1, "E0545", "do not divide", "retarget", PROGRAM, "--devices", 3)


class MeshAxes(Case):
    """Replica groups by axes of a mesh, as StableHLO's specification writes them: no JAX at hand exports them."""
    PROGRAM = """module @m attributes {mhlo.num_partitions = 8 : i32} {
      sdy.mesh @mesh = <["x"=2, "y"=4]>
      func.func @main(%x: tensor<16x8xf32>) -> tensor<64x8xf32> {
        %g = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
          use_global_device_ids, replica_groups = GROUPS}> : (tensor<16x8xf32>) -> tensor<64x8xf32>
        return %g : tensor<64x8xf32>
      }
    }"""
    BY_PARTS = ("#stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = \"x\">, "
                "#stablehlo.axis_ref<name = \"y\", sub_axis_info = (1)2>]>")
    INLINE = "#stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [<name = \"x\", size = 2>, <name = \"y\", size = 4>]>, axes = [1 : i64]>"

    def with_groups(self, groups, *words):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "axes.mlir"
            path.write_text(self.PROGRAM.replace("GROUPS", groups))
            return subprocess.run([HESPAS, words[0], path, *words[1:]], capture_output=True, text=True, timeout=300)

    def test_they_are_the_groups_that_they_name(self):
        options = ("run", "--device", "H100_80GB", "--format", "json", "-q")
        for groups, dense in ((self.BY_PARTS, "[[0,2,4,6],[1,3,5,7]]"), (self.INLINE, "[[0,1,2,3],[4,5,6,7]]")):
            by_axes, by_list = (json.loads(self.with_groups(each, *options).stdout) for each in (groups, f"dense<{dense}> : tensor<2x4xi64>"))
            self.assertEqual(by_axes["npus"], 8)
            self.assertEqual(by_axes["collectives"], by_list["collectives"])
            self.assertIn(groups, self.with_groups(groups, "print").stdout)

    def test_axes_that_are_not_there(self):
        for groups in (self.BY_PARTS.replace("(1)2", "(3)2"), self.BY_PARTS.replace('"y"', '"z"'), self.BY_PARTS.replace("@mesh", "@other")):
            done = self.with_groups(groups, "run", "--device", "H100_80GB")
            self.assertEqual(done.returncode, 1)
            self.assertIn("[E0408]" if "@other" in groups else "[E0603]", done.stderr)
            self.assertIn("help: ", done.stderr)


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

    def test_hardware_that_no_row_needs(self):
        self.served(2, "E0806", "no device is called `A10_SXM_80GB`", STEPS, "--device", "A10_SXM_80GB")
        self.served(2, "E0806", "no system is called `moon`", STEPS, "--system", "moon")
        self.served(1, "E0001", "no/such.json", STEPS, "--system", "no/such.json")

    def test_what_the_answer_cannot_tell(self):
        self.served(0, "W0988", "beyond the table", STEPS, "--rate", 1, "--prompt", 100000, "--output", 4)
        self.served(0, "W0989", "faster than they are answered", STEPS, "--rate", 1000, "--prompt", 512, "--output", 64)


if __name__ == "__main__":
    unittest.main()
