"""Estimators written in Python."""
import unittest

import hespas
from common import EXAMPLE, MATMUL

LOOP = """module {
  func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %r:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<64xf32>
    cond {
      %ten = stablehlo.constant dense<10> : tensor<i32>
      %c = stablehlo.compare LT, %i, %ten : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %n = stablehlo.add %i, %one : tensor<i32>
      %t = stablehlo.tanh %v : tensor<64xf32>
      stablehlo.return %n, %t : tensor<i32>, tensor<64xf32>
    }
    return %r#1 : tensor<64xf32>
  }
}
"""


class PerOp(hespas.Estimator):
    """A microsecond each, and remembers what it was asked."""

    def __init__(self):
        self.seen = []

    def estimate_op(self, op):
        self.seen.append(op.name)
        return 1e-6


class Estimators(unittest.TestCase):
    def test_each_operation_is_asked_for(self):
        estimator = PerOp()
        result = hespas.estimate(MATMUL, estimator=estimator, optimise="none")
        self.assertEqual(result.time_ps, 2_000_000)
        self.assertEqual(result.estimator, "PerOp")
        self.assertEqual(set(estimator.seen), {"stablehlo.dot_general", "stablehlo.tanh"})
        self.assertEqual(result.flops, 2 * 256 * 512 * 128 + 256 * 128)

    def test_loops_are_summed_around_it(self):
        class OnlyTanh(hespas.Estimator):
            def estimate_op(self, op):
                return 1e-6 if op.name == "stablehlo.tanh" else 0.0

        self.assertEqual(hespas.estimate(LOOP, estimator=OnlyTanh(), optimise="none").time_ps, 10_000_000)

    def test_an_operation_tells_of_itself(self):
        class Looks(hespas.Estimator):
            def estimate_op(self, op):
                if op.name == "stablehlo.dot_general":
                    self.types = op.operand_types, op.result_types
                    self.attributes, self.text, self.work = dict(op.attribute_items), op.text, (op.flops, op.bytes)
                return hespas.Estimate(2e-6, flops=op.flops, bytes=op.bytes, sigma_s=1e-7)

        estimator = Looks()
        hespas.estimate(MATMUL, estimator=estimator, optimise="none")
        self.assertEqual(estimator.types, (["tensor<256x512xbf16>", "tensor<512x128xbf16>"], ["tensor<256x128xbf16>"]))
        self.assertIn("dot_dimension_numbers", estimator.attributes)
        self.assertIn("stablehlo.dot_general", estimator.text)
        self.assertEqual(estimator.work, (2 * 256 * 512 * 128, 2 * (256 * 512 + 512 * 128 + 256 * 128)))

    def test_delegation_to_a_built_in_one_gives_its_answer(self):
        ours = hespas.estimate(EXAMPLE, "H100_80GB", estimator=hespas.BuiltIn("roofline", "H100_80GB"), optimise="none")
        theirs = hespas.estimate(EXAMPLE, "H100_80GB", estimator="roofline", optimise="none")
        self.assertAlmostEqual(ours.time / theirs.time, 1, places=6)

    def test_the_whole_pipeline_takes_it(self):
        result = hespas.run(EXAMPLE, "A100_SXM_40GB", estimator=PerOp())
        self.assertEqual(result.estimator, "PerOp")

    def test_what_it_raises_comes_out(self):
        class Fails(hespas.Estimator):
            def estimate_op(self, op):
                raise LookupError(op.name)

        with self.assertRaises(LookupError):
            hespas.run(EXAMPLE, "A100_SXM_40GB", estimator=Fails())

    def test_answers_are_checked(self):
        for answer in (-1.0, float("nan"), float("inf"), "fast", None, True, hespas.Estimate(1e-6, flops=-5)):
            class Answers(hespas.Estimator):
                def estimate_op(self, op):
                    return answer

            with self.subTest(answer), self.assertRaises(hespas.errors.E0953):
                hespas.estimate(MATMUL, estimator=Answers())

    def test_an_operation_does_not_outlive_its_call(self):
        class Keeps(PerOp):
            def estimate_op(self, op):
                self.kept = op
                return 0.0

        estimator = Keeps()
        hespas.estimate(MATMUL, estimator=estimator)
        with self.assertRaises(hespas.errors.E0954):
            estimator.kept.name

    def test_other_things_are_no_estimators(self):
        with self.assertRaises(hespas.errors.E0955):
            hespas.estimate(MATMUL, estimator=lambda op: 1.0)


if __name__ == "__main__":
    unittest.main()
