"""A sweep on a local Ray cluster of two nodes: the same bytes as here, also where a worker and a whole node are killed midway.

Runs in the environment of python/locks/sweep.txt.
"""
import os
import pathlib
import shutil
import signal
import tempfile
import unittest

from ray.cluster_utils import Cluster

from cluster import POINTS, local_rows, processes, rows, start, wait_for


class RayTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
        self.addCleanup(self.cluster.shutdown)
        self.second = self.cluster.add_node(num_cpus=1)

    def test_rows_are_those_of_one_machine_though_workers_die(self):
        expected = local_rows(self.folder / "local")
        self.assertEqual(len(expected), POINTS)
        out = self.folder / "ray"
        runner = start(out, "--on", f"ray={self.cluster.address}")
        wait_for(lambda: list((out / "parts").glob("*.jsonl")) or runner.poll() is not None)
        if runner.poll() is not None:
            self.fail(f"over before anything could be killed: {runner.communicate()[1]}")
        workers = wait_for(lambda: processes("ray::rows_of"))
        os.kill(workers[0], signal.SIGKILL)
        self.cluster.remove_node(self.second, allow_graceful=False)
        _, errors = runner.communicate(timeout=400)
        self.assertEqual(runner.returncode, 0, errors)
        self.assertEqual(rows(out), expected)

    @unittest.skipUnless("HESPAS_ALL_SETTINGS" in os.environ, "in make test-full: each test starts a cluster")
    def test_an_interrupted_sweep_goes_on(self):
        out = self.folder / "ray"
        runner = start(out, "--on", f"ray={self.cluster.address}")
        wait_for(lambda: list((out / "parts").glob("*.jsonl")) or runner.poll() is not None)
        runner.kill()
        runner.communicate()
        before = {path.name: path.stat().st_mtime_ns for path in (out / "parts").glob("*.jsonl")}
        again = start(out, "--on", f"ray={self.cluster.address}")
        _, errors = again.communicate(timeout=400)
        self.assertEqual(again.returncode, 0, errors)
        self.assertEqual(before, {name: (out / "parts" / name).stat().st_mtime_ns for name in before})
        self.assertEqual(rows(out), local_rows(self.folder / "local"))


if __name__ == "__main__":
    unittest.main()
