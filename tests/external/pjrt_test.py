"""XLA's CPU compiler by way of its PJRT plugin from PyPI: real measurements."""
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

import command

PYTHON = pathlib.Path(subprocess.run([command.ROOT / "scripts/python_env.sh", "pjrt"], check=True, capture_output=True,
                                     text=True).stdout.strip())
PLUGIN = next(PYTHON.parent.parent.glob("lib/*/site-packages/lammps_jax_pjrt_cpu/*.so"))


def matmul(n):
    kind = f"tensor<{n}x{n}xf32>"
    return f"""func.func @main(%a: {kind}, %b: {kind}) -> {kind} {{
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : ({kind}, {kind}) -> {kind}
  return %0 : {kind}
}}
"""


def chain(length):
    """Blocks of its own for each matmul, all of different widths."""
    lines, value, width = [], "%a", 16
    for i in range(length):
        lines.append(f"  %{i} = stablehlo.dot_general {value}, %b{i}, contracting_dims = [1] x [0] : "
                     f"(tensor<16x{width}xf32>, tensor<{width}x{width + 1}xf32>) -> tensor<16x{width + 1}xf32>")
        value, width = f"%{i}", width + 1
    weights = "".join(f", %b{i}: tensor<{16 + i}x{17 + i}xf32>" for i in range(length))
    return "\n".join([f"func.func @main(%a: tensor<16x16xf32>{weights}) -> tensor<16x{width}xf32> {{", *lines,
                      f"  return {value} : tensor<16x{width}xf32>", "}", ""])


