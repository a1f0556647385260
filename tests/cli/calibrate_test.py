"""`hespas calibrate` and `hespas validate` as a user runs them; what the fits find is held by tests/accuracy."""

import csv
import gzip
import json
import pathlib
import tempfile
import unittest

import command

MEASURED = command.ROOT / "data/measured"
ELEMENTWISE = ("add", "addu", "div", "divu", "gelu", "mul", "mulu", "pow", "powu", "relu", "tanh")
SHIPPED = command.ROOT / "data/models/calibrated.json"


class Calibrate(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def constants(self, text, family):
        return {key: entry["value"] for key, entry in json.loads(text)["families"][family]["constants"].items()}

    def fitted(self, slower):
        """The shared file, fitted to elementwise kernels that take `slower` times as long as measured."""
        path = self.folder / "kernels.csv"
        with gzip.open(MEASURED / "kernels.csv.gz", "rt") as table, open(path, "w", newline="") as out:
            rows = [row for row in csv.DictReader(table) if row["op"] in ELEMENTWISE]
            writer = csv.DictWriter(out, rows[0].keys())
            writer.writeheader()
            writer.writerows(row | {"latency_us": float(row["latency_us"]) * slower} for row in rows)
        done = command.run("calibrate", "--shared", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_shared_constants_of_elementwise_kernels_are_fitted_again(self):
        text = self.fitted(1)
        fitted, shipped = self.constants(text, "elementwise"), self.constants(SHIPPED.read_text(), "elementwise")
        # a quarter more or less is 2 % of the memory's rate
        self.assertAlmostEqual(fitted["hbm_bytes_per_clock"] / shipped["hbm_bytes_per_clock"], 1, delta=0.25)
        self.assertLess(self.constants(self.fitted(1.1), "elementwise")["hbm_bytes_per_clock"], 0.7 * fitted["hbm_bytes_per_clock"])
        self.assertEqual(self.constants(text, "gemm"), self.constants(SHIPPED.read_text(), "gemm"))

    def test_a_table_without_devices_has_no_shared_constants(self):
        path = self.folder / "no.csv"
        path.write_text("op,dtype,b,n,latency_us\nadd,float32,16,1024,5\n")
        done = command.run("calibrate", "--shared", path)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("no row names its device", done.stderr)
        path.write_text("gpu,op,dtype,b,n,latency_us\n")
        self.assertIn("no row names its device", command.run("calibrate", "--shared", path).stderr)

    def graph_table(self, slower=None):
        """Matmuls inside CUDA graphs in the form of their source, those of some devices that many times slower."""
        path = self.folder / "gemm.csv"
        columns = ("device", "dtype", "m", "n", "k", "latency_us")
        with gzip.open(MEASURED / "field_kernels.csv.gz", "rt") as table, open(path, "w", newline="") as out:
            rows = [row for row in csv.DictReader(table) if row["op"] == "gemm" and row["dtype"] == "bf16"]
            writer = csv.DictWriter(out, columns, extrasaction="ignore")
            writer.writeheader()
            factor = slower or {}
            writer.writerows(row | {"latency_us": float(row["latency_us"]) * factor.get(row["device"], 1)} for row in rows[::4])
        return path

    def left_out(self, table):
        output = self.folder / "field.json"
        done = command.run("calibrate", "--shared", table, "--leave-out", "L40S_48GB", "-o", output, "--format", "csv")
        self.assertEqual(done.returncode, 0, done.stderr)
        return output.read_text(), list(csv.DictReader(done.stdout.splitlines()))

    def test_a_device_left_out_is_not_fitted_but_compared(self):
        text, errors = self.left_out(self.graph_table())
        self.assertEqual([(row["family"], row["device"], row["rows"]) for row in errors], [("matmul", "L40S_48GB", "50")])
        slow_text, slow = self.left_out(self.graph_table({"L40S_48GB": 2}))
        self.assertEqual(slow_text, text)
        self.assertLess(float(slow[0]["bias %"]), float(errors[0]["bias %"]) - 30)
        other = self.constants(self.left_out(self.graph_table({"H100_80GB": 2}))[0], "matmul")
        self.assertNotEqual(other, self.constants(text, "matmul"))

    def test_tables_of_both_models_are_fitted_together(self):
        kernels = self.folder / "kernels.csv"
        kernels.write_text("gpu,op,dtype,b,n,latency_us\n" + "".join(f"T4,add,f32,{1 << i},4096,{6 + 0.2 * 1.5**i}\n" for i in range(20)))
        out = self.folder / "models"
        done = command.run("calibrate", "--shared", kernels, self.graph_table(), "-o", out, "--format", "csv")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(path.name for path in out.iterdir()), ["calibrated.json", "field.json"])
        self.assertEqual({row["family"] for row in csv.DictReader(done.stdout.splitlines())}, {"elementwise", "matmul"})
        self.assertIn("kernels.csv gemm.csv", json.loads((out / "field.json").read_text())["families"]["matmul"]["fitted_on"])

    def test_only_a_measured_device_can_be_left_out(self):
        done = command.run("calibrate", "--shared", self.graph_table(), "--leave-out", "T4_16GB")
        self.assertIn("no table has rows of T4_16GB", done.stderr)

    def test_the_page_of_a_validation_has_both_tables(self):
        page = self.folder / "accuracy.html"
        done = command.run("validate", "--set", "step-times", "--html", page, "-q")
        self.assertEqual(done.returncode, 0, done.stderr)
        text = page.read_text()
        self.assertIn("A100_SXM_40GB", text)
        self.assertEqual(text.count("<table"), 2)


if __name__ == "__main__":
    unittest.main()
