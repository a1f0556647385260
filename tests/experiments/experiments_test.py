"""`hespas experiment` on the shipped configurations and on folders of one's own."""
import csv
import hashlib
import json
import pathlib
import shutil
import tempfile
import unittest

import command

FOLDER = command.ROOT / "experiments"
NAMES = sorted(path.parent.name for path in FOLDER.glob("*/experiment.json"))
STEPS = [name for name in NAMES if json.loads((FOLDER / name / "experiment.json").read_text())["kind"] == "steps"]
QUICK = {"llama3": "llama3-100m", "resnet": "resnet18", "tpu": "llama3-100m", "scale_out": "llama2-7b",
         "distributed_gemm": "1024x1024x1024-fsdp,1024x1024x1024-rows"}


def experiment(*words):
    done = command.run("experiment", *words)
    assert done.returncode == 0, done.stderr
    return done


class Shipped(unittest.TestCase):
    def test_the_list_names_all_and_whose_they_are(self):
        listed = experiment("--list").stdout.splitlines()
        self.assertEqual([line.split()[0] for line in listed], NAMES)
        self.assertGreaterEqual(len(NAMES), 8)
        for line in listed:
            self.assertRegex(line, "the paper's|ours, after the paper|ours, after published tables|the prototype's")

    def test_every_program_is_there(self):
        for name in STEPS:
            configuration = json.loads((FOLDER / name / "experiment.json").read_text())
            for workload in configuration["workloads"]:
                for source in configuration["sources"]:
                    program = source.get("program", configuration["program"]).format(workload=workload)
                    self.assertTrue((command.ROOT / "data/workloads" / program).is_file(), program)

    def test_every_shipped_program_has_its_origin(self):
        folder = command.ROOT / "data/workloads"
        manifest = json.loads((folder / "manifest.json").read_text())
        self.assertEqual(sorted(entry["file"] for entry in manifest), sorted(str(path.relative_to(folder)) for path in folder.rglob("*.zst")))
        for entry in manifest:
            self.assertEqual(hashlib.sha256((folder / entry["file"]).read_bytes()).hexdigest(), entry["sha256"], entry["file"])
            self.assertTrue(entry.get("command") or entry.get("source"), entry["file"])

    def test_a_workload_of_each_gives_times_everywhere(self):
        for name in STEPS:
            result = json.loads(experiment(name, "--workloads", QUICK[name], "--format", "json").stdout)
            configuration = result["configuration"]
            wanted = len(configuration["systems"]) * len(QUICK[name].split(",")) * len(configuration["sources"])
            self.assertEqual(len([row for row in result["rows"] if row["source"] != "Prototype recorded"]), wanted)
            for row in result["rows"]:
                self.assertGreater(row["step_time_s"], 0, row)
                self.assertEqual(row["error_percent"] is None, row["measured_s"] is None)

    def test_the_prototypes_best_flow_is_met_on_all_that_is_recorded(self):
        rows = json.loads(experiment("llama3", "--systems", "A100_SXM_40GB_4GPU,H100_80GB_4GPU", "--sources", "Roofline as prototype",
                                     "--format", "json").stdout)["rows"]
        ours = {(row["system"], row["workload"]): row["step_time_s"] for row in rows}
        with open(FOLDER / "llama3/recorded.csv", newline="") as file:
            recorded = {(row["system"], row["workload"]): float(row["step_time_s"]) for row in csv.DictReader(file)}
        self.assertEqual(len(recorded), 12)
        for key, value in recorded.items():
            self.assertAlmostEqual(ours[key], value, delta=0.51e-4, msg=key)  # recorded with four decimals

    def test_predictions_beyond_the_measured_have_a_sigma(self):
        rows = json.loads(experiment("llama3", "--workloads", "llama3-100m", "--sources", "Calibrated", "--format", "json").stdout)["rows"]
        self.assertEqual([row["measured_s"] for row in rows], [0.09, 0.04, None, None])
        for row in rows:
            self.assertGreater(row["step_time_sigma_s"], 0)

    def test_recorded_cycles_and_gaps_of_the_sweep(self):
        result = json.loads(experiment("gemm-sweep", "--workloads", "64,128,1024", "--sources", "Roofline,ScaleSim,COCOSSim,ONNXim", "--format", "json").stdout)
        found = {(row["source"], row["workload"]): row["step_time_s"] for row in result["rows"]}
        # By hand: ceil(64/128)^2 (64 + 382) - 1 cycles at 0.94 GHz; the record of COCOSSim; none for 128.
        self.assertAlmostEqual(found["ScaleSim", "64"], 445 / 0.94e9, delta=1e-12)
        self.assertAlmostEqual(found["COCOSSim", "1024"], 165492 / 0.94e9, delta=1e-12)
        self.assertNotIn(("COCOSSim", "128"), found)
        self.assertIn(("Roofline", "128"), found)

    def test_the_tutorials_compat_values(self):
        result = json.loads(experiment("tutorial", "--format", "json").stdout)
        rows = {row["number"]: row for row in result["rows"]}
        explained = {each["why"] for each in result["statistics"]["reasons"]}
        with open(FOLDER / "tutorial/published.json", encoding="utf-8") as file:
            numbers = leaves(json.load(file))
        printed = " ".join(row["tutorial"] for row in rows.values()).split()
        for number in numbers:
            self.assertIn(number, printed)
        for row in rows.values():
            self.assertTrue(row["why"])
            self.assertLessEqual(set(row["why"].split("; ")), explained)
        equal = ("ASTRA-sim: communication time [ns]", "XLA profile: cache hits", "analyzer: kinds", "analyzer, optimised, expanded: kinds")
        for name in equal:
            self.assertEqual(rows[name]["compat"], rows[name]["tutorial"], name)
        self.assertEqual(rows["roofline: compute [us]"]["compat"], "57585.388")  # the prototype itself on our export
        self.assertEqual(rows["ASTRA-sim: total [ns]"]["compat"], "59890967")
        for name, row in rows.items():
            if row["compat"] not in ("-", "0") and "exposed" not in name and "overlap" not in name and "hits" not in name and "blocks" not in name:
                self.assertAlmostEqual(float(row["compat"]) / float(row["tutorial"].split()[-1]), 1, delta=0.25, msg=name)


