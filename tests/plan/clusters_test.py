"""`hespas plan` on a Slurm and on a Ray cluster that these tests start: the answer of one machine, also where a worker is killed midway.

    clusters_test.py Slurm      with the packages of tests/sweep/slurm_test.py
    clusters_test.py Ray        in the environment of python/locks/sweep.txt
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(os.environ["HESPAS_ROOT"]).resolve()
HESPAS = pathlib.Path(os.environ["HESPAS_BIN"]).resolve() / "hespas"
sys.path[:0] = [str(ROOT / "tests/sweep"), str(ROOT / "tests/plan")]

import slurm_test  # noqa: E402
from cluster import processes, wait_for  # noqa: E402
from plan_test import SMALL  # noqa: E402


class Clusters:
    """What both engines are asked."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="plan-"))
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.model = self.folder / "small.yml"
        self.model.write_text(SMALL)

    def start(self, name, *words):
        return subprocess.Popen([HESPAS, "plan", self.model, "--devices", "8", "--device", "H100_80GB", "--global-batch", "32", "--axes", "data,fsdp,tensor",
                                 "--evaluations", "8", "--format", "json", "-q", "--output", self.folder / name, *words], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def answer(self, runner):
        out, errors = runner.communicate(timeout=600)
        self.assertEqual(runner.returncode, 0, errors)
        return json.loads(out)

    def workers(self, name):
        """Not their children, each of which makes a program, nor what started them."""
        found = {pid: pathlib.Path(f"/proc/{pid}") for pid in processes(f"make_programs.py\0{self.folder}/{name}")}
        own = {pid for pid, path in found.items() if path.exists() and path.joinpath("cmdline").read_bytes().split(b"\0")[1].endswith(b"make_programs.py")}
        return [pid for pid in own if int(found[pid].joinpath("stat").read_text().rpartition(")")[2].split()[1]) not in own]

    def same_though_a_worker_dies(self, *words):
        here = self.answer(self.start("here"))
        there = self.start("there", "--workers", "2", *words)
        wait_for(lambda: list((self.folder / "there/programs").glob("*.gz")) or there.poll() is not None, 300)
        self.assertIsNone(there.poll())
        os.kill(wait_for(lambda: self.workers("there"))[0], signal.SIGKILL)
        self.assertEqual(self.answer(there), here)


@unittest.skipUnless(slurm_test.PRESENT and os.geteuid() == 0, "Slurm and MUNGE are not installed, or this is not root")
class Slurm(Clusters, unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.folder.chmod(0o755)
        own = self.folder / "slurm"
        own.mkdir()
        self.slurm = slurm_test.Slurm(own)
        self.addCleanup(self.slurm.stop)

    def test_the_answer_is_that_of_one_machine(self):
        self.same_though_a_worker_dies("--on", "slurm")


class Ray(Clusters, unittest.TestCase):
    def setUp(self):
        super().setUp()
        from ray.cluster_utils import Cluster

        self.cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
        self.addCleanup(self.cluster.shutdown)

    def test_the_answer_is_that_of_one_machine(self):
        self.same_though_a_worker_dies("--on", f"ray={self.cluster.address}")


if __name__ == "__main__":
    unittest.main()
