"""The console scripts of the wheel."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import hespas
from common import EXAMPLE, MATMUL, SCRIPTS, command, command_json


class Commands(unittest.TestCase):
    def test_no_compiler_is_in_reach(self):
        for compiler in ("gcc", "g++", "cc", "clang", "cmake", "ninja"):
            self.assertIsNone(shutil.which(compiler), compiler)

    def test_the_wheel_brings_its_libraries(self):
        libraries = pathlib.Path(hespas.__file__).parent.parent / "hespas.libs"
        self.assertTrue(any(path.name.startswith("libfmt") for path in libraries.iterdir()))

    def test_versions_agree(self):
        self.assertEqual(command("--version").stdout.split()[1], hespas.__version__)

    def test_the_first_run_needs_no_file(self):
        result = command_json("run", EXAMPLE, "--device", "A100_SXM_40GB", "--system", "auto")
        self.assertEqual(result["system"], "A100_SXM_40GB_4GPU")

    def test_the_prototypes_commands_are_there(self):
        done = subprocess.run([SCRIPTS / "hespas_mlir_analyzer", EXAMPLE], capture_output=True, text=True)
        self.assertIn("MLIR Analysis Results", done.stdout)
        for name in ("hespas_chakra_gen", "hespas_mlir_splitter"):
            self.assertEqual(subprocess.run([SCRIPTS / name, "-h"], capture_output=True).returncode, 0)

    def test_stubs_are_there(self):
        folder = pathlib.Path(hespas.__file__).parent
        self.assertTrue((folder / "py.typed").exists())
        self.assertIn("def run(", (folder / "_core.pyi").read_text())

    def test_exit_statuses_pass_through(self):
        self.assertEqual(command("run", "no/such.mlir", "--device", "H100_80GB").returncode, 1)
        self.assertEqual(command("runn").returncode, 2)


class Doctor(unittest.TestCase):
    def test_it_lists_estimators_and_tools(self):
        rows = {row["what"]: row for row in command_json("doctor")}
        self.assertEqual(str(rows["hespas"]["version"]), hespas.__version__)
        self.assertEqual(rows["estimator roofline"]["state"], "ok")
        self.assertIn(rows["IREE compiler"]["state"], ("ok", "missing"))

    def test_a_missing_tool_says_how_to_get_it(self):
        with tempfile.TemporaryDirectory() as empty:
            done = command("doctor", "--format", "json", env={**os.environ, "PATH": f"{SCRIPTS}:{empty}"})
        rows = {row["what"]: row for row in json.loads(done.stdout)}
        self.assertEqual(rows["IREE compiler"]["state"], "missing")
        self.assertIn("pip install", rows["IREE compiler"]["note"])


class Anonymise(unittest.TestCase):
    SECRET = """module @secret_model attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @secret_mesh = <["secret_axis"=4]>
  func.func public @main(%arg0: tensor<64x64xf32> {jax.result_info = "secret_result", sdy.sharding = #sdy.sharding<@secret_mesh, [{"secret_axis"}, {}]>}) -> tensor<64x64xf32> {
    %0 = stablehlo.constant dense<3.14159> : tensor<64x64xf32>
    %1 = call @secret_function(%arg0, %0) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> loc("secret/file.py":3:4)
    return %1 : tensor<64x64xf32>
  }
  func.func private @secret_function(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    return %0 : tensor<64x64xf32>
  }
}
"""

    def anonymised(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "program.mlir"
            path.write_text(text)
            done = command("anonymise", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_no_name_location_or_constant_is_left(self):
        text = self.anonymised(self.SECRET)
        self.assertNotIn("secret", text)
        self.assertNotIn("3.14159", text)
        self.assertEqual(hespas.load(text).analyze(expand=True)["stablehlo.dot_general"], 1)
        # As programs of one device: this one is global, and no partitioner is at hand here.
        alone = [program.replace("mhlo.num_partitions = 4", "mhlo.num_partitions = 1") for program in (text, self.SECRET)]
        self.assertEqual(hespas.estimate(alone[0]).time_ps, hespas.estimate(alone[1]).time_ps)

    def test_the_same_answer_for_a_real_program(self):
        text = command("anonymise", EXAMPLE).stdout
        before, after = hespas.run(EXAMPLE, "A100_SXM_40GB"), hespas.run(text, "A100_SXM_40GB")
        self.assertEqual(before.step_time_ps, after.step_time_ps)
        self.assertEqual(before.ops, after.ops)

    def test_twice_is_once(self):
        once = self.anonymised(MATMUL)
        self.assertEqual(self.anonymised(once), once)


if __name__ == "__main__":
    unittest.main()
