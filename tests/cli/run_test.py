"""The main job: figures that agree with each other, traces that simulate to the same step time."""
import json
import pathlib
import tempfile
import unittest

from command import FIXTURES, LLAMA, ROOT, fixture, result, run

A100 = ("--device", "A100_SXM_40GB", "--system", "A100_SXM_40GB_4GPU", "--estimator", "roofline", "--optimise", "none")
SYSTEM = ROOT / "configs/systems/A100_SXM_40GB_4GPU/astra-sim"


def simulate(folder):
    return result("simulate", f"--workload-configuration={folder}/dev",
                  f"--comm-group-configuration={folder}/comm_group.json",
                  f"--system-configuration={SYSTEM}/system.json",
                  f"--network-configuration={SYSTEM}/network.yml",
                  f"--remote-memory-configuration={SYSTEM}/remote_memory.json")


class MainJob(unittest.TestCase):
    def test_llama_step_time_of_the_plain_export(self):
        """The prototype's roofline gives 212.4 ms for this file (workloads README)."""
        answer = result("run", LLAMA, *A100)
        self.assertEqual(answer["schema_version"], 1)
        self.assertEqual(answer["npus"], 4)
        self.assertTrue(0.19 <= answer["step_time_s"] <= 0.24, answer["step_time_s"])
        counts = {c["op"]: c["count"] for c in answer["collectives"]}
        self.assertEqual(counts, {"all_reduce": 272, "all_gather": 100})

    def test_times_add_up(self):
        answer = result("run", LLAMA, *A100)
        self.assertEqual(answer["compute_time_ps"] + answer["exposed_communication_ps"] + answer["idle_ps"],
                         answer["step_time_ps"])
        self.assertEqual(answer["communication_time_ps"] - answer["overlap_ps"], answer["exposed_communication_ps"])

    def test_every_answer_says_how_its_collectives_are_priced(self):
        cluster = ("--device", "A100_SXM_40GB", "--retarget", "16", "--optimise", "none")
        for model, algorithms in (("calibrated", {"ring", "tree", "NVLS", "NVLSTree"}), ("plain", {"of the system file"})):
            with tempfile.TemporaryDirectory() as folder:
                alone = result("run", LLAMA, *cluster, "--network-model", model)["collectives"]
                written = result("run", LLAMA, *cluster, "--network-model", model, "--output", folder)["collectives"]
            self.assertEqual(alone, written)
            for pricing in (pricing for row in alone for pricing in row["pricings"]):
                self.assertEqual(pricing["model"], model)
                self.assertIn(pricing["algorithm"], algorithms)
                self.assertIn("dimension", pricing["levels"])
                self.assertRegex(pricing["bound"], "^(latency|bandwidth of dimension [01])$")
            self.assertTrue(all(row["pricings"] for row in alone), alone)

    def test_written_traces_simulate_to_the_same_step_time(self):
        with tempfile.TemporaryDirectory() as folder:
            answer = result("run", LLAMA, *A100, "--output", folder)
            names = {p.name for p in pathlib.Path(folder).iterdir()}
            self.assertLessEqual({"dev.0.et", "dev.3.et", "comm_group.json", "result.json", "module_stats.json"}, names)
            finish = max(npu["finish"] for npu in simulate(folder)["npus"])
            self.assertAlmostEqual(finish / answer["step_time_s"] / 1e9, 1, delta=1e-6)  # ticks are nanoseconds
            with open(f"{folder}/result.json", encoding="utf-8") as file:
                self.assertEqual(json.load(file)["step_time_ps"], answer["step_time_ps"])

    def test_split_strategies_agree_on_the_work(self):
        individual = result("run", LLAMA, *A100, "--split", "individual")
        linear = result("run", LLAMA, *A100, "--split", "linear")
        self.assertEqual(individual["flops"], linear["flops"])
        self.assertGreater(individual["blocks"]["total"], linear["blocks"]["total"])

    def test_every_fixture_runs(self):
        for program in sorted(FIXTURES.glob("*.mlir*")):
            with self.subTest(program.name):
                answer = result("run", program, *A100, "--num-npus", "4")
                self.assertGreaterEqual(answer["step_time_s"], 0)

    def test_standard_input_and_formats(self):
        text = fixture("jax_example")
        for name in ("table", "json", "jsonl", "csv", "md"):
            done = run("run", "-", *A100, "--network-backend", "none", "--format", name, stdin=text)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(done.stdout.strip())

    def test_without_output_nothing_is_written(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(run("run", LLAMA, *A100, cwd=folder).returncode, 0)
            self.assertEqual(list(pathlib.Path(folder).iterdir()), [])

    def test_log_tells_the_stages_and_goes_where_it_is_sent(self):
        stages = ("read", "estimate", "assemble", "simulate")
        shown = run("run", LLAMA, *A100, "--log-level", "info").stderr
        with tempfile.TemporaryDirectory() as folder:
            done = run("run", LLAMA, *A100, "--log-level", "info", "--log-path", f"{folder}/log")
            self.assertEqual(done.stderr, "")
            kept = pathlib.Path(folder, "log").read_text(encoding="utf-8")
        for text in (shown, kept):
            self.assertEqual([s for s in stages if f"[info] {s}" in text], list(stages))
        self.assertEqual(run("run", LLAMA, *A100).stderr, "")

    def test_summary_fits_a_terminal(self):
        lines = run("run", LLAMA, *A100, cwd=ROOT).stdout.splitlines()[1:]  # the first is the path
        self.assertLessEqual(len(lines), 24)
        self.assertLessEqual(max(map(len, lines)), 80)


if __name__ == "__main__":
    unittest.main()
