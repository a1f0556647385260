"""--max-memory, --timeout and signals: the command ends, says why, and leaves nothing running and nothing half written."""
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

from command import BIN, LLAMA, ROOT, run

STEP = 1 if "HESPAS_ALL_SETTINGS" in os.environ else 3  # MB


def big_program(path, ops):
    """A chain of additions, long enough that its representation outgrows a small limit."""
    lines = [f"    %{i + 1} = stablehlo.add %{i}, %arg0 : tensor<8xf32>" for i in range(1, ops)]
    path.write_text("func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {\n    %1 = stablehlo.add %arg0, %arg0 : tensor<8xf32>\n"
                    + "\n".join(lines) + f"\n    return %{ops} : tensor<8xf32>\n}}\n")


def peak_memory(*words):
    child = subprocess.Popen([BIN / "hespas", *map(str, words)], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, words
    return used.ru_maxrss


def alive(pid):
    try:
        return not pathlib.Path(f"/proc/{pid}/stat").read_text().split(")")[1].startswith(" Z")
    except OSError:
        return False


class Limits(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)

    def silent_estimator(self):
        """A worker that tells its process id and never answers."""
        script = self.folder / "silent"
        script.write_text(f"#!/bin/sh\necho $$ > {self.folder}/pid\nsleep 300\n")
        script.chmod(0o755)
        return f"exec:{script}"

    def wait_for_worker(self):
        for _ in range(600):
            if (self.folder / "pid").exists() and (self.folder / "pid").read_text().strip():
                return int((self.folder / "pid").read_text())
            time.sleep(0.1)
        self.fail("the worker was never started")

    def wait_for_end(self, pid):
        for _ in range(100):
            if not alive(pid):
                return
            time.sleep(0.1)
        self.fail("the worker outlives the command")

    def test_memory(self):
        program = self.folder / "big.mlir"
        big_program(program, 300_000)
        output = self.folder / "out"
        done = run("run", program, "--device", "H100_80GB", "--max-memory", "40 MB", "--output", output)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("error[E0902]", done.stderr)
        self.assertFalse(output.exists() and any(output.iterdir()))
        enough = run("run", LLAMA, "--device", "H100_80GB", "--max-memory", "2GB")
        self.assertEqual(enough.returncode, 0, enough.stderr)

    def test_131072_devices_take_little(self):
        large = ROOT / "data/workloads/llama3-70b-8dev.mlir.zst"
        done = run("run", large, "--device", "H100_80GB", "--retarget", 131072, "--format", "json", "--max-memory", "200MB")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["npus"], 131072)

    def test_a_table_does_not_pay_for_how_collectives_are_priced(self):
        """The plain model simulates all ranks for each price."""
        words = ("run", ROOT / "data/workloads/llama3-70b-8dev.mlir.zst", "--retarget", "131072", "--system",
                 "H100_80GB 8x256x64 ib=400Gbit/s oversubscription=2", "--network-model", "plain", "--quiet")
        table, priced = (peak_memory(*words, "--format", form) for form in ("table", "json"))
        self.assertLess(table, priced / 2)

    def test_memory_of_threads(self):
        search = ["serve", "llama3-8b", "--device", "H100_80GB", "--devices", 8, "--isl", 64, "--osl", 8, "--search", "--slo", "ttft=1s"]
        ends = {run(*search, "--max-memory", f"{size} MB").returncode for size in range(16, 36, STEP)}
        self.assertLessEqual(ends, {0, 4})

    def test_time(self):
        done = run("run", LLAMA, "--device", "H100_80GB", "--estimator", self.silent_estimator(), "--timeout", "3s")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("error[E0908]", done.stderr)
        self.wait_for_end(self.wait_for_worker())

    def test_signals(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            (self.folder / "pid").unlink(missing_ok=True)
            command = subprocess.Popen([BIN / "hespas", "run", LLAMA, "--device", "H100_80GB", "--estimator",
                                        self.silent_estimator()], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            worker = self.wait_for_worker()
            os.kill(command.pid, number)
            self.assertEqual(command.wait(20), 128 + number)
            self.wait_for_end(worker)

    def test_scratch_folders_go_with_the_command(self):
        """Blocks are written as programs for the tool that measures them; this one never answers."""
        scratch = self.folder / "scratch"
        scratch.mkdir()
        (self.folder / "program.mlir").write_text(
            "func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {\n  %0 = stablehlo.exponential %a : tensor<8xf32>\n  return %0 : tensor<8xf32>\n}\n")
        for words, number in (([], signal.SIGINT), ([], signal.SIGTERM), (["--timeout", "2s"], None)):
            command = subprocess.Popen([BIN / "hespas", "run", self.folder / "program.mlir", "--estimator", "pjrt", "--plugin",
                                        BIN / "fake_pjrt_plugin.so", *words], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                       env={**os.environ, "FAKE_PLUGIN": "hang", "TMPDIR": str(scratch)})
            deadline = time.monotonic() + 20
            while not list(scratch.glob("*/block_0.mlir")) and time.monotonic() < deadline:
                time.sleep(0.01)
            self.assertTrue(list(scratch.glob("*/block_0.mlir")))
            if number:
                command.send_signal(number)
            self.assertEqual(command.wait(20), 128 + number if number else 4)
            self.assertEqual(os.listdir(scratch), [])

    def test_a_file_that_shrinks(self):
        program = self.folder / "program.mlir"
        big_program(program, 400_000)
        started = subprocess.Popen([BIN / "hespas", "run", program, "--device", "H100_80GB", "--quiet"],
                                   stderr=subprocess.PIPE, text=True)
        while str(program) not in pathlib.Path(f"/proc/{started.pid}/maps").read_text():  # its pages are in use
            self.assertIsNone(started.poll())
        os.truncate(program, 0)
        _, errors = started.communicate(timeout=120)
        self.assertEqual(started.returncode, 1, errors)
        self.assertIn("error[E0909]", errors)
        self.assertEqual(os.listdir(self.folder), ["program.mlir"])

    def test_bad_values(self):
        for option, value in (("--timeout", "0"), ("--timeout", "-1s"), ("--max-memory", "lots"), ("--max-memory", "nan")):
            with self.subTest(option=option, value=value):
                done = run("run", LLAMA, f"{option}={value}")
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(option, done.stderr)


if __name__ == "__main__":
    unittest.main()
