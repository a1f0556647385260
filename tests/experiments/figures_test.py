"""Figures by matplotlib, and the sweep of matmuls with tools that are run: ZigZag from PyPI, and a fake COCOSSim."""
import csv
import json
import pathlib
import tempfile
import unittest
import xml.etree.ElementTree

import command

FAKE = command.ROOT / "tests/external/fake_tool.py"
TEXT = "{http://www.w3.org/2000/svg}text"


def texts(path):
    return [element.text for element in xml.etree.ElementTree.parse(path).iter(TEXT)]


class Figures(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def experiment(self, *words, environment=None):
        done = command.run("experiment", *words, "--output", self.folder, environment=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def test_bars_of_all_sources_on_every_system(self):
        self.experiment("llama3", "tpu", "--workloads", "llama3-100m,llama3-500m")
        found = texts(self.folder / "llama3/llama3.svg")
        for word in ("A100_SXM_40GB_4GPU", "B200_180GB_4GPU", "100m", "500m", "Measured", "Calibrated", "Roofline as prototype", "Prototype recorded", "|error| [%]"):
            self.assertIn(word, found)
        page = (self.folder / "index.html").read_text()
        self.assertEqual(page.count("<svg"), 2)
        first = (self.folder / "tpu/tpu.svg").read_bytes()
        self.experiment("tpu", "--workloads", "llama3-100m,llama3-500m")
        self.assertEqual((self.folder / "tpu/tpu.svg").read_bytes(), first)

    def test_sweep_with_zigzag_and_a_found_tool(self):
        case = self.folder / "case.json"
        case.write_text(json.dumps({"stdout": "Cycles: 940, Time: 1us Jobs finished: 1/1\n"}))
        self.experiment("gemm_sweep", "--workloads", "64,128", "--tool", f"cocossim={FAKE}", environment={"HESPAS_FAKE_TOOL": str(case)})
        with open(self.folder / "gemm_sweep/results.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([float(row["step_time_s"]) for row in rows if row["source"] == "COCOSSim"], [1e-6] * 2)
        self.assertEqual({row["source"]: row["note"] for row in rows}["ZigZag"], "run")
        for row in rows:
            self.assertGreater(float(row["step_time_s"]), 0)
        self.assertIn("ZigZag", texts(self.folder / "gemm_sweep/gemm_sweep.svg"))

    def test_published_steps_and_how_they_scale(self):
        done = self.experiment("published", "--workloads", "v6e-llama31-8b-8,v6e-llama31-8b-16,v5p-deepseek2-16b-8", "--format", "json")
        result = json.loads(done.stdout)
        self.assertEqual([row["measured_s"] for row in result["rows"]], [3.443, 3.393, 5.668])
        (scaled,) = result["statistics"]["scaling"]
        self.assertEqual((scaled["row"], scaled["from_devices"], scaled["devices"]), ("v6e-llama31-8b-16", 8, 16))
        self.assertAlmostEqual(scaled["published_percent"], 100 * 3.443 / 3.393)
        self.assertAlmostEqual(scaled["predicted_percent"], 100 * result["rows"][0]["step_time_s"] / result["rows"][1]["step_time_s"])
        self.assertEqual({row["rows"]: row["count"] for row in result["statistics"]["errors"]}, {"all": 3, "TPU": 3})
        self.assertIn("v6e-llama31-8b", texts(self.folder / "published/published.svg"))

    def test_published_steps_of_which_none_was_published(self):
        done = self.experiment("published", "--workloads", "dgxc-llama2-70b-bf16-1024", "--format", "json")
        self.assertEqual([row.get("measured_s") for row in json.loads(done.stdout)["rows"]], [None])
        self.assertIn("measured [s]", texts(self.folder / "published/published.svg"))

    def test_matmuls_through_iree(self):
        done = command.run("experiment", "iree_ptx", "--sources", "Calibrated,IREE and PTX", "--workloads", "1x256x256x256", "--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = json.loads(done.stdout)["rows"]
        self.assertEqual([row["source"] for row in rows], ["IREE and PTX", "Calibrated"])
        for row in rows:
            self.assertGreater(row["step_time_s"], 1e-6)
            self.assertLess(row["step_time_s"], 1e-3)


if __name__ == "__main__":
    unittest.main()
