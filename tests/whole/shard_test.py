"""`hespas shard`: candidates made by XLA's partitioner equal the export of that mesh; bad input is refused before any work."""
import gzip
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(os.environ["HESPAS_ROOT"])
HESPAS = pathlib.Path(os.environ["HESPAS_BIN"]) / "hespas"
PROGRAM = ROOT / "tests/data/whole/llama3-tiny-4dev-raw.mlir.gz"
EXPORTED = ROOT / "tests/data/optimise/run/llama3-tiny-4dev.mlir.gz"
DEVICE = ("--device", "A100_SXM_40GB")


def shard(*words):
    return subprocess.run([HESPAS, "shard", *map(str, words)], capture_output=True, text=True, timeout=900)


def children(process):
    return [int(word) for word in pathlib.Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def predicted(program, *words):
    done = subprocess.run([HESPAS, "run", program, *words, "--format", "json"], capture_output=True, text=True, timeout=900)
    return done, json.loads(done.stdout) if done.returncode == 0 else None


class GlobalPrograms(unittest.TestCase):
    """`hespas run` on programs whose shapes are those of the whole."""
    FOLDER = ROOT / "tests/data/whole/global"
    H100 = ("--device", "H100_80GB")

    def test_the_partitioners_result_is_that_of_the_export(self):
        done, found = predicted(PROGRAM, *DEVICE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("W0986", done.stderr)
        self.assertEqual(found["step_time_ps"], predicted(EXPORTED, *DEVICE)[1]["step_time_ps"])

    def test_gspmd_and_shardy_programs_are_divided(self):
        for name, flops in (("gspmd_auto", 2 * 8192**3 / 8), ("shard_map_mixed_dot", 2 * 65536 * 4096**2 / 8)):
            with self.subTest(name):
                done, found = predicted(self.FOLDER / f"{name}.mlir", *self.H100)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(found["npus"], 8)
                self.assertAlmostEqual(found["flops"], flops, delta=1e-3 * flops)


class ManualPrograms(unittest.TestCase):
    """Work that is written for each device needs no partitioner."""
    FOLDER = GlobalPrograms.FOLDER

    def answer(self, name):
        done, found = predicted(self.FOLDER / f"{name}.mlir", *GlobalPrograms.H100, "--no-partition")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return found

    def test_a_body_is_optimised_as_the_program_of_one_device(self):
        body, alone = self.answer("shard_map_unfused"), self.answer("shard_map_unfused_same_single_device")
        for key in ("step_time_ps", "bytes_accessed", "peak_memory_bytes"):
            self.assertEqual(body[key], alone[key])

    def test_memory_is_that_of_a_device(self):
        part = 65536 * 4096 * 4 // 8
        self.assertLessEqual(self.answer("shard_map_memory")["peak_memory_bytes"], 3 * part)


class Candidates(unittest.TestCase):
    def test_they_are_ranked_and_equal_to_the_export_of_their_mesh(self):
        with tempfile.TemporaryDirectory() as folder:
            done = shard(PROGRAM, "--devices", 4, "--axes", "fsdp,tensor", "--mesh", "fsdp=2,nonsense=2", *DEVICE, "--format", "json", "--output", folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            rows = json.loads(done.stdout)
            programs = [name for name in os.listdir(folder) if ".mlir" in name]
            self.assertEqual((len(programs), sorted(set(os.listdir(folder)) - set(programs))), (3, ["report.html"]))
        self.assertIn("4/4 ", done.stderr)
        self.assertEqual({row["mesh"] for row in rows}, {"fsdp=4", "fsdp=2,tensor=2", "tensor=4", "fsdp=2,nonsense=2"})
        self.assertIn("no axis `nonsense`", rows[-1]["error"])
        # Tokens that the devices of a tensor axis share count once.
        self.assertEqual({(row["batch"], row["unit"]) for row in rows[:-1]}, {(rows[0]["batch"], "tokens")})
        for row in rows[:-1]:
            self.assertAlmostEqual(row["units_per_second_per_device"] * row["step_time_s"] * row["devices"] / row["batch"], 1, delta=1e-9)
            self.assertGreaterEqual(row["hardware_flops_utilisation"], row["model_flops_utilisation"] or 0)
        times = [row["step_time_s"] for row in rows[:-1]]
        self.assertEqual(times, sorted(times))
        own = subprocess.run([HESPAS, "run", EXPORTED, *DEVICE, "--format", "json"], capture_output=True, text=True, check=True)
        expected = json.loads(own.stdout)
        found = next(row for row in rows if row["mesh"] == "fsdp=4")
        for key in ("step_time_s", "compute_time_s", "exposed_communication_s"):
            self.assertEqual(found[key], expected[key])

    def test_interrupted_it_leaves_whole_programs_and_no_process(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number.name), tempfile.TemporaryDirectory() as folder:
                command = [HESPAS, "shard", PROGRAM, "--devices", "8", "--axes", "data,fsdp,tensor", *DEVICE, "--output", folder]
                running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                first = running.stderr.readline()
                self.assertRegex(first, r"^1/10 ")
                workers = children(running.pid)
                self.assertTrue(workers)
                running.send_signal(number)
                out, messages = running.communicate(timeout=60)
                self.assertEqual((running.returncode, out, messages.splitlines()[-1]), (130, "", "interrupted"))
                self.assertFalse(any(pathlib.Path(f"/proc/{worker}").exists() for worker in workers))
                for name in os.listdir(folder):
                    self.assertRegex(gzip.decompress((pathlib.Path(folder) / name).read_bytes()).decode(), r"(?m)^module(?s:.*)^\}( loc\(.*\))?$")


class BadInput(unittest.TestCase):
    def refused(self, status, text, *words):
        done = shard(*DEVICE, *words)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn(text, done.stderr)
        self.assertIn("help:" if status == 2 else "error", done.stderr)

    def test_words_without_meaning(self):
        self.refused(2, "AXIS=SIZE", PROGRAM, "--mesh", "fsdp")
        self.refused(2, "nothing to partition", PROGRAM, "--mesh", "fsdp=1")
        self.refused(2, "nothing to partition", PROGRAM, "--devices", 1, "--axes", "fsdp")
        self.refused(2, "which shardings", PROGRAM)
        self.refused(2, "which shardings", PROGRAM, "--devices", 4)
        self.refused(2, "names an axis twice", PROGRAM, "--devices", 4, "--axes", "fsdp,fsdp")
        self.refused(2, "stands behind `--`", PROGRAM, "--mesh", "fsdp=4", "--estimator", "roofline")
        self.refused(2, "unrecognized", PROGRAM, "--mesh", "fsdp=4", "")
        self.refused(2, "before `--`", PROGRAM, "--mesh", "fsdp=4", "--", "--format", "csv")
        self.refused(2, "invalid int value", PROGRAM, "--devices", "four", "--axes", "fsdp")

    def test_programs_and_presets(self):
        self.refused(1, "no file", "nowhere.mlir", "--mesh", "fsdp=4")
        self.refused(1, "no Shardy mesh", EXPORTED, "--mesh", "fsdp=4")
        self.refused(1, "no text", sys.executable, "--mesh", "fsdp=4")
        self.refused(2, "no device is called", PROGRAM, "--mesh", "fsdp=4", "--device", "NOPE")
        self.refused(2, "no system is called", PROGRAM, "--mesh", "fsdp=4", "--system", "NOPE")


if __name__ == "__main__":
    unittest.main()
