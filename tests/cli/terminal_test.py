"""What a terminal shows: the five formats of every listing command, progress of long work, grouped warnings, explanations."""
import csv
import json
import os
import pathlib
import pty
import re
import shutil
import subprocess
import tempfile
import unittest

from command import BIN, LLAMA, ROOT, result, run

A100 = ["--device", "A100_SXM_40GB"]
SLOW = """#!/usr/bin/env python3
import json, sys, time
print(json.dumps({"ready": True, "name": "slow", "version": "1", "costs": ["tanh"]}), flush=True)
for line in sys.stdin:
    time.sleep(0.04)
    print(json.dumps({"id": json.loads(line)["id"], "ok": True, "seconds": 1e-6}), flush=True)
"""


def chain(count):
    """Differing shapes, so that every block is asked for."""
    lines = [f"%{i} = stablehlo.tanh %a{i} : tensor<{8 + i}xf32>" for i in range(count)]
    arguments = ", ".join(f"%a{i}: tensor<{8 + i}xf32>" for i in range(count))
    return f"func.func @main({arguments}) -> tensor<8xf32> {{\n" + "\n".join(lines) + "\nreturn %0 : tensor<8xf32>\n}\n"


class FormatTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        done = run("estimate", LLAMA, *A100, "--cache", cls.folder / "kept.sqlite")
        assert done.returncode == 0, done.stderr
        done = run("trace", LLAMA, *A100, "--output", cls.folder / "traces")
        assert done.returncode == 0, done.stderr
        (cls.folder / "kernels.csv").write_text("op,dtype,b,m,n,k\nlinear,f32,1,512,512,512\n")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def commands(self):
        traces = self.folder / "traces"
        return [["devices"], ["devices", "H100_80GB"], ["systems"], ["doctor"], ["schema"], ["cache", "stats", self.folder / "kept.sqlite"],
                ["run", LLAMA, *A100], ["run", LLAMA, *A100, "--print-config"], ["analyze", LLAMA], ["optimise", LLAMA, *A100],
                ["split", LLAMA], ["estimate", LLAMA, *A100], ["estimate", "--kernels", self.folder / "kernels.csv", *A100],
                ["simulate", "--workload-configuration", traces / "dev", "--comm-group-configuration", traces / "comm_group.json", "--system", "A100_SXM_40GB_4GPU"],
                ["collective", "show", ROOT / "examples/custom-collective/allreduce_ring_4.xml"],
                ["explain", LLAMA, *A100], ["explain", LLAMA, "4", *A100], ["explain", LLAMA, "collective", "0", *A100],
                ["compare", LLAMA, *A100, "--estimators", "roofline,genz"], ["validate", "--set", "collectives"]]

    def test_every_listing_command_speaks_five_formats(self):
        for words in self.commands():
            texts = {}
            for form in ("table", "json", "jsonl", "csv", "md"):
                with self.subTest(f"{words[0]} {form}"):
                    done = run(*words, "--format", form)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    texts[form] = done.stdout
            with self.subTest(" ".join(map(str, words))):
                self.assertTrue(texts["table"].strip())
                self.assertTrue(json.loads(texts["json"]))
                for line in texts["jsonl"].splitlines():
                    self.assertIsInstance(json.loads(line), dict)
                rows = list(csv.reader(texts["csv"].splitlines()))
                self.assertGreater(len(rows), 1)
                self.assertEqual({len(row) for row in rows}, {len(rows[0])})
                lines = texts["md"].splitlines()
                self.assertRegex(lines[1], r"^\|(-+:?\|)+$")
                if words[0] != "analyze":  # several tables
                    self.assertEqual(len(lines), len(rows) + 1)
                if words[0] != "optimise":  # prints the module
                    self.assertEqual(run(*words).stdout, texts["table"])


def all_reduces(ranks, count):
    """All-reduces over all ranks, one behind the other."""
    groups = ",".join(map(str, range(ranks)))
    ops = "".join(f"""  %{i + 1} = "stablehlo.all_reduce"(%{i}) <{{channel_handle = #stablehlo.channel_handle<handle = {i + 1}, type = 1>,
    replica_groups = dense<[[{groups}]]> : tensor<1x{ranks}xi64>, use_global_device_ids}}> ({{
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }}) : (tensor<4096xf32>) -> tensor<4096xf32>
""" for i in range(count))
    return (f"module @m attributes {{mhlo.num_partitions = {ranks} : i32, mhlo.num_replicas = 1 : i32}} {{\n"
            f"func.func @main(%0: tensor<4096xf32>) -> tensor<4096xf32> {{\n{ops}  return %{count} : tensor<4096xf32>\n}}\n}}\n")