def leaves(value):
    """All numbers of the tutorial as it prints them."""
    if isinstance(value, dict):
        return [each for item in value.values() for each in leaves(item)]
    if isinstance(value, list):
        return [each for item in value for each in leaves(item)]
    return [] if isinstance(value, str) else [str(value)]


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def own(self, **changes):
        """A copy of an experiment with other settings."""
        own = self.folder / "mine"
        shutil.copytree(FOLDER / "tpu", own)
        configuration = json.loads((own / "experiment.json").read_text()) | changes
        (own / "experiment.json").write_text(json.dumps({key: value for key, value in configuration.items() if value is not None}))
        return own

    def test_results_as_csv_and_json_and_the_page_say_the_same(self):
        out = self.folder / "out"
        experiment("tpu", "--workloads", "llama3-100m", "--output", out, "--no-figure")
        result = json.loads((out / "tpu/results.json").read_text())
        with open(out / "tpu/results.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([float(row["step_time_s"]) for row in rows], [row["step_time_s"] for row in result["rows"]])
        self.assertEqual([float(row["measured_s"]) for row in rows], [0.2] * 4)
        page = (out / "index.html").read_text()
        for row in rows:
            self.assertIn(f"<td>{row['source']}</td><td>{1e3 * float(row['step_time_s']):.4g}</td>", page)
        self.assertNotRegex(page, r"(src|href)=[\"']?https?:")
        again = self.folder / "again"
        experiment("tpu", "--workloads", "llama3-100m", "--output", again, "--no-figure", "--threads", "1")
        self.assertEqual((again / "index.html").read_bytes(), (out / "index.html").read_bytes())

    def test_without_matplotlib_the_results_are_written_and_the_figure_is_missed(self):
        done = command.run("experiment", "tpu", "--workloads", "llama3-100m", "--output", self.folder / "out",
                           environment={"PIP_NO_INDEX": "1", "XDG_CACHE_HOME": str(self.folder / "cache")})
        self.assertEqual(done.returncode, 5)
        self.assertIn("error[E0957]", done.stderr)
        self.assertEqual(sorted(path.name for path in (self.folder / "out").rglob("*.*")), ["index.html", "results.csv", "results.json"])

    def test_nothing_is_written_without_output(self):
        before = set(self.folder.iterdir())
        done = command.run("experiment", "tpu", "--workloads", "llama3-100m", cwd=self.folder)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(set(self.folder.iterdir()), before)

    def test_an_experiment_of_ones_own(self):
        own = self.own(workloads=["llama3-100m"], sources=[{"name": "GenZ", "options": ["--estimator", "genz"]}])
        rows = json.loads(experiment(own, "--format", "json").stdout)["rows"]
        self.assertEqual([(row["source"], row["measured_s"]) for row in rows], [("GenZ", 0.2)])

    def test_points_that_fail_are_told_and_the_others_stay(self):
        own = self.own(workloads=["llama3-100m", "nothing"])
        done = command.run("experiment", own, "--format", "json")
        self.assertEqual(done.returncode, 5)
        self.assertIn("there is no program", done.stderr)
        rows = json.loads(done.stdout)["rows"]
        self.assertEqual([bool(row.get("error")) for row in rows], [False] * 4 + [True] * 4)

    def test_tables_go_between_the_marks_of_a_document(self):
        document = self.folder / "page.md"
        document.write_text("before\n<!-- experiment tpu -->\nold\n<!-- /experiment tpu -->\nafter\n")
        experiment("tpu", "--workloads", "llama3-100m", "--document", document)
        text = document.read_text()
        self.assertNotIn("old", text)
        self.assertRegex(text, r"before\n<!-- experiment tpu -->\n\| system \|[^<]*TPUv3_4_2 \| Calibrated[^<]*<!-- /experiment tpu -->\nafter\n")
        document.write_text("no marks")
        done = command.run("experiment", "tpu", "--workloads", "llama3-100m", "--document", document)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(document.read_text(), "no marks")

    def test_bad_input(self):
        broken = self.own()
        cases = [(["lama3"], 2, "did you mean `llama3`"), ([], 2, "which experiment"), (["tpu", "--workloads", "llama3-100n"], 2, "llama3-100m"),
                 (["tpu", "--systems", "x"], 2, "none of the experiment's systems"), (["gemm_sweep", "--tool", "cocossim"], 2, "ESTIMATOR=PATH")]
        for words, status, said in cases:
            done = command.run("experiment", *words)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertRegex(done.stderr, r"error\[E0957\]")
            self.assertIn(said, done.stderr)
        for text, said in (("{", "Expecting"), ("[]", "`title` is missing"), ('{"title": "", "origin": "", "about": "", "kind": "x"}', "no kind of experiment"),
                           ('{"title": "", "origin": "", "about": "", "kind": "steps"}', "'systems' is missing")):
            (broken / "experiment.json").write_text(text)
            done = command.run("experiment", broken)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(said, done.stderr)


if __name__ == "__main__":
    unittest.main()
