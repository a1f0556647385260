"""The in-process models systolic, scalesim and genz against recorded answers of COCOSSim, SCALE-Sim and GenZ."""

import csv
import io
import json
import pathlib
import tempfile
import unittest

import command

DATA = command.ROOT / "tests/data/external"
COLLECTIVES = {"AR": "all-reduce", "AG": "all-gather", "A2A": "all-to-all"}


def recorded(name):
    return json.loads((DATA / name).read_text())


def table(header, lines, *words):
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        file.write(header + "\n" + "".join(",".join(map(str, line)) + "\n" for line in lines))
        file.flush()
        done = command.run("estimate", words[0], file.name, *words[1:])
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert len(rows) == len(lines)
    return rows


def matmuls(rows, *words):
    lines = [("gemm", "bf16", row["M"], row["N"], row["K"]) for row in rows]
    return table("op,dtype,m,n,k", lines, "--kernels", "--device", "TPUv3", "--estimator", *words)


class Systolic(unittest.TestCase):
    def test_cycles_are_near_cocossim(self):
        rows = recorded("cocossim_gemm.json")
        errors = [abs(float(ours["predicted_cycles"]) / row["cycles"] - 1)
                  for row, ours in zip(rows, matmuls(rows, "systolic"))]
        self.assertLess(sum(errors) / len(errors), 0.05)
        self.assertLess(max(errors), 0.15)

    def test_batches_are_costed_one_by_one(self):
        lines = [("bmm", "bf16", batch, 256, 384, 512) for batch in (1, 6)]
        one, six = table("op,dtype,b,m,n,k", lines, "--kernels", "--device", "TPUv3", "--estimator", "systolic")
        self.assertAlmostEqual(float(six["predicted_cycles"]), 6 * float(one["predicted_cycles"]))

    def test_other_kernels_are_left_to_the_calibrated_model(self):
        lines = [("add", "bf16", 1024, 4096)]
        (ours,) = table("op,dtype,b,n", lines, "--kernels", "--device", "TPUv3", "--estimator", "systolic")
        (calibrated,) = table("op,dtype,b,n", lines, "--kernels", "--device", "TPUv3")
        self.assertEqual(ours["predicted_us"], calibrated["predicted_us"])

    def test_a_device_without_an_array_is_refused_with_a_remedy(self):
        done = command.run("estimate", command.LLAMA, "--device", "H100_80GB", "--estimator", "systolic")
        self.assertEqual(done.returncode, 2)
        self.assertIn("E0570", done.stderr)
        self.assertIn("systolic_array", done.stderr)

    def test_a_fusion_costs_its_matmul_whatever_its_operands_are(self):
        matmul = '"stablehlo.dot_general"(%{0}, %{1}) <{{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], ' \
                  'rhs_contracting_dimensions = [0]>}}> : (tensor<512x256xbf16>, tensor<256x384xbf16>) -> tensor<512x384xbf16>'
        arguments = "%s: tensor<512xbf16>, %a: tensor<512x256xbf16>, %b: tensor<256x384xbf16>"
        fused = f'''func.func @main({arguments}) -> tensor<512x384xbf16> {{
  %0 = "mhlo.fusion"(%s, %a, %b) <{{fusion_kind = #mhlo<fusion_kind kOutput>}}> ({{
    ^bb0(%x: tensor<512xbf16>, %y: tensor<512x256xbf16>, %z: tensor<256x384xbf16>):
      %1 = {matmul.format("y", "z")}
      %2 = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<512xbf16>) -> tensor<512x384xbf16>
      %3 = stablehlo.add %1, %2 : tensor<512x384xbf16>
      mhlo.return %3 : tensor<512x384xbf16>
  }}) : (tensor<512xbf16>, tensor<512x256xbf16>, tensor<256x384xbf16>) -> tensor<512x384xbf16>
  return %0 : tensor<512x384xbf16>
}}
'''
        alone = f'func.func @main({arguments}) -> tensor<512x384xbf16> {{\n  %0 = {matmul.format("a", "b")}\n  return %0 : tensor<512x384xbf16>\n}}\n'
        for name in ("systolic", "scalesim", "genz"):
            times = [command.result("estimate", "-", "--optimise", "none", "--device", "TPUv3", "--estimator", name, stdin=text)[0]["time_s"]
                     for text in (fused, alone)]
            self.assertEqual(*times, name)


class ScaleSim(unittest.TestCase):
    def test_cycles_are_exact(self):
        for dataflow in ("ws", "os"):
            rows = [row for row in recorded("scalesim_gemm.json") if row["df"] == dataflow]
            self.assertGreater(len(rows), 30)
            for row, ours in zip(rows, matmuls(rows, "scalesim", "--dataflow", dataflow)):
                self.assertEqual(float(ours["predicted_cycles"]), row["total_cycles"], row)


class Genz(unittest.TestCase):
    def test_matmuls_are_exact(self):
        rows = recorded("genz.json")["gemm"]
        for row, ours in zip(rows, matmuls(rows, "genz")):
            self.assertAlmostEqual(float(ours["predicted_us"]) * 1e-6 / row["genz_s"], 1, delta=1e-12)

    def test_collectives_are_exact(self):
        rows = recorded("genz.json")["coll"]
        lines = [(COLLECTIVES[row["coll"]], row["nodes"], row["bytes"]) for row in rows]
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "system.json").write_text('{"device": "TPUv3"}')
            answers = table("op,N,bytes", lines, "--collectives", "--system", folder, "--estimator", "genz")
        for row, ours in zip(rows, answers):
            self.assertAlmostEqual(float(ours["predicted_us"]) * 1e-6 / row["genz_s"], 1, delta=1e-12)


if __name__ == "__main__":
    unittest.main()
