"""Programs that exceed a device's memory, and runs that do unequal work: both are said before any time is compared."""
import json
import pathlib
import tempfile
import unittest

from command import ROOT, result, run

PROGRAM = ROOT / "tests/data/optimise/llama3-500m-4dev.mlir.gz"
H100 = ("--device", "H100_80GB")
SMALL = (*H100, "--set", "device.memory_capacity=4 GB")


class Fit(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.ample, cls.small = result("run", PROGRAM, *H100), result("run", PROGRAM, *SMALL)
        cls.limited = result("run", PROGRAM, *SMALL, "--schedule-limit")

    def test_a_program_that_does_not_fit_is_predicted_with_enough_memory(self):
        self.assertEqual((self.ample["fits_in_memory"], self.small["fits_in_memory"]), (True, False))
        for key in ("step_time_ps", "exposed_communication_ps"):
            self.assertEqual(self.small[key], self.ample[key])
        # XLA's scheduler lets gradients wait for less long where memory is short; the order that is timed still needs its own.
        self.assertLess(self.small["peak_memory_bytes"], self.ample["peak_memory_bytes"])
        self.assertGreater(self.small["peak_memory_bytes"], 8e9)

    def test_the_schedule_under_the_limit_overlaps_less(self):
        self.assertGreater(self.limited["exposed_communication_s"], 1.2 * self.small["exposed_communication_s"])
        self.assertEqual((self.small["schedule_limit"], self.limited["schedule_limit"]), (False, True))
        text = run("run", PROGRAM, *SMALL, "--schedule-limit").stdout
        self.assertIn("as XLA's is (--schedule-limit)", text)

    def test_it_is_the_first_thing_said(self):
        done = run("run", PROGRAM, *SMALL)
        text = " ".join(done.stdout.split())
        self.assertIn("Warning: the program DOES NOT FIT: it needs", text)
        self.assertLess(text.index("DOES NOT FIT"), text.index("step time"))
        self.assertIn("W0940", done.stderr)
        self.assertNotIn("\033", done.stdout)
        self.assertIn("\033[1;31mWarning: the program", run("run", PROGRAM, *SMALL, "--color", "always").stdout)
        self.assertEqual([w["code"] for w in self.small["warnings"]], ["W0940"])
        self.assertEqual(self.ample["warnings"], [])

    def test_the_page_has_the_warning(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(run("run", PROGRAM, *SMALL, "--no-what-if", "--output", folder).returncode, 0)
            page = pathlib.Path(folder, "report.html").read_text(encoding="utf-8")
        self.assertIn('"code":"W0940"', page)


class Work(unittest.TestCase):
    def test_unequal_work_is_in_the_title_of_a_comparison(self):
        programs = [ROOT / f"data/workloads/llama3-{size}-4dev.mlir.zst" for size in ("100m", "200m")]
        answer = result("compare", *programs, *H100)
        self.assertIn("UNEQUAL WORK", answer["notes"][0])
        self.assertIn("FLOPs on all devices", answer["notes"][0])
        self.assertEqual([side["units_per_step"] for side in answer["sides"]], [16384, 16384])
        shown = run("compare", *programs, *H100).stdout
        self.assertIn("(UNEQUAL WORK)", shown.splitlines()[0])

    def test_equal_work_is_not(self):
        answer = result("compare", ROOT / "examples/llama3-100m-4dev.mlir.gz", "--device", "A100_SXM_40GB,H100_80GB")
        self.assertEqual([note for note in answer["notes"] if "UNEQUAL" in note], [])

    def test_results_are_compared_with_the_figures_of_their_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            paths = [pathlib.Path(folder, name) for name in ("a.json", "b.json")]
            for path, device in zip(paths, ("A100_SXM_40GB", "H100_80GB")):
                path.write_text(json.dumps(result("run", ROOT / "examples/llama3-100m-4dev.mlir.gz", "--device", device)))
            sides = result("compare", *paths)["sides"]
            for path, side in zip(paths, sides):
                own = json.loads(path.read_text())
                self.assertEqual(side["model_flops_utilisation"], own["model_flops_utilisation"])
                self.assertEqual(side["units_per_second_per_device"], own["throughput"]["per_second_and_device"])

    def test_all_formats_print_the_same_figures(self):
        words = ("run", ROOT / "examples/llama3-100m-4dev.mlir.gz", *H100)
        answer = result(*words)
        head, row = (line.split(",") for line in run(*words, "--format", "csv").stdout.splitlines())
        table = dict(zip(head, row))
        for column, figure in (("model_flops_utilisation", answer["model_flops_utilisation"]), ("step_time_sigma_s", answer["step_time_sigma_s"]),
                               ("hardware_flops_utilisation", answer["hardware_flops_utilisation"]),
                               ("units_per_second_per_device", answer["tokens_per_s_per_device"]), ("units_per_second", answer["throughput"]["per_second"])):
            self.assertAlmostEqual(float(table[column]) / figure, 1, delta=1e-9)
        self.assertAlmostEqual(answer["model_flops_utilisation"] / answer["hardware_flops_utilisation"], 0.9134, delta=1e-4)
        text = run(*words).stdout
        self.assertIn(f"{100 * answer['model_flops_utilisation']:.1f} %  without recomputation; HFU {100 * answer['hardware_flops_utilisation']:.1f} %", text)


if __name__ == "__main__":
    unittest.main()