def ring(folder, npus):
    """The file of a system that is one ring."""
    path = folder / "ring.json"
    path.write_text(json.dumps({
        "network": {"topology": ["Ring"], "npus_count": [npus], "bandwidth": [100], "latency": [500]},
        "system": {"scheduling-policy": "LIFO", "endpoint-delay": 1, "active-chunks-per-dimension": 1, "preferred-dataset-splits": 1,
                   "all-reduce-implementation": ["ring"], "all-gather-implementation": ["ring"], "reduce-scatter-implementation": ["ring"],
                   "all-to-all-implementation": ["direct"], "collective-optimization": "localBWAware"}}))
    return path


class ProgressTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        tool = self.folder / "slow.py"
        tool.write_text(SLOW)
        tool.chmod(0o755)
        (self.folder / "chain.mlir").write_text(chain(60))
        self.words = ["estimate", self.folder / "chain.mlir", *A100, "--optimise", "none", "--estimator", f"exec:{tool}"]

    def on_terminal(self, *words):
        """Standard output, and what a terminal got on standard error."""
        ours, theirs = pty.openpty()
        process = subprocess.Popen([BIN / "hespas", *map(str, words)], stdout=subprocess.PIPE, stderr=theirs, text=True)
        os.close(theirs)
        shown = b""
        try:
            while piece := os.read(ours, 4096):
                shown += piece
        except OSError:  # the other end is closed
            pass
        os.close(ours)
        text, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, shown)
        return text, shown.decode()

    def test_long_work_tells_rate_and_end_on_one_line(self):
        text, shown = self.on_terminal(*self.words)
        self.assertNotIn("estimate ", text)
        lines = re.findall(r"\r\x1b\[Kestimate (\d+)/60, ([\d.]+)/s, (\d+) s left", shown)
        self.assertGreater(len(lines), 3)
        self.assertEqual([int(n) for n, _, _ in lines], sorted(int(n) for n, _, _ in lines))
        self.assertGreaterEqual(int(lines[0][0]), 5)  # silent in the first second
        self.assertTrue(shown.endswith("\r\x1b[K"))
        self.assertNotIn("\n", shown)

    def test_simulations_tell_their_nodes(self):
        (self.folder / "reduce.mlir").write_text(all_reduces(1024, 24))
        run("trace", self.folder / "reduce.mlir", *A100, "--optimise", "none", "--output", self.folder / "traces", "--rank-classes")
        _, shown = self.on_terminal("simulate", "--workload-configuration", self.folder / "traces" / "dev", "--system", ring(self.folder, 1024),
                                    "--comm-group-configuration", self.folder / "traces" / "comm_group.json", "--engine", "events")
        lines = re.findall(r"simulate (\d+)/(\d+), [\d.e+]+/s, \d+ s left", shown)
        self.assertGreater(len(lines), 1)
        self.assertTrue(all(0 < int(done) <= int(total) for done, total in lines), lines)
        self.assertTrue(shown.endswith("\r\x1b[K"))

    def test_work_with_a_budget_ends_with_it(self):
        """All blocks would take longer than the budget: what is left of that is told."""
        (self.folder / "chain.mlir").write_text(chain(4000))
        _, shown = self.on_terminal("run", self.folder / "chain.mlir", "--estimator", "pjrt", "--plugin", BIN / "fake_pjrt_plugin.so",
                                    "--split", "individual", "--budget", "4s", "--network-backend", "none")
        lines = re.findall(r"profile (\d+)/(\d+), ([\d.e+]+)/s, (\d+) s left", shown)
        self.assertGreater(len(lines), 1, shown)
        for done, total, rate, left in lines:
            self.assertLessEqual(int(left), 3)  # nothing is shown in the first second
            self.assertGreater((int(total) - int(done)) / float(rate), 4)  # so long all of them would take

    def test_quiet_or_short_work_shows_nothing(self):
        self.assertEqual(self.on_terminal(*self.words, "-q")[1], "")
        self.assertEqual(self.on_terminal("estimate", LLAMA, *A100)[1], "")


