"""`hespas sweep`: points, rows, resuming, locks and everything that can be wrong with a file."""
import csv
import io
import json
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from command import BIN, LLAMA, ROOT, run


class SweepTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def file(self, **keys):
        path = self.folder / "sweep.json"
        path.write_text(json.dumps({"base": {"program": str(LLAMA)}} | keys))
        return path

    def points(self, **keys):
        done = run("sweep", self.file(**keys), "--dry-run", "--format", "jsonl")
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def refused(self, code, text, *options, status=None, **keys):
        done = run("sweep", self.file(**keys), *options)
        self.assertIn(f"error[{code}]", done.stderr)
        self.assertIn(text, done.stderr)
        self.assertNotEqual(done.returncode, 0)
        if status is not None:
            self.assertEqual(done.returncode, status)
        self.assertEqual(done.stdout, "")
        return done

    def rows(self, *options, **keys):
        done = run("sweep", self.file(**keys), "--format", "jsonl", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_products_zips_and_filters(self):
        points = self.points(axes={"device": ["A100_SXM_40GB", "H100_80GB"], "overlap": ["program", "perfect"]})
        self.assertEqual([(p["device"], p["overlap"]) for p in points],
                         [(d, o) for d in ("A100_SXM_40GB", "H100_80GB") for o in ("program", "perfect")])
        zipped = self.points(axes={"device": ["A100_SXM_40GB", "H100_80GB"], "overlap": ["program", "perfect"]},
                             zip=["device", "overlap"])
        self.assertEqual([(p["device"], p["overlap"]) for p in zipped], [("A100_SXM_40GB", "program"), ("H100_80GB", "perfect")])
        near = self.points(axes={"device.memory_bandwidth": {"from": "1 TB/s", "to": "4 TB/s", "step": "0.5 TB/s"}},
                           filter="device.memory_bandwidth > 2.2 TB/s and device.memory_bandwidth <= 3500 GB/s")
        self.assertEqual([p["device.memory_bandwidth"] for p in near], ["2.5 TB/s", "3 TB/s", "3.5 TB/s"])

    def test_the_best_point_has_the_headline_of_its_run(self):
        axes = {"device": ["A100_SXM_40GB", "H100_80GB"]}
        text = run("sweep", self.file(axes=axes)).stdout
        self.assertTrue(text.startswith("best by step_time: point 1\n"), text)
        headline = run("run", LLAMA, "--device", "H100_80GB").stdout.split("\nblocks ")[0]
        self.assertIn(headline, text)
        self.assertIn("would help most, about", text)
        self.assertIn(f"hespas run {LLAMA} --device H100_80GB", text)
        row = self.rows(axes=axes)[1]
        self.assertIn(f"+- {row['step_time_sigma_s'] * 1e3:.2f} ms", text)
        self.assertEqual((row["estimator_name"], row["network_model_name"]), ("calibrated", "calibrated"))
        priced = run("sweep", self.file(axes=axes), "--price-per-hour", "2").stdout
        self.assertIn("USD per million tokens, at 2 per device and hour", priced)

    def test_samples_follow_from_their_seed(self):
        axes = {"device": ["A100_SXM_40GB", "H100_80GB"], "system.latency": {"from": "1 us", "to": "100 us", "scale": "log"}}
        for method in ("random", "latin-hypercube"):
            first, again, other = (self.points(axes=axes, sample={"method": method, "count": 20, "seed": s}) for s in (1, 1, 2))
            self.assertEqual(first, again)
            self.assertNotEqual(first, other)
            self.assertEqual(len(first), 20)
        # Each stratum once: half of the points in each half of the range.
        low = [p for p in first if float(p["system.latency"].split()[0]) < 10]
        self.assertEqual(len(low), 10)
        lists = self.points(axes={"num_npus": list(range(4, 104, 4))}, sample={"count": 25, "seed": 3})
        self.assertEqual(len({p["num_npus"] for p in lists}), 25)

    def test_yaml_says_the_same_as_json(self):
        path = self.folder / "sweep.yaml"
        path.write_text(f"base: {{program: {LLAMA}}}\naxes:\n  device: [A100_SXM_40GB]\n  merge: [true, false]\n")
        yaml = run("sweep", path, "--format", "jsonl")
        self.assertEqual(yaml.returncode, 0, yaml.stderr)
        rows = self.rows(axes={"device": ["A100_SXM_40GB"], "merge": [True, False]})
        self.assertEqual([json.loads(line) for line in yaml.stdout.splitlines()], rows)

    def test_rows_equal_runs_for_any_number_of_threads(self):
        keys = {"axes": {"device": ["A100_SXM_40GB", "H100_80GB"], "system.latency": ["1 us", "20 us"], "estimator": ["calibrated", "roofline"]}}
        rows = self.rows("--threads", 1, **keys)
        self.assertEqual(rows, self.rows("--threads", 4, **keys))
        for row in rows[::3]:
            single = run("run", LLAMA, "--device", row["device"], "--estimator", row["estimator"], "--set",
                         f"system.latency={row['system.latency']}", "--format", "json")
            result = json.loads(single.stdout)
            for key in ("step_time_ps", "compute_time_s", "exposed_communication_s", "energy_j", "peak_memory_bytes"):
                self.assertEqual(row[key], result[key])

    def test_fields_of_device_and_system_files(self):
        rows = self.rows(base={"program": str(LLAMA), "device": "A100_SXM_40GB", "system": "A100_SXM_40GB_4GPU", "estimator": "roofline"},
                         axes={"device.per_datatype_flops.bf16": ["300 TFLOP/s", "30 TFLOP/s"], "system.topology": ["FullyConnected", "Switch"]})
        self.assertGreater(rows[2]["compute_time_s"], rows[0]["compute_time_s"])
        self.assertNotEqual(rows[0]["communication_time_s"], rows[1]["communication_time_s"])

    def test_flags_of_xla_are_an_axis(self):
        flag = "--xla_gpu_all_gather_combine_threshold_bytes=0"
        rows = self.rows(axes={"xla_flag": ["", flag]})
        self.assertEqual(rows[1]["step_time_ps"], json.loads(run("run", LLAMA, "--device", "A100_SXM_80GB", f"--xla-flag={flag}", "--format", "json").stdout)["step_time_ps"])
        self.assertGreater(rows[1]["communication_time_s"], rows[0]["communication_time_s"])

    def test_failed_points_are_rows(self):
        rows = self.rows(axes={"num_npus": [2, 4]})
        self.assertEqual([row["error"] for row in rows], ["E0601", None])
        self.assertIsNone(rows[0]["step_time_ps"])

    def test_an_output_folder_is_resumed_without_repeating_a_point(self):
        file = self.file(axes={"system.latency": {"from": "1 us", "to": "9 us", "steps": 9}, "device": ["A100_SXM_40GB"]})
        out = self.folder / "out"
        whole = run("sweep", file, "--output", out)
        self.assertEqual(whole.returncode, 0, whole.stderr)
        rows = (out / "rows.jsonl").read_text()
        lines = rows.splitlines(keepends=True)
        (out / "rows.jsonl").write_text("".join(lines[:4]) + lines[4][:50])  # as kill -9 may leave it
        again = run("sweep", file, "--output", out)
        self.assertIn("9 points: 5 done, 4 there already", again.stderr)
        self.assertEqual(sorted((out / "rows.jsonl").read_text().splitlines()), sorted(rows.splitlines()))
        table = list(csv.DictReader(io.StringIO((out / "rows.csv").read_text())))
        self.assertEqual([int(row["point"]) for row in table], list(range(9)))
        written = {row["point"]: row["step_time_ps"] for row in map(json.loads, rows.splitlines())}
        self.assertEqual([int(row["step_time_ps"]) for row in table], [written[point] for point in range(9)])
        self.assertEqual(sorted(written.values()), [written[point] for point in range(9)])  # each latency costs time
        self.assertLess(written[0], written[8])

    def start(self, out, steps=40000):
        axes = {"system.latency": {"from": "1 us", "to": "9 us", "steps": steps}, "device": ["A100_SXM_40GB"]}
        file = self.file(axes=axes)
        process = subprocess.Popen([BIN / "hespas", "sweep", file, "--output", out, "--threads", "1"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        while not (out / "rows.jsonl").exists() or (out / "rows.jsonl").stat().st_size == 0:
            self.assertIsNone(process.poll())
            time.sleep(0.02)
        return file, process

    def test_kill_9_loses_and_repeats_nothing(self):
        out = self.folder / "out"
        file, process = self.start(out, 4000)
        process.kill()
        process.communicate()
        before = (out / "rows.jsonl").read_text().count("\n")
        done = run("sweep", file, "--output", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"{before} there already", done.stderr)
        points = [json.loads(line)["point"] for line in (out / "rows.jsonl").read_text().splitlines()]
        self.assertEqual(sorted(points), list(range(4000)))

    def test_ctrl_c_finishes_what_runs_and_says_how_to_resume(self):
        out = self.folder / "out"
        _, process = self.start(out)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertIn("the same command resumes the rest", errors)
        self.assertTrue((out / "rows.jsonl").read_text().endswith("\n"))

    def test_two_sweeps_cannot_write_into_one_folder(self):
        out = self.folder / "out"
        file, process = self.start(out)
        second = run("sweep", file, "--output", out)
        process.kill()
        process.communicate()
        self.assertEqual(second.returncode, 4)
        self.assertIn("error[E1009]", second.stderr)

    def test_a_folder_of_another_sweep_is_left_alone(self):
        out = self.folder / "out"
        self.assertEqual(run("sweep", self.file(axes={"device": ["A100_SXM_40GB"]}), "--output", out).returncode, 0)
        before = (out / "rows.jsonl").read_text()
        self.refused("E1008", "another sweep", "--output", out, axes={"device": ["H100_80GB"]})
        self.assertEqual((out / "rows.jsonl").read_text(), before)
        done = run("sweep", self.file(axes={"device": ["H100_80GB"]}), "--output", out, "--clean")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_charts_of_many_points_draw_the_last_ones_too(self):
        out = self.folder / "out"
        self.assertEqual(run("sweep", self.file(axes={"device": ["H100_80GB"]}), "--output", out).returncode, 0)
        row = json.loads((out / "rows.jsonl").read_text())
        (out / "rows.jsonl").write_text("".join(json.dumps({**row, "point": i}) + "\n" for i in range(9000)))
        self.assertEqual(run("sweep-report", out).returncode, 0)
        chart = (out / "report.html").read_text().partition("<h3>Throughput and MFU")[2].partition("</svg>")[0]
        drawn = [int(each.partition('"')[0]) for each in chart.split("#point-")[1:]]
        self.assertLessEqual(len(drawn), 3000)
        self.assertGreater(max(drawn), 8900)

    def test_the_page_has_what_its_axes_allow(self):
        """Two programs on two numbers of devices at two rates: scaling and a heat map of each."""
        out = self.folder / "out"
        resnet = ROOT / "data/workloads/resnet50_train_step_4_devices_1024_batch.mlir.zst"
        axes = {"program": [str(LLAMA), str(resnet)], "system.bandwidth": ["50 GB/s", "400 GB/s"], "retarget": [8, 16]}
        done = run("sweep", self.file(base={"device": "H100_80GB"}, axes=axes, tokens=1e9), "--output", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(run("sweep-report", out).returncode, 0)
        page = (out / "report.html").read_text()
        for name in (LLAMA.name, resnet.name):
            self.assertIn(f": {name}</h2>", page)
        self.assertEqual(page.count("aria-label=\"Step time by number of devices"), 2)
        self.assertEqual(page.count("aria-label=\"Heat map of"), 2)

    def test_answers(self):
        keys = {"axes": {"device": ["A100_SXM_40GB", "H100_80GB"]}, "tokens": 1e9, "prices": {"H100_80GB": 3, "*": 1}}
        rows = self.rows(**keys)
        for row, price in zip(rows, (1, 3)):
            self.assertAlmostEqual(row["cost_per_step"], 4 * price * row["step_time_s"] / 3600)
            self.assertAlmostEqual(row["run_steps"], 1e9 / row["units_per_step"])
            self.assertAlmostEqual(row["run_cost"], row["run_steps"] * row["cost_per_step"])
            self.assertAlmostEqual(row["units_per_second_per_device"], row["units_per_step"] / 4 / row["step_time_s"])
            self.assertAlmostEqual(row["energy_all_devices_j"], 4 * row["energy_j"])
        done = run("sweep", self.file(**keys), "--subject-to", "step_time < 1 s", "--price-per-hour", "2")
        self.assertIn("fewest devices that fit and meet the constraints", done.stdout)
        none = run("sweep", self.file(**keys), "--subject-to", "step_time < 1 ns")
        self.assertIn("none", none.stdout)

    def test_stragglers(self):
        rows = self.rows(axes={"straggler": ["", "0-3=2"], "network_backend": ["none", "analytical"], "estimator": ["roofline", "calibrated"]})
        alone = {(r["straggler"], r["network_backend"], r["estimator"]): r["compute_time_s"] for r in rows}
        for estimator in ("roofline", "calibrated"):
            slow, fast = alone["0-3=2", "analytical", estimator], alone["", "analytical", estimator]
            self.assertAlmostEqual(slow / fast, 2, places=6)
        self.assertEqual(self.rows(axes={"straggler": ["9=2"]})[0]["error"], "E0946")

    def test_cost_is_estimated_without_running_all(self):
        axes = {"system.latency": {"from": "1 us", "to": "9 us", "steps": 100000}}
        done = run("sweep", self.file(axes=axes), "--estimate-cost")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^100000 points, about [\d.e+]+ s on ")

    def test_bad_files(self):
        self.refused("E1003", "did you mean `device`", axes={"devcie": ["A100_SXM_40GB"]})
        self.refused("E0802", "did you mean `sm_count`", axes={"device.sm_cuont": [100], "device": ["A100_SXM_40GB"]})
        self.refused("E0822", "did you mean", base={"program": str(LLAMA), "system": "A100_SXM_40GB_4GPU"}, axes={"system.endpoint-dealy": [1]})
        self.refused("E0806", "did you mean `A100_SXM_40GB`", axes={"device": ["A100_SXM_40GBB"]})
        self.refused("E1004", "did you mean `calibrated`", axes={"estimator": ["calibratd"]})
        self.refused("E1004", "whole number", axes={"num_npus": [2.5]})
        self.refused("E0970", "no such quantity", axes={"device.memory_bandwidth": ["fast"]})
        self.refused("E1005", "unknown key `axis`", axis={})
        self.refused("E1005", "equally many", axes={"device": ["A100_SXM_40GB"], "overlap": ["program", "perfect"]}, zip=["device", "overlap"])
        self.refused("E1005", "which is no axis", axes={"device": ["A100_SXM_40GB"]}, zip=["device", "overlap"])
        self.refused("E1005", "no `steps`", axes={"num_npus": {"from": 1, "to": 8}})
        self.refused("E1005", "`steps` is a whole number", axes={"num_npus": {"from": 1, "to": 8, "steps": 0}})
        self.refused("E1006", "no values", axes={"device": []})
        self.refused("E1006", "let nothing through", axes={"num_npus": [1, 2]}, filter="num_npus > 5", status=2)
        self.refused("E1001", "is no unit", axes={"num_npus": [1, 2]}, filter="num_npus > 5 parsecs")
        self.refused("E1001", "did you mean `num_npus`", axes={"num_npus": [1, 2]}, filter="num_npu > 5")
        self.refused("E1002", "leave no value", axes={"num_npus": [4]}, constraints=["step_time < 1 ms", "step_time > 2 ms"], status=2)
        self.refused("E1002", "leave no value", "--subject-to", "energy < 1", "--subject-to", "energy > 2", axes={"num_npus": [4]})
        self.refused("E1005", "did you mean `step_time`", minimise="step_tme", axes={"num_npus": [4]})
        self.refused("E0948", "names none", "--points", "7-3", axes={"num_npus": [4]})
        path = self.folder / "bad.yaml"
        for text, code in (("axes: [", "E1000"), ("{", "E0801"), ("just words", "E1005")):
            path.write_text(text)
            done = run("sweep", path)
            self.assertEqual((done.returncode, f"error[{code}]" in done.stderr), (1, True), done.stderr)
        self.assertEqual(run("sweep", self.folder / "nothing.yaml").returncode, 1)

    def test_places_of_errors(self):
        path = self.folder / "sweep.yaml"
        path.write_text(f"base: {{program: {LLAMA}}}\naxes:\n  device: [A100_SXM_40GB]\n  overlap:\n    - program\n    - perfct\n")
        done = run("sweep", path)
        self.assertIn("sweep.yaml:6:7: error[E1004]", done.stderr)
        self.assertIn("did you mean `perfect`", done.stderr)

    def test_a_million_points_need_a_yes(self):
        axes = {"system.latency": {"from": "1 us", "to": "9 us", "steps": 1000}, "num_npus": {"from": 4, "to": 4000, "step": 4}}
        done = self.refused("E1007", "1000000 points", axes=axes, status=2)
        self.assertIn("--yes", done.stderr)
        self.refused("E1007", "10^18", axes={f"device.calibration.c{i}": {"from": 1, "to": 2, "steps": 1000} for i in range(9)})

    def test_output_that_cannot_be_written(self):
        (self.folder / "taken").write_text("a file")
        self.refused("E0002", "taken", "--output", self.folder / "taken", axes={"num_npus": [4]})
        full = run("sweep", self.file(axes={"num_npus": [4] * 400}), "--output", self.folder / "full", largest_file=20000)
        self.assertEqual(full.returncode, 1)
        self.assertIn("error[E0002]", full.stderr)


if __name__ == "__main__":
    unittest.main()
