"""Programs, results and their equality with the command line."""
import concurrent.futures
import contextlib
import gzip
import hashlib
import io
import json
import pathlib
import pickle
import re
import signal
import subprocess
import sys
import tempfile
import unittest

import hespas
from common import EXAMPLE, MATMUL, ROOT, command, command_json


def without_origin(result):
    """A result aside from what names the caller."""
    return {key: value for key, value in result.items() if key != "reproduce"}


class Load(unittest.TestCase):
    def test_a_path_bytes_and_text_are_the_same_program(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "matmul.mlir"
            path.write_text(MATMUL)
            sources = [path, str(path), MATMUL.encode(), MATMUL, gzip.compress(MATMUL.encode())]
            texts = {hespas.load(source).text for source in sources}
        self.assertEqual(len(texts), 1)
        self.assertIn("stablehlo.dot_general", texts.pop())

    def test_a_program_knows_itself(self):
        program = hespas.load(EXAMPLE)
        self.assertEqual(program.name, str(EXAMPLE))
        self.assertEqual(program.sha256, hashlib.sha256(EXAMPLE.read_bytes()).hexdigest())
        self.assertEqual(bytes(program), EXAMPLE.read_bytes())
        self.assertEqual(pickle.loads(pickle.dumps(program)).text, program.text)

    def test_the_histogram_is_the_command_lines(self):
        program = hespas.load(EXAMPLE)
        for options, flags in (({}, []), ({"expand": True}, ["-e"]), ({"all_regions": True}, ["--all-regions"]), ({"operand_types": True}, ["-s"])):
            with self.subTest(options):
                self.assertEqual(program.analyze(**options).to_dict(), command_json("analyze", EXAMPLE, *flags))
        self.assertEqual(program.analyze()["stablehlo.dot_general"], hespas.analyze(EXAMPLE)["stablehlo.dot_general"])

    def test_a_program_on_other_devices_is_the_command_lines(self):
        program = hespas.load(EXAMPLE).retarget(8)
        self.assertEqual(program.text, hespas.load(command("retarget", EXAMPLE, "--devices", 8).stdout).text)
        self.assertEqual(program.run(device="A100_SXM_40GB", network_backend="none").npus, 8)
        with self.assertRaises(ValueError):
            program.retarget(0)
        with self.assertRaises(hespas.HespasError) as raised:
            hespas.load(EXAMPLE).retarget(7)
        self.assertEqual(raised.exception.code, "E0545")

    def test_bytecode_and_hlo_are_read(self):
        for path in [*sorted((ROOT / "tests/data").rglob("*.mlirbc"))[:1], *sorted((ROOT / "tests/data").rglob("*.hlo*"))[:1]]:
            with self.subTest(path.name):
                self.assertGreater(hespas.load(path.read_bytes()).analyze(all_regions=True).total_ops, 0)


class Run(unittest.TestCase):
    OPTIONS = (
        ({"device": "A100_SXM_40GB", "system": "A100_SXM_40GB_4GPU"}, ["--device", "A100_SXM_40GB", "--system", "A100_SXM_40GB_4GPU"]),
        ({"device": "H100_80GB", "estimator": "roofline", "optimise": "none"}, ["--device", "H100_80GB", "--estimator", "roofline", "--optimise", "none"]),
        ({"device": "A100_SXM_80GB", "network_backend": "none", "split": "linear"}, ["--device", "A100_SXM_80GB", "--network-backend", "none", "--split", "linear"]),
        ({"device": "A100_SXM_80GB", "changes": ["device.memory_bandwidth=2x"], "flash_attention": True, "network_model": "plain", "overlap": "perfect"},
         ["--device", "A100_SXM_80GB", "--set", "device.memory_bandwidth=2x", "--flash-attention", "--network-model", "plain", "--overlap", "perfect"]),
        ({"device": "A100_SXM_40GB", "rank_devices": ["0-1=A100_SXM_80GB"], "moe_imbalance": 1.5, "trip_count": 3, "branch_probabilities": [0.5, 0.5]},
         ["--device", "A100_SXM_40GB", "--rank-devices", "0-1=A100_SXM_80GB", "--moe-imbalance", "1.5", "--trip-count", "3",
          "--branch-probabilities", "0.5,0.5"]),
        ({"device": "A100_SXM_40GB", "xla_flags": ["--xla_gpu_enable_triton_gemm=true"]},
         ["--device", "A100_SXM_40GB", "--xla-flag=--xla_gpu_enable_triton_gemm=true"]),
        ({"device": "H100_80GB", "changes": ["device.memory_capacity=3 GB"], "schedule_limit": True},
         ["--device", "H100_80GB", "--set", "device.memory_capacity=3 GB", "--schedule-limit"]),
        ({"device": "A100_SXM_40GB", "compat": "prototype"}, ["--device", "A100_SXM_40GB", "--compat", "prototype"]),
    )

    def test_results_are_the_command_lines_bit_for_bit(self):
        program = hespas.load(EXAMPLE)
        for options, flags in self.OPTIONS:
            with self.subTest(options):
                self.assertEqual(without_origin(program.run(**options).to_dict()), without_origin(command_json("run", EXAMPLE, *flags)))

    def test_written_files_are_the_command_lines(self):
        with tempfile.TemporaryDirectory() as folder:
            ours, theirs = pathlib.Path(folder) / "ours", pathlib.Path(folder) / "theirs"
            hespas.run(EXAMPLE, "A100_SXM_40GB", output=ours)
            self.assertEqual(command("run", EXAMPLE, "--device", "A100_SXM_40GB", "--output", theirs).returncode, 0)
            names = sorted(path.name for path in theirs.iterdir())
            self.assertEqual(sorted(path.name for path in ours.iterdir()), names)
            for name in names:
                if not name.startswith(("result", "report")):
                    self.assertEqual((ours / name).read_bytes(), (theirs / name).read_bytes(), name)

    def test_estimates_are_the_command_lines_bit_for_bit(self):
        result = hespas.estimate(EXAMPLE, "H100_80GB")
        self.assertEqual(result.ops, command_json("estimate", EXAMPLE, "--device", "H100_80GB"))
        self.assertEqual(result.to_dict()["time_ps"], result.time_ps)
        self.assertAlmostEqual(sum(row["time_s"] for row in result.ops), result.time, delta=1e-9 * len(result.ops))

    def test_a_result_has_its_figures_as_attributes(self):
        result = hespas.run(EXAMPLE, "A100_SXM_40GB", "A100_SXM_40GB_4GPU")
        self.assertEqual(result.npus, 4)
        self.assertEqual(round(result.step_time * 1e12), result.step_time_ps)
        self.assertEqual(result.compute_time_ps + result.exposed_communication_ps + result.idle_ps, result.step_time_ps)
        self.assertEqual(result.to_dict(), json.loads(result.to_json()))
        self.assertIn("step time", str(result))
        self.assertIn("<table>", result._repr_html_())
        with self.assertRaises(AttributeError):
            result.step_tim

    def test_one_call_is_enough(self):
        result = hespas.estimate(MATMUL)
        self.assertEqual(result.flops >= 2 * 256 * 512 * 128, True)
        self.assertIn("A100_SXM_80GB", repr(result))

    def test_threads_get_what_one_thread_gets(self):
        devices = ["A100_SXM_40GB", "H100_80GB", "H200_141GB", "B200_180GB"] * 2
        program = hespas.load(EXAMPLE)
        alone = [program.run(device).step_time_ps for device in devices]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            together = list(pool.map(lambda device: program.run(device).step_time_ps, devices))
        self.assertEqual(alone, together)


class Documents(unittest.TestCase):
    def test_examples_of_the_page_run(self):
        """Those with JAX are in test_jax.py."""
        blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs/python.md").read_text(), re.M | re.S)
        ours = [block for block in blocks if "jax." not in block]
        self.assertGreaterEqual(len(ours), 2)
        for block in ours:
            text = block.replace("examples/llama3-100m-4dev.mlir.gz", str(EXAMPLE))
            with self.subTest(block), contextlib.redirect_stdout(io.StringIO()):
                exec(compile(text, "docs/python.md", "exec"), {"hespas": hespas})  # noqa: S102 - our own page


class Interrupts(unittest.TestCase):
    CODE = """
import signal, sys, threading, time, os, hespas
program = hespas.load(sys.argv[1])
ticks = []
def other():
    while True:
        ticks.append(0)
        time.sleep(0.001)
threading.Thread(target=other, daemon=True).start()
def strike():
    # not before the call is under way
    time.sleep(0.3)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=strike, daemon=True).start()
runs = 0
try:
    while True:
        program.run("A100_SXM_40GB", cache="none")
        runs += 1
except KeyboardInterrupt:
    print("interrupted", len(ticks) > 10)
after = hespas.estimate(program).time_ps > 0
print("goes on", after)
"""

    def test_ctrl_c_ends_a_call_and_other_threads_run_meanwhile(self):
        done = subprocess.run([sys.executable, "-c", self.CODE, str(EXAMPLE)], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.stdout, "interrupted True\ngoes on True\n", done.stderr)

    def test_a_call_from_another_thread_does_not_take_the_signal(self):
        previous = signal.getsignal(signal.SIGINT)
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            self.assertGreater(pool.submit(lambda: hespas.estimate(EXAMPLE).time_ps).result(), 0)
        self.assertEqual(signal.getsignal(signal.SIGINT), previous)


if __name__ == "__main__":
    unittest.main()