class Measuring(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.cache = pathlib.Path(self.folder.name) / "cache.sqlite"

    def write(self, text):
        path = pathlib.Path(self.folder.name) / "program.mlir"
        path.write_text(text)
        return path

    def measure(self, program, *words, **more):
        return command.result("run", program, "--estimator", "pjrt", "--plugin", PLUGIN, *words, **more)

    def lines(self):
        return set(command.run("cache", "export", self.cache).stdout.splitlines())

    def kept(self):
        return [json.loads(line)["estimate"] for line in self.lines()]


class Pjrt(Measuring):
    def test_a_matmul_takes_longer_as_it_grows(self):
        small, large = (self.measure(self.write(matmul(n)))["compute_time_s"] for n in (256, 1024))
        # 64 times the work: more time on a loaded machine too
        self.assertGreater(large, 2 * small)
        self.assertGreater(small, 1e-6)

    def test_found_in_the_python_environment(self):
        path = f"{PYTHON.parent}:/usr/bin:/bin"
        result = command.result("run", self.write(matmul(64)), "--estimator", "pjrt", environment={"PATH": path})
        self.assertEqual(result["warnings"], [])
        missing = command.run("run", self.write(matmul(64)), "--estimator", "pjrt", environment={"PATH": "/usr/bin:/bin"})
        self.assertEqual(missing.returncode, 5)
        self.assertIn("error[E0594]", missing.stderr)

    def test_measurements_are_kept(self):
        program = self.write(matmul(96))
        first = self.measure(program, "--cache", self.cache)
        again = self.measure(program, "--cache", self.cache)
        self.assertEqual(first["compute_time_s"], again["compute_time_s"])
        self.assertEqual([e["source"] for e in self.kept()], ["pjrt"])
        # another state of the caches is another measurement
        self.measure(program, "--cache", self.cache, "--cold")
        self.assertEqual(len(self.kept()), 2)

    def test_killing_loses_nothing(self):
        """What was measured before a kill -9 stays as it is; the next run measures the rest alone."""
        count, killed_behind = 160, 50
        program = self.write(chain(count))
        words = ["run", program, "--estimator", "pjrt", "--plugin", PLUGIN, "--split", "individual", "--cache", self.cache,
                 "--jobs", "1"]
        run = subprocess.Popen([command.BIN / "hespas", *map(str, words)], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 100
        while len(self.kept()) < killed_behind and run.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        run.send_signal(signal.SIGKILL)
        run.wait()
        before = self.lines()
        self.assertGreaterEqual(len(before), killed_behind)
        self.assertLess(len(before), count)
        result = command.result(*words)
        self.assertEqual(result["warnings"], [])
        after = self.lines()
        self.assertEqual(len(after), count)
        self.assertLess(before, after)

    def test_the_whole_program_beside_its_blocks(self):
        # How well both agree depends on the machine's load: `bench/block_sums.py` measures that.
        words = ["run", self.write(matmul(768)), "--estimator", "pjrt", "--plugin", PLUGIN, "--whole"]
        measured = command.result(*words)["measured_step"]
        self.assertEqual(measured["platform"], "cpu, 1 device")
        self.assertGreater(measured["time_s"], 768**3 * 2 / 1e14)  # no CPU of one device does 100 TFLOP/s
        self.assertGreaterEqual(measured["sigma_s"], 0)
        self.assertIn("measured step", command.run(*words).stdout)

    def test_a_sample_scales_the_rest(self):
        result = self.measure(self.write(chain(6)), "--split", "individual", "--sample", 3)
        warnings = [w["message"] for w in result["warnings"]]
        self.assertEqual(len(warnings), 1, warnings)
        self.assertRegex(warnings[0], r"3 of 6 distinct blocks were measured; 3 are scaled from them "
                                      r"\(leave-one-out error of the measured ones \d+ %\)")

    def test_what_a_sample_left_out_is_measured_later(self):
        words = [self.write(chain(6)), "--split", "individual", "--cache", self.cache]
        self.measure(*words, "--sample", 1)
        self.assertLess(len(self.kept()), 6)
        self.assertEqual(self.measure(*words)["warnings"], [])
        self.assertEqual([e["source"] for e in self.kept()], ["pjrt"] * 6)

    def test_processor_time_is_another_measurement(self):
        program = self.write(matmul(256))
        for clock in ("wall", "cpu"):
            self.assertGreater(self.measure(program, "--cache", self.cache, "--clock", clock)["compute_time_s"], 1e-6)
        self.assertEqual(len(self.kept()), 2)

    def test_a_budget_ends_gracefully(self):
        result = self.measure(self.write(chain(40)), "--split", "individual", "--budget", "0.1s", "--jobs", 1)
        self.assertRegex(result["warnings"][0]["message"], r"of 40 distinct blocks were measured within the budget")
        self.assertGreater(result["compute_time_s"], 0)


class Devices(Measuring):
    def test_the_whole_chain_on_several_devices(self):
        """Blocks measured, network simulated, the step run on four devices of the plugin."""
        programs = [command.ROOT / "tests/data/optimise/run/llama3-tiny-4dev.mlir.gz"]
        shared = command.ROOT.parent / "shared/workloads/gemm/gemm_1024x1024x1024_k_allreduce_4dev.mlir"
        for program in [*programs, *([shared] if shared.exists() else [])]:
            result = self.measure(program, "--whole", "--sample", 1, "--clock", "cpu", "--at-once", 4, "--system", "CPU_4")
            self.assertEqual(result["measured_step"]["platform"], "cpu, 4 devices")
            self.assertGreater(result["communication_time_s"], 0)
            # The link is another machine's; `bench/whole_steps.py` tells what is off with this one's.
            self.assertLess(result["step_time_s"], 3 * result["measured_step"]["time_s"])
            self.assertGreater(result["step_time_s"], result["measured_step"]["time_s"] / 3)

    def test_devices_at_once_share_the_processors(self):
        """Four devices on the same cores take longer than one alone, each a quarter of what all computed."""
        program = self.write(matmul(768))
        alone, share = (self.measure(program, "--cache", self.cache, "--clock", "cpu", "--at-once", n)["compute_time_s"] for n in (1, 4))
        self.assertLess(share, 3 * alone)
        self.assertGreater(share, alone / 3)
        self.assertEqual(len(self.kept()), 2)
        cores = os.sched_getaffinity(0)
        self.addCleanup(os.sched_setaffinity, 0, cores)
        os.sched_setaffinity(0, {max(cores)})
        together = self.measure(program, "--at-once", 4)["compute_time_s"]
        alone = min(self.measure(program, "--at-once", 1)["compute_time_s"] for _ in range(3))  # other work on the core only adds
        self.assertGreater(together, 2 * alone)


if __name__ == "__main__":
    unittest.main()
