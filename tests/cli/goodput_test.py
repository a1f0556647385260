"""`hespas goodput`: what a training run costs, and what it refuses."""
import json
import pathlib
import tempfile
import unittest

from command import LLAMA, ROOT, result, run

DEVICE = ("--device", "H100_80GB")
BASE = ("goodput", LLAMA, *DEVICE, "--tokens", "1e12", "--runs", "40")
SEVENTY = ROOT / "data/workloads/llama3-70b-8dev.mlir.zst"


class Goodput(unittest.TestCase):
    def fails(self, code, *words, status=2, says=()):
        done = run(*(BASE[:-2] if "--runs" in words else BASE), *words)
        self.assertEqual((done.returncode, done.stdout), (status, ""), done.stderr)
        for text in (f"error[{code}]", "help:", *says):
            self.assertIn(text, done.stderr)

    def test_the_figures_fit_together(self):
        answer = result(*BASE, "--devices", "64", "--price", "2")
        wall = answer["wall_clock_s"]
        self.assertAlmostEqual(sum(part["seconds"] for part in answer["waterfall"]) / wall["mean"], 1, delta=1e-9)
        self.assertLess(wall["p5"], wall["p95"])
        self.assertAlmostEqual(answer["steps"] * answer["tokens_per_step"] / 1e12, 1, delta=1e-3)
        self.assertAlmostEqual(answer["waterfall"][0]["seconds"] / answer["ideal_s"], 1, delta=0.02)
        devices = 8 * (answer["nodes"] + answer["spares"])
        self.assertAlmostEqual(answer["cost"]["mean"] / (wall["mean"] / 3600 * devices * 2), 1, delta=1e-9)
        self.assertAlmostEqual(answer["co2_kg"]["mean"] / (answer["energy_j"]["mean"] / 3.6e6 * 0.473), 1, delta=1e-9)
        self.assertEqual(set(answer["unknown"]), {"slow-rate", "data-stall", "evaluation-interval", "evaluation-time", "electricity-price", "power-cap"})
        self.assertEqual(answer, {**result(*BASE, "--devices", "64", "--price", "2")})

    def test_both_engines_agree(self):
        for more in ((), ("--checkpoint", "sync"), ("--checkpoint", "memory"), ("--checkpoint", "tiers"), ("--weibull-shape", "0.7"), ("--elastic", "4", "--spares", "0")):
            with self.subTest(more):
                answer = result("goodput", LLAMA, *DEVICE, "--devices", "64", "--tokens", "1e14", "--mtbf", "9h", "--runs", "60", *more)
                wall = answer["wall_clock_s"]
                # The step's own uncertainty moves each run: the mean of 60 has an error of a few thousandths.
                self.assertAlmostEqual(wall["mean"] / answer["closed_form"]["wall_clock_s"], 1, delta=0.01 + 3 * wall["sigma"] / wall["mean"] / 60**0.5)

    def test_llama3_kept_its_devices_busy(self):
        """Meta trained for 54 days on 16,384 H100 with more than 90 % effective training time, at a failure every 3.1 hours."""
        answer = result("goodput", SEVENTY, *DEVICE, "--devices", "2048", "--tokens", "1e12", "--mtbf", "3.093 h", "--straggler-spread", "0", "--failure-sigma", "0", "--runs", "400")
        self.assertTrue(0.9 < answer["goodput"]["p50"] < 0.96, answer["goodput"])

    def test_a_power_cap_slows_and_saves(self):
        free, capped = (result(*BASE, "--devices", "64", *more) for more in ((), ("--power-cap", "400 W")))
        self.assertEqual(free["power"]["clock"], 1)
        self.assertLess(capped["power"]["clock"], 1)
        self.assertLessEqual(capped["power"]["device_w"], 400.001)
        self.assertGreater(capped["wall_clock_s"]["mean"], free["wall_clock_s"]["mean"])
        self.assertLess(capped["energy_j"]["mean"], free["energy_j"]["mean"])

    def test_settings_change_what_they_name(self):
        base = result(*BASE, "--devices", "64")["wall_clock_s"]["mean"]
        for more in (("--data-stall", "0.1"), ("--straggler-spread", "0.05"), ("--evaluation-interval", "2 h", "--evaluation-time", "5 min"),
                     ("--slow-rate", "40", "--slow-factor", "2"), ("--detection-time", "2 h"), ("--mtbf", "4 h"), ("--checkpoint-interval", "6 h"), ("--failures", "opt"),
                     ("--spares", "0", "--repair-time", "9 d"), ("--compile-time", "3 h"), ("--storage-bandwidth", "1 MB/s", "--checkpoint", "sync")):
            with self.subTest(more):
                self.assertGreater(result(*BASE, "--devices", "64", *more)["wall_clock_s"]["mean"], base)

    def test_intervals(self):
        chosen = {name: result(*BASE, "--devices", "64", "--checkpoint-interval", name)["checkpoint"] for name in ("young", "daly", "best", "simulated", "20 min")}
        self.assertEqual(chosen["20 min"]["interval_s"], 1200)
        self.assertEqual(chosen["young"]["interval_s"], chosen["young"]["young_s"])
        self.assertAlmostEqual(chosen["best"]["interval_s"] / chosen["daly"]["interval_s"], 1, delta=0.05)

    def test_bad_input(self):
        self.fails("E0873", "--mtbf", "0", says=("--mtbf",))
        self.fails("E0873", "--mtbf=-3h")
        self.fails("E0873", "--mtbf", "inf")
        self.fails("E0873", "--pue", "nan")
        self.fails("E0873", "--repair-time", "0 s")
        self.fails("E0873", "--storage-bandwidth", "0")
        self.fails("E0873", "--failures", "lama3", says=("llama3",))
        self.fails("E0873", "--checkpoint-interval", "often", says=("young",))
        self.fails("E0871", "--checkpoint-interval", "1 s", says=("interval",))
        self.fails("E0871", "--checkpoint", "sync", "--storage-bandwidth", "1 kB/s", "--checkpoint-interval", "2 min")
        self.fails("E0871", "--spares", "100", says=("spare",))
        self.fails("E0871", "--elastic", "100")
        self.fails("E0871", "--mtbf", "10 s", says=("come forward",))
        self.fails("E0872", "--runs", "0")
        self.fails("E0872", "--runs", "1000001")
        self.fails("E0875", "--power-cap", "900 W", says=("TDP",))
        self.fails("E0875", "--power-cap", "71 W")
        self.fails("E0878", "--checkpoint", "floppy", says=("async",))
        self.fails("E0878", "--elastic", "some")
        self.fails("E0878", "--devices-per-node", "2.5")
        done = run("goodput", LLAMA, *DEVICE, "--tokens", "0")
        self.assertEqual(done.returncode, 2)
        self.assertIn("E0878", done.stderr)
        for tokens in ("inf", "nan", "-1"):
            done = run("goodput", LLAMA, *DEVICE, f"--tokens={tokens}")
            self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("E0927", run("goodput", LLAMA, "--tokens", "1e12").stderr)

    def test_programs_that_do_not_tell(self):
        text = """func.func @main(%a: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %0 = "stablehlo.slice"(%a) <{start_indices = array<i64: 0, 0>, limit_indices = array<i64: 4, 8>, strides = array<i64: 1, 1>}> : (tensor<8x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
"""
        words = ("goodput", "-", *DEVICE, "--tokens", "1e6")
        self.assertIn("E0876", run(*words, stdin=text).stderr)
        self.assertIn("E0877", run(*words, "--batch", "8", stdin=text).stderr)
        self.assertEqual(run(*words, "--batch", "8", "--state", "1 GB", stdin=text).returncode, 0)

    def test_the_page(self):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "run.html"
            answer = json.loads(run(*BASE, "--output", page, "--scaling", "8,16,32", "--format", "json").stdout)
            html = page.read_text()
        for text in ("Where the days go", "What it depends on", "How many devices", "Assumptions", "<svg", "reproduce"):
            self.assertIn(text, html)
        self.assertNotIn("@", html.replace("@media", "").replace("@page", ""))
        self.assertEqual([point["devices"] for point in answer["by_devices"]], [8, 16, 32])
        for point in answer["by_mtbf"]:
            self.assertAlmostEqual(point["simulated_s"] / point["closed_form_s"], 1, delta=0.02)

    def test_numbers_of_devices_are_a_table(self):
        lines = run(*BASE, "--scaling", "8,16,32").stdout.splitlines()
        head = next(i for i, line in enumerate(lines) if line.split()[:1] == ["devices"])
        self.assertEqual([line.split()[0] for line in lines[head + 1 : head + 4]], ["8", "16", "32"])
        self.assertTrue(lines[head + 4].startswith("knee "), lines[head:])

    def test_the_document_lists_every_assumption(self):
        document = (ROOT / "docs/goodput.md").read_text()
        data = json.loads((ROOT / "data/models/goodput.json").read_text())
        for row in data["settings"]:
            self.assertIn(f"| `{row['name']}` | {row['value']} | {row['kind']} | {row['source']} |", document)
        for study in data["studies"]:
            self.assertIn(study["source"], document)

    def test_other_formats(self):
        self.assertIn("| wall clock", run(*BASE, "--format", "md").stdout)
        self.assertIn("wall clock", run(*BASE).stdout)


if __name__ == "__main__":
    unittest.main()
