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

    def test_the_page_of_a_validation_has_both_tables(self):
        page = self.folder / "accuracy.html"
        done = command.run("validate", "--set", "step-times", "--html", page, "-q")
        self.assertEqual(done.returncode, 0, done.stderr)
        text = page.read_text()
        self.assertIn("A100_SXM_40GB", text)
        self.assertEqual(text.count("<table"), 2)


if __name__ == "__main__":
    unittest.main()
