"""The file of kept estimates: reused across runs and processes, sound after kills and damage, never wrong."""
import concurrent.futures
import json
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import tempfile
import time
import unittest

from command import BIN, FIXTURES, LLAMA, ROOT, result, run

RESNET = FIXTURES / "resnet_50_inference_step_4_devices_1024_batch.mlir.gz"
A100 = ROOT / "configs/nodes/A100_SXM_40GB/roofline/config.json"
OPTIONS = ("--device", "A100_SXM_40GB", "--estimator", "roofline", "--optimise", "none", "--network-backend", "none",
           "--num-npus", "4")


def step_time(program, cache):
    return result("run", program, *OPTIONS, "--cache", cache)["step_time_ps"]


def stored(path):
    """Rows of a cache, read by another program than the one that wrote them."""
    with sqlite3.connect(path) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return database.execute("SELECT count(*) FROM estimates").fetchone()[0]


class Cache(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.path = self.folder / "estimates.sqlite"
        self.truth = step_time(LLAMA, "none")

    def test_second_run_uses_what_the_first_kept(self):
        self.assertEqual(step_time(LLAMA, self.path), self.truth)
        rows = stored(self.path)
        self.assertGreater(rows, 20)
        with sqlite3.connect(self.path) as database:
            self.assertEqual(database.execute("PRAGMA journal_mode").fetchone(), ("wal",))
        self.assertEqual(step_time(LLAMA, self.path), self.truth)
        self.assertEqual(stored(self.path), rows)

    def test_device_options_and_model_are_part_of_the_key(self):
        step_time(LLAMA, self.path)
        rows = stored(self.path)
        for more in (("--memory-bandwidth", "1 TB/s"), ("--device", "H100_80GB"), ("--estimator", "calibrated"),
                     ("--compat", "prototype")):
            words = [w for w in OPTIONS] + list(more)
            if more[0] in OPTIONS:
                at = words.index(more[0])
                del words[at:at + 2]
            plain = result("run", LLAMA, *words, "--cache", "none")["step_time_ps"]
            kept = result("run", LLAMA, *words, "--cache", self.path)["step_time_ps"]
            self.assertEqual(plain, kept, more)
            self.assertGreater(stored(self.path), rows, more)
            rows = stored(self.path)

    def test_killed_while_writing(self):
        """kill -9 at random moments; the file stays sound and what it holds stays right."""
        moments = random.Random(5)
        killed = 0
        for _ in range(25):
            process = subprocess.Popen([BIN / "hespas", "run", LLAMA, *OPTIONS, "--cache", self.path],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(moments.uniform(0.005, 0.12))
            process.send_signal(signal.SIGKILL)
            killed += process.wait() == -signal.SIGKILL
            if self.path.exists() and self.path.stat().st_size and moments.random() < 0.3:
                self.path.unlink()  # so that later kills hit the first write too
                for suffix in ("-wal", "-shm"):
                    pathlib.Path(f"{self.path}{suffix}").unlink(missing_ok=True)
        self.assertGreater(killed, 0)
        done = run("run", LLAMA, *OPTIONS, "--cache", self.path, "--format", "json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(json.loads(done.stdout)["step_time_ps"], self.truth)
        self.assertGreater(stored(self.path), 20)

    def test_full_disk_costs_reuse_only(self):
        for limit in (0, 4096, 9000, 30000):
            path = self.folder / f"full{limit}.sqlite"
            done = run("run", LLAMA, *OPTIONS, "--cache", path, "--format", "json", largest_file=limit)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(json.loads(done.stdout)["step_time_ps"], self.truth)
            self.assertIn("W0521", done.stderr)
            self.assertEqual(step_time(LLAMA, path), self.truth)  # when there is space again

    @unittest.skipUnless(os.geteuid() == 0, "needs root to mount a small disk")
    def test_really_full_disk(self):
        disk = self.folder / "disk"
        disk.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], check=False).returncode:
            self.skipTest("cannot mount a tmpfs here")
        try:
            done = run("run", LLAMA, *OPTIONS, "--cache", disk / "cache.sqlite", "--format", "json")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(json.loads(done.stdout)["step_time_ps"], self.truth)
            self.assertIn("W0521", done.stderr)
        finally:
            subprocess.run(["umount", disk], check=True)

    def test_corrupt_files_are_rebuilt_with_a_warning_or_harmless(self):
        step_time(LLAMA, self.path)
        good = self.path.read_bytes()
        rng = random.Random(7)
        damages = [b"", b"nonsense" * 40, good[:len(good) // 2], good[:100], good + b"x" * 5000]
        for _ in range(20):
            bad = bytearray(good)
            for _ in range(rng.choice([1, 20, 400])):
                bad[rng.randrange(len(bad))] = rng.randrange(256)
            damages.append(bytes(bad))
        rebuilt = 0
        for damage in damages:
            for name in self.folder.iterdir():
                name.unlink()
            self.path.write_bytes(damage)
            done = run("run", LLAMA, *OPTIONS, "--cache", self.path, "--format", "json")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(json.loads(done.stdout)["step_time_ps"], self.truth)
            rebuilt += "W0520" in done.stderr
            self.assertEqual(step_time(LLAMA, self.path), self.truth)
        self.assertGreater(rebuilt, 5)

    def test_many_processes(self):
        programs = [LLAMA, RESNET, FIXTURES / "jax_example.mlir.gz", FIXTURES / "test_dependency_graph.mlir.gz"]
        truth = {p: step_time(p, "none") for p in programs}
        with concurrent.futures.ThreadPoolExecutor(12) as pool:
            jobs = [(p, pool.submit(run, "run", p, *OPTIONS, "--cache", self.path, "--format", "json"))
                    for p in programs * 6]
        for program, job in jobs:
            done = job.result()
            self.assertEqual((done.returncode, "W052" in done.stderr), (0, False), done.stderr)
            self.assertEqual(json.loads(done.stdout)["step_time_ps"], truth[program])
        self.assertEqual(list(self.folder.glob("*.damaged")), [])
        stored(self.path)

    def test_stats_prune_export(self):
        step_time(LLAMA, self.path)
        rows = stored(self.path)
        self.assertRegex(run("cache", "stats", self.path).stdout, rf"estimates +{rows}\n")
        lines = run("cache", "export", self.path).stdout.splitlines()
        self.assertEqual(len(lines), rows)
        self.assertLessEqual({"key", "created", "estimate"}, set(json.loads(lines[0])))
        self.assertIn("removed 0 ", run("cache", "prune", self.path).stdout)
        with sqlite3.connect(self.path) as database:
            database.execute("UPDATE estimates SET created = created - 100 * 86400 WHERE key IN "
                             "(SELECT key FROM estimates LIMIT 7)")
        self.assertIn("removed 7 ", run("cache", "prune", self.path, "--days", "50").stdout)
        self.assertEqual(stored(self.path), rows - 7)
        missing = run("cache", "stats", self.folder / "none.sqlite")
        self.assertEqual(missing.returncode, 1)
        self.assertIn("E0522", missing.stderr)


# Ops whose attributes MLIR prints the same way in both of its forms: the prototype writes block modules in the pretty one.
SMALL = """module @small {
  func.func public @main(%a: tensor<64x32xf32>, %b: tensor<64x32xbf16>) -> (tensor<64x32xf32>, tensor<64x32xbf16>) {
    %0 = stablehlo.tanh %a : tensor<64x32xf32>
    %1 = stablehlo.add %0, %a : tensor<64x32xf32>
    %2 = stablehlo.multiply %b, %b : tensor<64x32xbf16>
    %3 = stablehlo.negate %1 : tensor<64x32xf32>
    %4 = stablehlo.tanh %3 : tensor<64x32xf32>
    %5 = stablehlo.exponential %4 : tensor<64x32xf32>
    return %5, %2 : tensor<64x32xf32>, tensor<64x32xbf16>
  }
}
"""


class PrototypeCache(unittest.TestCase):
    """A folder as the prototype leaves it: block modules in the output folder, one JSON file an estimate in cache/."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.output = self.folder / "out"
        self.program = self.folder / "small.mlir"
        self.program.write_text(SMALL)
        done = run(A100, "--mlir_file", self.program, "--output", self.output, "--num_npus", "4", "--split_fn",
                   "individual_split", "--compat", "prototype", program="hespas_chakra_gen")
        assert done.returncode == 0, done.stderr
        self.statistics = json.loads((self.output / "module_stats.json").read_text())["per_module"]
        hardware = json.loads(A100.read_text())["perf_estimator"]["hardware"]
        (self.output / "cache").mkdir()
        for index, (module, numbers) in enumerate(self.statistics.items()):
            name = f"{index:0128x}"
            entry = {"hw_config": hardware | {"num_npus": 4, "cache_dir": "out/cache"},
                     "result": {"success": True, "runtime_estimate": numbers["runtime"], "metadata": {},
                                "module_file": str(self.output / module), "module_idx": index,
                                "statistics": {"flops": numbers["flops"], "mem_bytes": numbers["mem_bytes"]}},
                     "estimator_name": "roofline", "hash": name}
            (self.output / "cache" / name).write_text(json.dumps(entry, indent=4))

    def test_imported_estimates_serve_compat_runs(self):
        cache = self.folder / "estimates.sqlite"
        done = run("cache", "import", cache, self.output / "cache")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"imported {len(self.statistics)} ", done.stdout)
        rows = stored(cache)
        words = ("--config", A100, "--num-npus", "4", "--network-backend", "none", "--split", "individual", "--compat",
                 "prototype")
        plain = result("run", self.program, *words, "--cache", "none")
        kept = result("run", self.program, *words, "--cache", cache)
        self.assertEqual(plain["step_time_ps"], kept["step_time_ps"])
        self.assertEqual(stored(cache), rows)  # nothing had to be estimated again
        result("run", self.program, *words[2:], "--device", "H100_80GB", "--cache", cache)
        self.assertGreater(stored(cache), rows)  # of another device nothing was known

    def test_what_cannot_be_believed_is_skipped(self):
        files = sorted((self.output / "cache").iterdir())
        files[0].write_text("{")
        files[1].rename(files[1].with_name("renamed"))
        entry = json.loads(files[2].read_text())
        files[2].write_text(json.dumps(entry | {"estimator_name": "onnxim2"}))
        (self.output / json.loads(files[3].read_text())["result"]["module_file"]).unlink()
        done = run("cache", "import", self.folder / "c.sqlite", self.output / "cache")
        self.assertEqual(done.returncode, 0)
        self.assertIn("W0925", done.stderr)
        self.assertIn(f"imported {len(files) - 4} ", done.stdout)
        empty = run("cache", "import", self.folder / "c.sqlite", self.folder / "nothing")
        self.assertEqual(empty.returncode, 1)
        self.assertIn("E0926", empty.stderr)


if __name__ == "__main__":
    unittest.main()
