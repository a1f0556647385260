"""Rows of a sweep against `hespas run` of the same points, equal to the picosecond: 200 random points over all axes, every third of
them in `make test`."""
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import unittest

BIN = pathlib.Path(os.environ["HESPAS_BIN"]) / "hespas"
ROOT = pathlib.Path(os.environ["HESPAS_ROOT"])
FILE = ROOT / "tests/sweep/all_axes.yaml"
STEP = 1 if "HESPAS_ALL_SETTINGS" in os.environ else 3
SAME = ("npus", "step_time_ps", "step_time_s", "step_time_sigma_s", "compute_time_s", "communication_time_s", "exposed_communication_s", "overlap_s",
        "idle_s", "flops", "bytes_accessed", "peak_memory_bytes", "fits_in_memory", "energy_j",
        "model_flops_utilisation", "hardware_flops_utilisation")


def hespas(*words):
    return subprocess.run([BIN, *map(str, words)], capture_output=True, text=True, cwd=ROOT, timeout=900, check=False)


class EqualTest(unittest.TestCase):
    def test_every_row_is_what_the_run_of_its_point_says(self):
        rows = [json.loads(line) for line in hespas("sweep", FILE, "--format", "jsonl").stdout.splitlines()]
        points = [json.loads(line) for line in hespas("sweep", FILE, "--dry-run", "--format", "jsonl").stdout.splitlines()]
        self.assertEqual(len(rows), 200)
        self.assertEqual(len(points), 200)
        rows, points = rows[::STEP], points[::STEP]
        commands = [shlex.split(point["command"])[1:] + ["--format", "json"] for point in points]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            runs = list(pool.map(lambda words: hespas(*words), commands))
        done = 0
        for row, point, run in zip(rows, points, runs):
            with self.subTest(point=row["point"], command=point["command"]):
                self.assertEqual(str(row["point"]), str(point["point"]))
                if row["error"] is not None:
                    self.assertNotEqual(run.returncode, 0)
                    self.assertIn(row["error"], run.stderr)
                    continue
                self.assertEqual(run.returncode, 0, run.stderr)
                result = json.loads(run.stdout)
                self.assertEqual({key: row[key] for key in SAME}, {key: result[key] for key in SAME})
                throughput = result["throughput"] or {}
                self.assertEqual((row["estimator_name"], row["network_model_name"]), (result["estimator"], result["network_model"]))
                for column, key in (("unit", "unit"), ("units_per_step", "per_step"), ("units_per_second_per_device", "per_second_and_device")):
                    self.assertEqual(row[column], throughput.get(key))
                done += 1
        self.assertGreater(done, 120 / STEP)


if __name__ == "__main__":
    unittest.main()
