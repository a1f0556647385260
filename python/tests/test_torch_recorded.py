"""PyTorch: a recorded export (tests/data/torch; PyTorch with PyTorch/XLA installs more than 5 GB), and errors where it is not installed."""
import unittest

import hespas
from common import ROOT

RECORDED = ROOT / "tests/data/torch"
TOKENS, WIDTH, SEQUENCE, BATCH = 2 * 16, 64, 16, 2


class Graph:
    """What `torch_xla.stablehlo.exported_program_to_stablehlo` returns, as far as it is looked at."""

    def get_stablehlo_text(self):
        return (RECORDED / "block.mlir").read_text()


class RecordedExport(unittest.TestCase):
    def test_text_bytecode_and_the_converters_object_are_the_same_program(self):
        sources = RECORDED / "block.mlir", (RECORDED / "block.mlirbc").read_bytes(), Graph()
        counts = [hespas.load(source).analyze().to_dict()["ops"] for source in sources]
        self.assertEqual(counts[0], counts[1])
        self.assertEqual(counts[0], counts[2])
        self.assertEqual(counts[0]["stablehlo.dot_general"], 6)

    def test_matmuls_cost_what_the_block_multiplies(self):
        linear = 2 * TOKENS * WIDTH * (3 * WIDTH + WIDTH + 4 * WIDTH + 4 * WIDTH)
        attention = 2 * 2 * BATCH * SEQUENCE * SEQUENCE * WIDTH
        result = hespas.estimate(Graph(), "A100_SXM_40GB", estimator="roofline", optimise="none")
        matmuls = sum(op["flops"] for op in result.to_dict()["ops"] if op["op"] == "stablehlo.dot_general")
        self.assertEqual(matmuls, linear + attention)
        self.assertEqual([str(w) for w in result.warnings], [], "erf comes as a custom call of its name")

    def test_an_exported_program_needs_the_converter(self):
        program = type("ExportedProgram", (), {"__module__": "torch.export.exported_program"})()
        with self.assertRaises(hespas.errors.E0950) as caught:
            hespas.load(program)
        self.assertIn("torch_xla", caught.exception.help)


if __name__ == "__main__":
    unittest.main()
