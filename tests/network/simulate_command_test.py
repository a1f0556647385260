#!/usr/bin/env python3
"""`hespas simulate` as a user runs it: tables, JSON, ASTRA-sim's lines and log files, exit statuses."""
import csv
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(os.environ["HESPAS_ROOT"])
sys.path.insert(0, str(ROOT / "bench"))
import network_rows as rows  # noqa: E402

HESPAS = pathlib.Path(os.environ["HESPAS_BIN"]) / "hespas"
SYSTEM = {"preferred-dataset-splits": 1, "endpoint-delay": 10, "local-mem-bw": 1600, "trace-enabled": 1}


class Simulate(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.at = pathlib.Path(self.folder.name)
        self.system = dict(SYSTEM)
        for kind in ("all-reduce", "all-gather", "reduce-scatter", "all-to-all"):
            self.system[f"{kind}-implementation"] = ["ring"]
        self.network = rows.network("Ring", [4])
        trace = rows.trace([rows.node(0, [], microseconds=7),
                            rows.node(1, [0], collective=rows.ALL_REDUCE, size=rows.MIB),
                            rows.node(2, [0], microseconds=5)])
        for rank in range(4):
            (self.at / f"t.{rank}.et").write_bytes(trace)

    def tearDown(self):
        self.folder.cleanup()

    def run_it(self, *options):
        (self.at / "system.json").write_text(json.dumps(self.system))
        (self.at / "network.yml").write_text("".join(f"{k}: {json.dumps(v)}\n" for k, v in self.network.items()))
        return subprocess.run([HESPAS, "simulate", "--workload-configuration=t", "--system-configuration=system.json",
                               "--network-configuration=network.yml", *options], cwd=self.at, capture_output=True,
                              text=True, timeout=60, check=False)

    def answer(self, *options):
        done = self.run_it("--format=json", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def table(self, part):
        done = self.run_it("--format=csv", f"--show={part}")
        self.assertEqual(done.returncode, 0, done.stderr)
        return list(csv.DictReader(io.StringIO(done.stdout)))

    def test_what_the_plain_model_does_not_know_is_refused(self):
        for option in ("--collective-sms=4", "--collective-memory=2", "--collective-streams=group"):
            done = self.run_it(option)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("--network-model calibrated", done.stderr)

    def test_details_conserve_bytes_and_attribute_exposed_time(self):
        for backend in ("analytical", "analytical-aware"):
            out = self.answer("--details", f"--network-backend={backend}")
            # A ring all-reduce sends 2 (n - 1) / n of its size from each NPU, one hop each.
            self.assertEqual(sum(link["bytes"] for link in out["links"]), 4 * 6 * rows.MIB // 4)
            use, = out["collectives"]
            self.assertEqual((use["node"], use["members"], use["bytes"]), (1, 4, rows.MIB))
            npu = out["npus"][0]
            self.assertEqual(use["exposed"], npu["wall"] - npu["gpu"])  # the compute behind it hides 5 us
            self.assertEqual(use["end"] - use["start"], npu["comm"])
            path = out["critical_path"]
            self.assertEqual([step["node"] for step in path], [0, 1])
            self.assertEqual(path[-1]["end"], npu["finish"])
            for before, after in zip(path, path[1:]):
                self.assertEqual(before["end"], after["start"])

    def test_each_part_is_a_table(self):
        self.assertEqual([row["npu"] for row in self.table("npus")], ["0", "1", "2", "3"])
        self.assertEqual(sum(int(row["bytes"]) for row in self.table("links")), 6 * rows.MIB)
        self.assertEqual([row["collective"] for row in self.table("collectives")], ["node_1"])
        self.assertEqual([row["node"] for row in self.table("critical-path")], ["0", "1"])
        text = self.run_it("--details").stdout
        for heading in ("npu", "link", "collective", "critical path"):
            self.assertRegex(text, rf"(?m)^ *{heading}\b")

    def test_a_straggler_is_who_the_others_wait_for(self):
        out = self.answer("--details", "--slow-npu", "2=3")
        use, = out["collectives"]
        self.assertEqual((use["last_member"], use["waited"]), (2, 14_000 - 5_000))
        self.assertIn("events: hardly any two of the 4 ranks are equivalent", out["method"])
        self.assertEqual(out["critical_path"][0]["npu"], 2)

    def test_log_files_tell_of_every_node(self):
        self.assertEqual(self.run_it("--logging-folder=logs").returncode, 0)
        log = (self.at / "logs/log.log").read_text()
        for what in ("issue", "callback"):
            found = re.findall(rf"\[debug\] {what},sys->id=(\d), tick=(\d+), node->id=(\d), node->name=node_(\d), "
                               r"node->type=(\d)", log)
            self.assertEqual(len(found), 4 * 3)
        ticks = [int(tick) for tick in re.findall(r"tick=(\d+)", log)]
        self.assertEqual(ticks, sorted(ticks))
        self.assertEqual(log.count(" finished, "), 4)
        self.assertEqual((self.at / "logs/err.log").read_text(), "")
        del self.system["trace-enabled"]
        self.run_it("--logging-folder=logs")
        self.assertNotIn("[debug]", (self.at / "logs/log.log").read_text())

    def test_local_memory_is_tracked(self):
        def tensors(name, items):
            texts = b"".join(rows.block(1, str(text).encode()) for item in items for text in item)
            return rows.block(10, rows.block(1, name.encode()) + rows.block(30, texts))

        def node(index, after, microseconds, reads, writes):
            plain = rows.node(index, after, microseconds=microseconds)[1:]  # without its length
            whole = plain + tensors("inputs", reads) + tensors("outputs", writes)
            return rows.varint(len(whole)) + whole

        weights, hidden, out = ("w", 4 * rows.MIB), ("h", 2 * rows.MIB), ("o", rows.MIB)
        trace = rows.trace([node(0, [], 3, [weights], [hidden]), node(1, [0], 5, [hidden], [out]),
                            node(2, [1], 2, [out], [])])
        for rank in range(4):
            (self.at / f"t.{rank}.et").write_bytes(trace)
        self.system["track-local-mem"] = 1
        self.system["local-mem-trace-filename"] = "memory"
        npus = self.answer("--logging-folder=logs")["npus"]
        self.assertEqual({npu["peak_memory_bytes"] for npu in npus}, {6 * rows.MIB})  # w and h
        events = json.loads((self.at / "logs/memory.3.json").read_text())["traceEvents"]
        counter = [(event["ts"], event["args"]["MiB"]) for event in events if event["ph"] == "C"]
        self.assertEqual(counter, [(0, 6), (3, 3), (8, 1), (10, 0)])
        self.assertIn("sys[0] peak memory usage: 6.00 MiB", (self.at / "logs/log.log").read_text())

    def test_tracking_memory_needs_tensors(self):
        self.system["track-local-mem"] = 1
        done = self.run_it("--logging-folder=logs")
        self.assertEqual(done.returncode, 4)
        self.assertIn("node 0: `inputs` is missing", done.stderr)

    def test_nothing_is_written_unless_asked(self):
        before = sorted(self.at.iterdir())
        self.run_it()
        after = [path for path in sorted(self.at.iterdir()) if path.name not in ("system.json", "network.yml")]
        self.assertEqual(after, before)

    def test_systems_that_make_no_sense_cannot_run(self):
        self.system["scheduling-policy"] = "BOGUS"
        done = self.run_it()
        self.assertEqual(done.returncode, 4)
        self.assertIn("system.json:1:", done.stderr)
        self.assertIn("scheduling-policy", done.stderr)

    def test_a_group_that_spans_a_missing_level_is_refused(self):
        (self.at / "groups.json").write_text('{"1": [0, 6]}')
        for model in ("plain", "calibrated"):
            done = self.run_it("--comm-group-configuration=groups.json", f"--network-model={model}", "--device=H100_80GB")
            self.assertEqual(done.returncode, 4, done.stderr)
            for text in ("groups.json: error[E0701]", "NPU 6", "npus_count"):
                self.assertIn(text, done.stderr)

    def test_a_system_of_more_npus_than_traces_is_refused_with_its_place(self):
        own = self.at / "own.json"
        own.write_text('{"device": "H100_80GB", "network": {"topology": ["Ring"],\n"npus_count": [64], "bandwidth": ["50 GB/s"],'
                       '"latency": ["1 us"]}}')
        done = subprocess.run([HESPAS, "simulate", "--workload-configuration", self.at / "t", "--system", own], capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        for text in (f"{own}:2:1: error[E0820]", "has 64 NPUs", "but there are only 4 traces", "npus_count"):
            self.assertIn(text, done.stderr)
        done = subprocess.run([HESPAS, "simulate", "--workload-configuration", self.at / "t", "--system", "H100_80GB 8"],
                              capture_output=True, text=True, check=False)
        self.assertIn("has 8 NPUs, but there are only 4 traces", done.stderr)
        self.assertNotIn("npus_count", done.stderr)

    def test_the_calibrated_model_answers_as_hespas_run_does(self):
        program = ROOT / "examples/llama3-100m-4dev.mlir.gz"
        for device, system in (("A100_SXM_40GB", "A100_SXM_40GB_4GPU"), ("A100_SXM_40GB", "A100_SXM_40GB 2x2"),
                               ("A100_SXM_40GB", "A100_SXM_40GB 1x4 ib=10GB/s latency=0us"), ("TPUv5p", "TPUv5p 2x1x1 slices=2"),
                               ("MI300X", "MI300X_4GPU"), ("L40S_48GB", "L40S_48GB 2x2 ib=200Gbit/s")):
            out = self.at / "out"
            done = subprocess.run([HESPAS, "run", program, "--device", device, "--system", system, "--output", out, "--clean",
                                   "--no-report", "--format", "json"], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            again = subprocess.run([HESPAS, "simulate", "--workload-configuration", out / "dev", "--system", system,
                                    "--comm-group-configuration", out / "comm_group.json", "--network-model", "calibrated",
                                    "--format", "json"], capture_output=True, text=True, check=False)
            self.assertEqual(again.returncode, 0, again.stderr)
            finish = max(npu["finish"] for npu in json.loads(again.stdout)["npus"])
            self.assertEqual(finish, json.loads(done.stdout)["step_time_ps"], system)

    def test_latency_of_each_dimension_counts(self):
        def step(*options):
            done = subprocess.run([HESPAS, "run", ROOT / "examples/llama3-100m-4dev.mlir.gz", "--device", "A100_SXM_40GB", "--system",
                                   "A100_SXM_40GB 2x2", "--format", "json", *options], capture_output=True, text=True, check=False)
            return json.loads(done.stdout)["step_time_ps"] if done.returncode == 0 else done.stderr
        plain = step()
        self.assertLess(step("--set", "system.latency=0"), plain)
        for dimension in (0, 1):
            self.assertGreater(step("--set", f"system.latency[{dimension}]=1ms"), plain + 10**9)
            self.assertGreater(step("--set", f"system.bandwidth[{dimension}]=0.01x"), plain)
        self.assertIn("E0970", step("--set", "system.bandwidth[2]=1GB/s"))
        self.assertIn("E0970", step("--set", "system.bandwidth=0"))


if __name__ == "__main__":
    unittest.main()
