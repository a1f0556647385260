"""`experiments/gemm_sweep`: one command, a table and a chart; gaps stay gaps, and tools that are found fill them."""

import csv
import json
import os
import pathlib
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

import command

RUN = command.ROOT / "experiments/gemm_sweep/run.py"
FAKE = command.ROOT / "tests/external/fake_tool.py"
PYTHON = subprocess.run([command.ROOT / "scripts/python_env.sh", "zigzag"], check=True, capture_output=True, text=True).stdout.strip()


def sweep(*words, environment=None):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        done = subprocess.run([RUN, "--output", folder, "--hespas", command.BIN / "hespas", *map(str, words)], capture_output=True, text=True,
                              env=dict(os.environ) | (environment or {}), check=False, timeout=300)
        assert done.returncode == 0, done.stderr
        with open(folder / "gemm_sweep.csv", newline="") as file:
            rows = {int(row["size"]): row for row in csv.DictReader(file)}
        chart = xml.etree.ElementTree.fromstring((folder / "gemm_sweep.svg").read_text())
        return rows, chart, done.stdout


def points(chart, name):
    namespace = "{http://www.w3.org/2000/svg}"
    return [title.text for title in chart.iter(namespace + "title") if title.text.startswith(name + ",")]


class Sweep(unittest.TestCase):
    def test_all_estimators_and_gaps(self):
        rows, chart, table = sweep("--sizes", "32,64,128,1024", "--zigzag-python", PYTHON)
        names = ["roofline", "calibrated", "systolic", "scalesim", "genz", "zigzag_onnx"]
        for size, row in rows.items():
            for name in names:
                self.assertGreater(float(row[f"{name}_us"]), 0, (size, name))
        # By hand: ceil(64/128)^2 (64 + 382) - 1 cycles at 0.94 GHz; the record of COCOSSim; none for 128.
        self.assertAlmostEqual(float(rows[64]["scalesim_us"]), 445 / 940, delta=1e-3)
        self.assertAlmostEqual(float(rows[1024]["cocossim_us"]), 165492 / 940, delta=0.1)
        self.assertAlmostEqual(float(rows[32]["onnxim_us"]), 0.579, delta=1e-3)
        self.assertEqual((rows[128]["cocossim_us"], rows[128]["onnxim_us"]), ("", ""))
        self.assertEqual([len(points(chart, name)) for name in [*names, "cocossim", "onnxim"]], [4] * 6 + [3] * 2)
        self.assertIn("zigzag_onnx (run)", table)

    def test_a_found_tool_fills_gaps_and_a_missing_one_is_told(self):
        with tempfile.TemporaryDirectory() as name:
            case = pathlib.Path(name) / "case.json"
            case.write_text(json.dumps({"stdout": "Cycles: 940, Time: 1us Jobs finished: 1/1\n"}))
            rows, chart, table = sweep("--sizes", "64,128", "--cocossim", FAKE, "--zigzag-python", "/nowhere/python",
                                       environment={"HESPAS_FAKE_TOOL": str(case)})
        self.assertEqual([float(rows[size]["cocossim_us"]) for size in (64, 128)], [1, 1])
        self.assertIn("cocossim (run)", table)
        self.assertIn("zigzag_onnx (not installed)", table)
        self.assertEqual(points(chart, "zigzag_onnx"), [])


if __name__ == "__main__":
    unittest.main()
