"""The ONNX models of the drivers, read back by the onnx package: one node, shapes permuted, initialisers without data."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import command

if "onnx" not in sys.argv:
    # Again with a Python that has onnx, pinned with digests.
    python = subprocess.run([command.ROOT / "scripts/python_env.sh", "zigzag"], check=True, capture_output=True, text=True).stdout.strip()
    os.execv(python, [python, __file__, "onnx"])

import onnx

FAKE = command.ROOT / "tests/external/fake_tool.py"
# name: (program, op type, input, weights, output, attributes)
BATCHED = """func.func @main(%a: tensor<{a}xbf16>, %b: tensor<{b}xbf16>) -> tensor<{c}xbf16> {{
  %0 = stablehlo.dot_general %a, %b, {batching}contracting_dims = [{k}] x [{l}] : (tensor<{a}xbf16>, tensor<{b}xbf16>) -> tensor<{c}xbf16>
  return %0 : tensor<{c}xbf16>
}}
"""
CONVOLUTION = """func.func @main(%a: tensor<2x30x30x8xf32>, %b: tensor<3x3x8x16xf32>) -> tensor<2x14x14x16xf32> {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x30x30x8xf32>, tensor<3x3x8x16xf32>) -> tensor<2x14x14x16xf32>
  return %0 : tensor<2x14x14x16xf32>
}
"""
CASES = {
    "a matmul": (BATCHED.format(a="64x32", b="32x48", c="64x48", batching="", k=1, l=0), "MatMul", [64, 32], [32, 48], [64, 48], {}),
    "transposed operands": (BATCHED.format(a="32x64", b="48x32", c="64x48", batching="", k=0, l=1), "MatMul", [64, 32], [32, 48], [64, 48], {}),
    "one of a batch": (BATCHED.format(a="5x64x32", b="5x32x48", c="5x64x48", batching="batching_dims = [0] x [0], ", k=2, l=1), "MatMul",
                       [64, 32], [32, 48], [64, 48], {}),
    "a convolution": (CONVOLUTION, "Conv", [2, 8, 30, 30], [16, 8, 3, 3], [2, 16, 14, 14],
                      {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [0, 0, 0, 0], "dilations": [1, 1], "group": 1}),
}


def shape(value):
    return [dimension.dim_value for dimension in value.type.tensor_type.shape.dim]


class ReadBack(unittest.TestCase):
    def model(self, program):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "case.json").write_text(json.dumps({"stdout": "Total compute time 100\n"}))
            (folder / "npu.json").write_text('{"core_freq": 1000}')
            done = command.run("estimate", "-", "--optimise", "none", "--device", "TPUv3", "--estimator", "onnxim", "--tool-path", FAKE,
                               "--tool-config", folder / "npu.json", stdin=program, environment={"HESPAS_FAKE_TOOL": str(folder / "case.json")})
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            line, = (folder / "seen.jsonl").read_text().splitlines()
        return onnx.load_from_string(bytes.fromhex(json.loads(line)["model"]))

    def test_models_hold_what_the_operation_is(self):
        for name, (program, kind, first, weights, result, attributes) in CASES.items():
            with self.subTest(name):
                model = self.model(program)
                self.assertEqual((model.ir_version, model.opset_import[0].version), (8, 13))
                node, = model.graph.node
                self.assertEqual(node.op_type, kind)
                initialiser, = model.graph.initializer
                self.assertEqual(list(node.input), [model.graph.input[0].name, initialiser.name])
                self.assertEqual(list(node.output), [model.graph.output[0].name])
                self.assertEqual((shape(model.graph.input[0]), list(initialiser.dims), shape(model.graph.output[0])), (first, weights, result))
                self.assertEqual(len(initialiser.raw_data) + len(initialiser.float_data), 0)
                self.assertEqual({a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}, attributes)

    def test_shapes_follow_from_the_operation(self):
        # The checker asks for the data that ours leave out; the rest of the model must satisfy it, and the result's shape must be the operator's own.
        for name, (program, _, _, weights, result, _) in CASES.items():
            with self.subTest(name):
                model = self.model(program)
                count = 1
                for size in weights:
                    count *= size
                model.graph.initializer[0].raw_data = bytes(4 * count)
                onnx.checker.check_model(model, full_check=True)
                model.graph.output[0].type.tensor_type.ClearField("shape")
                inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True)
                self.assertEqual(shape(inferred.graph.output[0]), result)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
