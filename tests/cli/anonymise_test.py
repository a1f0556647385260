"""`hespas anonymise`: what names a model goes, what it costs stays."""

import pathlib
import re
import tempfile
import unittest

import command

SECRET = """module @secret_model {
  func.func public @main(%weights: tensor<8x8xf32> {jax.result_info = "secret_weights"}) -> (tensor<8x8xf32>) {
    %0 = stablehlo.constant dense<3.14159> : tensor<8x8xf32> loc("secret.py":1:2)
    %1 = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
    %2 = func.call @secret_layer(%weights, %0) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %3 = stablehlo.custom_call @their_kernel(%2) {backend_config = "secret_config"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    return %3 : tensor<8x8xf32>
  }
  func.func private @secret_layer(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> tensor<8x8xf32> {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
}
"""


class Anonymise(unittest.TestCase):
    def anonymised(self, program, stdin=None):
        done = command.run("anonymise", program, stdin=stdin)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def step_ps(self, program, stdin=None):
        return command.result("run", program, "--device", "A100_SXM_80GB", "-q", stdin=stdin)["step_time_ps"]

    def test_names_locations_and_values_go(self):
        text = self.anonymised("-", SECRET)
        self.assertNotRegex(text, "secret|3[.]14")
        self.assertIn("dense<[[1, 2], [3, 4]]>", text)  # small integers may be indices
        self.assertIn("their_kernel", text)  # says what a call computes
        self.assertEqual(len(set(re.findall(r"callee = @(\w+)", text))), 1)
        self.assertEqual(self.step_ps("-", SECRET), self.step_ps("-", text))

    def test_a_training_step_costs_the_same(self):
        text = self.anonymised(command.LLAMA)
        self.assertNotIn("train_step", text)
        self.assertEqual(self.step_ps(command.LLAMA), self.step_ps("-", text))

    def test_into_a_file_or_a_clear_error(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "report.mlir"
            self.assertEqual(command.run("anonymise", "-", "--output", path, stdin=SECRET).returncode, 0)
            self.assertEqual(path.read_text(), self.anonymised("-", SECRET))
            missing = command.run("anonymise", "-", "--output", pathlib.Path(folder) / "none" / "report.mlir", stdin=SECRET)
            self.assertNotEqual(missing.returncode, 0)
            self.assertIn("error[", missing.stderr)


if __name__ == "__main__":
    unittest.main()
