"""The rows of docs/reference/op-costs.md: the sample of each costs what its formulas say, and every known op has a row."""
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(os.environ["HESPAS_ROOT"])
HESPAS = pathlib.Path(os.environ["HESPAS_BIN"]) / "hespas"
# Costed by the network or by what they hold; the section below the table says how.
ELSEWHERE = {"kCollective", "kAsync", "kControl", "kCall", "kFusion", "kTerminator", "kStructure", "kUnknown"}

# A whole dialect, an annotation, an operation without operands or results, and two that the network costs.
NOT_ALONE = {"elementwise", "sharding_constraint", "rng_get_and_update_state", "send", "recv"}


def rows():
    for line in (ROOT / "docs/reference/op-costs.md").read_text().splitlines():
        cells = [cell.strip().strip("`") for cell in line.strip().strip("|").split(" | ")]
        if len(cells) == 5 and re.match(r"(stablehlo|mhlo|chlo)\.", cells[0]):
            yield cells


def types(text):
    """`4xf32, !token` as lists of MLIR types."""
    for one in filter(None, re.split(r", (?![^<]*>)", text)):
        yield "!stablehlo.token" if one == "!token" else one if one.startswith("tuple") else f"tensor<{one}>"


def program(op, sample):
    """The module of a sample `operands -> results` with, after two spaces, attributes and regions."""
    signature, _, rest = sample.partition("  ")
    operands, _, results = signature.partition("->")
    operands, results = list(types(operands.strip())), list(types(results.strip()))
    arguments = ", ".join(f"%a{i}: {type}" for i, type in enumerate(operands))
    names = ", ".join(f"%a{i}" for i in range(len(operands)))
    outputs = ", ".join(f"%r#{i}" for i in range(len(results)))
    statement = f'%r:{len(results)} = "{op}"({names}) {rest} : ({", ".join(operands)}) -> ({", ".join(results)})'
    return (f"module @sample {{ func.func @main({arguments}) -> ({', '.join(results)}) {{\n{statement}\n"
            f"return {outputs} : {', '.join(results)}\n}} }}\n")


class OpCosts(unittest.TestCase):
    def cost(self, text, optimise="none"):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "sample.mlir"
            path.write_text(text)
            done = subprocess.run([HESPAS, "estimate", path, "--device", "A100_SXM_40GB", "--estimator", "roofline", "--optimise", optimise,
                                   "--strict", "--format", "json"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, text + done.stderr)
        found = json.loads(done.stdout)
        return sum(row["flops"] for row in found), sum(row["bytes"] for row in found)

    def test_samples_cost_what_their_formulas_say(self):
        checked = 0
        for op, sample, flops, traffic, _ in rows():
            with self.subTest(op=op, sample=sample):
                expected = tuple(int(eval(formula, {"__builtins__": {}})) for formula in (flops, traffic))
                self.assertEqual(self.cost(program(op, sample)), expected)
                checked += 1
        self.assertGreater(checked, 100)

    def test_calls_of_elementwise_mathematics_cost_the_same_when_optimised(self):
        calls = [sample for op, sample, *_ in rows() if op == "stablehlo.custom_call" and re.search("mhlo.(cosh|erf)", sample)]
        self.assertEqual(len(calls), 2)
        for sample in calls:
            text = program("stablehlo.custom_call", sample)
            self.assertEqual(self.cost(text, "xla-gpu"), self.cost(text))

    def test_every_op_of_the_table_has_a_row(self):
        table = re.findall(r'X\(\w+, "([^"]*)", (k\w+)\)', (ROOT / "src/ir/op_kind.h").read_text())
        self.assertGreater(len(table), 100)
        sampled = {op.split(".", 1)[1] for op, *_ in rows()}
        names = {name.split(".")[-1] for name, sort in table if sort not in ELSEWHERE}
        self.assertEqual(names - sampled - NOT_ALONE, set())


if __name__ == "__main__":
    unittest.main()
