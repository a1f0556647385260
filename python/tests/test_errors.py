"""What goes wrong, and how it is told."""
import pathlib
import pickle
import tempfile
import unittest

import hespas
from common import EXAMPLE, MATMUL, command


class Errors(unittest.TestCase):
    def test_a_defect_has_code_place_and_text(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "bad.mlir"
            path.write_text(MATMUL.replace("tanh %0", "tanh %7"))
            with self.assertRaises(hespas.InputError) as caught:
                hespas.load(path)
            shown = command("analyze", path)
        error = caught.exception
        self.assertIn(f"{error.location}: error[{error.code}]: {error.message}", shown.stderr)
        self.assertEqual(shown.returncode, error.exit_status)
        self.assertEqual((error.file, error.line), (str(path), 4))

    def test_all_errors_of_an_input_are_there(self):
        with self.assertRaises(hespas.InputError) as caught:
            hespas.Device(name="x", peak_flops="312 bananas", memory_bandwith="1 TB/s")
        self.assertGreaterEqual(len(caught.exception.errors), 2)
        self.assertIn("memory_bandwidth", str(caught.exception))

    def test_classes_mirror_codes_and_exit_statuses(self):
        with self.assertRaises(hespas.errors.E0806) as caught:
            hespas.run(MATMUL, "A100_SXM_40G")
        self.assertIsInstance(caught.exception, hespas.UsageError)
        self.assertIsInstance(caught.exception, ValueError)
        self.assertIn("A100_SXM_40GB", caught.exception.help)
        self.assertEqual(hespas.errors.explain("E0806"), type(caught.exception).__doc__)
        self.assertEqual(pickle.loads(pickle.dumps(caught.exception)).code, "E0806")
        with self.assertRaises(AttributeError):
            hespas.errors.E9999

    def test_missing_files(self):
        with self.assertRaises(hespas.errors.E0001):
            hespas.load("no/such/file.mlir")

    def test_objects_that_are_no_programs(self):
        for source in (None, 3, [], {}, object()):
            with self.subTest(source), self.assertRaises(hespas.errors.E0950):
                hespas.load(source)

    def test_a_function_must_be_lowered(self):
        def step(x):
            return x

        with self.assertRaises(hespas.errors.E0951) as caught:
            hespas.estimate(step)
        self.assertIn("jax.jit(step).lower", str(caught.exception))

    def test_dynamic_shapes_are_told(self):
        dynamic = MATMUL.replace("256x", "?x")
        result = hespas.estimate(dynamic)
        self.assertIn("dynamic", " ".join(warning.message for warning in result.warnings))

    def test_a_program_without_collectives_on_a_network_is_told(self):
        result = hespas.run(MATMUL, "A100_SXM_40GB", "A100_SXM_40GB_4GPU")
        self.assertIn("W0901", [warning["code"] for warning in result.warnings])

    def test_bytecode_newer_than_known(self):
        # MLIR bytecode, version 99
        with self.assertRaises(hespas.HespasError) as caught:
            hespas.load(b"ML\xefR" + bytes([(99 << 1) | 1]) + b"future\x00" + bytes(64))
        self.assertIn("99", str(caught.exception))

    def test_program_and_network_of_different_size(self):
        with self.assertRaises(hespas.errors.E0906):
            hespas.run(EXAMPLE, "A100_SXM_40GB", "A100_SXM_40GB_8GPU")

    def test_choices_are_named(self):
        for arguments, word in (({"optimise": "tpu"}, "xla-tpu"), ({"split": "cubic"}, "linear"), ({"compat": "astra"}, "prototype"),
                                ({"clock": "sun"}, "wall"), ({"sample": -1}, "at least 0"), ({"budget": 0}, "above 0")):
            with self.subTest(arguments), self.assertRaises(hespas.errors.E0955) as caught:
                hespas.estimate(MATMUL, **arguments)
            self.assertIn(word, caught.exception.help)
        with self.assertRaises(hespas.errors.E0510):
            hespas.estimate(MATMUL, estimator="roofing")
        with self.assertRaises(hespas.errors.E0955):
            hespas.run(MATMUL, num_npus=0)
        with self.assertRaisesRegex(TypeError, "plugin"):
            hespas.run(MATMUL, plugins="x.so")
        with self.assertRaises(hespas.errors.E0594):
            hespas.run(MATMUL, estimator="pjrt", plugin="missing.so", sample=3, whole=True, tool_timeout=5.0)


if __name__ == "__main__":
    unittest.main()