class WarningTest(unittest.TestCase):
    TEXT = "HloModule m\nENTRY e {\n  x = f32[64] parameter(0)\n" + "".join(f"  y{i} = f32[64] strange-op{i}(x)\n" for i in range(7)) + \
           "  ROOT t = f32[64] tanh(x)\n}\n"

    def test_warnings_are_grouped_and_counted(self):
        done = run("run", "-", *A100, "--network-backend", "none", stdin=self.TEXT)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("warning[W0201]"), 3)
        self.assertIn("W0201: 4 more like this\n", done.stderr)
        self.assertEqual(run("run", "-", *A100, "--network-backend", "none", "-q", stdin=self.TEXT).stderr, "")
        answer = result("run", "-", *A100, "--network-backend", "none", stdin=self.TEXT)
        self.assertEqual([w["code"] for w in answer["warnings"]].count("W0201"), 7)


class ExplainTest(unittest.TestCase):
    def test_step_is_a_path_without_gaps_that_adds_up(self):
        step = result("run", LLAMA, *A100)["step_time_ps"]
        rows = result("explain", LLAMA, *A100)
        at = 0
        for row in rows:
            self.assertEqual(row["start_ps"], at)
            at += row["time_ps"]
        self.assertEqual(at, step)
        self.assertIn(f"in all ({step} ps)", run("explain", LLAMA, *A100).stdout)

    def test_block_shows_its_formula_with_numbers_and_sources(self):
        blocks = result("split", LLAMA, *A100, "--optimise", "auto")
        rows = result("compare", LLAMA, *A100, "--estimators", "roofline,calibrated")["blocks"]
        number, time = next((row["block"][0], row["time_ps"][0]) for row in rows if row["kind"] == "matmul")
        self.assertEqual(blocks[number]["kind"], "compute")
        answer = result("explain", LLAMA, str(number), *A100, "--estimator", "roofline")
        self.assertEqual(answer["facts"]["kind"], "matmul")
        self.assertIn(f"({time} ps)", answer["facts"]["time"])
        self.assertTrue(any(re.search(r"flops / rate = .*FLOP / .*FLOP/s = ", line) for line in answer["formula"]))
        parameters = {p["name"]: p for p in answer["parameters"]}
        self.assertIn("datasheet", parameters["memory bandwidth"]["source"])
        self.assertTrue(answer["binds"])
        self.assertTrue(answer["next"])

    def test_options_are_named_as_sources(self):
        answer = result("explain", LLAMA, "dot_general", *A100, "--set", "device.memory_bandwidth=2x")
        parameters = {p["name"]: p for p in answer["parameters"]}
        self.assertEqual(parameters["memory bandwidth"]["source"], "option --set device.memory_bandwidth=2x")
        calibrated = [p for p in answer["parameters"] if p["source"].startswith("calibration set")]
        self.assertTrue(calibrated)

    def test_operation_is_the_costliest_of_its_name(self):
        rows = result("compare", LLAMA, *A100, "--estimators", "calibrated,roofline")["blocks"]
        longest = max(row["time_ps"][0] for row in rows if row["kind"] == "matmul")
        for name in ("dot_general", "stablehlo.dot_general", "matmul"):
            self.assertIn(f"({longest} ps)", result("explain", LLAMA, *name.split(), *A100)["facts"]["time"])

    def test_collective_time_is_waiting_and_transfer(self):
        answer = result("explain", LLAMA, "collective", "0", *A100)
        self.assertRegex(answer["title"], r"^collective 0: all_")
        self.assertEqual(answer["facts"]["members"], "4")
        for word in ("waiting", "transfer"):
            self.assertTrue(any(word in line for line in answer["formula"]))
        sources = {p["name"]: p["source"] for p in answer["parameters"]}
        self.assertEqual(sources["bandwidth of a link, dimension 0, 4 NPUs"], "system A100_SXM_40GB_4GPU")
        self.assertTrue(answer["binds"] and answer["next"])

    def test_what_is_not_there_gets_a_suggestion(self):
        for words, part in ((["all_gathr"], "did you mean"), (["99999"], "there is no block 99999"), (["collective", "99999"], "there is no collective 99999")):
            with self.subTest(words):
                done = run("explain", LLAMA, *words, *A100)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(part, done.stderr)


if __name__ == "__main__":
    unittest.main()
