"""A sweep as a Slurm job array on a cluster of one node that this test starts: the same bytes as here, also where a running task is killed.

Slurm runs as root without systemd and cgroups, with a MUNGE key of its own. Without the packages the test is skipped; with them it is not.
"""
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import unittest

from cluster import POINTS, local_rows, processes, rows, start, wait_for

NEEDED = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel")
CONFIGURATION = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
SlurmctldPort={port}
SlurmdPort={other}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=1,batch_sched_delay=0
MpiDefault=none
ReturnToService=2
MaxArraySize=10001
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Slurm:
    """munged, slurmctld and slurmd in the foreground, in a folder of their own."""

    def __init__(self, folder):
        self.folder, self.daemons = folder, []
        for name in ("state", "spool"):
            (folder / name).mkdir()
        host = socket.gethostname().split(".")[0]
        self.configuration = folder / "slurm.conf"
        self.configuration.write_text(CONFIGURATION.format(folder=folder, host=host, port=free_port(), other=free_port()))
        key = folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        self.environment = {**os.environ, "SLURM_CONF": str(self.configuration)}
        os.environ["SLURM_CONF"] = str(self.configuration)
        self.start("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={folder}/munge.socket", f"--pid-file={folder}/munge.pid",
                   f"--log-file={folder}/munge.log", f"--seed-file={folder}/munge.seed")
        wait_for((folder / "munge.socket").exists, 20)
        self.start("slurmctld", "-D", "-i", "-f", self.configuration)
        self.start("slurmd", "-D", "-f", self.configuration, "-N", host)
        wait_for(lambda: "idle" in self.ask("sinfo", "--noheader", "--format=%T"), 60)

    def start(self, name, *words):
        self.daemons.append(subprocess.Popen([shutil.which(name) or f"/usr/sbin/{name}", *map(str, words)], env=self.environment,
                                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    def ask(self, *words):
        return subprocess.run(words, env=self.environment, capture_output=True, text=True, check=False).stdout

    def stop(self):
        self.ask("scancel", "--user=root")
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()


PRESENT = all(shutil.which(name) or pathlib.Path("/usr/sbin", name).exists() for name in NEEDED)


@unittest.skipUnless(PRESENT and pwd.getpwuid(os.geteuid()).pw_name == "root", "Slurm and MUNGE are not installed, or this is not root")
class SlurmTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="slurm-"))
        cls.folder.chmod(0o755)
        cls.slurm = Slurm(cls.folder)

    @classmethod
    def tearDownClass(cls):
        cls.slurm.stop()
        shutil.rmtree(cls.folder, ignore_errors=True)

    def test_rows_are_those_of_one_machine_though_a_task_is_killed(self):
        expected = local_rows(self.folder / "local")
        self.assertEqual(len(expected), POINTS)
        out = self.folder / "array"
        runner = start(out, "--on", "slurm")
        tasks = wait_for(lambda: processes("/slurm_script") or runner.poll() is not None)
        if tasks is True:
            self.fail(f"over before a task could be killed: {runner.communicate()[1]}")
        os.kill(tasks[0], signal.SIGKILL)
        _, errors = runner.communicate(timeout=400)
        self.assertEqual(runner.returncode, 0, errors)
        self.assertIn("submitted again", errors)
        self.assertEqual(rows(out), expected)

    def test_a_runner_that_died_waits_for_its_job_and_repeats_nothing(self):
        out = self.folder / "resumed"
        runner = start(out, "--on", "slurm")
        wait_for(lambda: list((out / "parts").glob("*.jsonl")) or runner.poll() is not None)
        if runner.poll() is not None:
            self.fail(f"over before it could be killed: {runner.communicate()[1]}")
        runner.kill()
        runner.communicate()
        job = (out / "parts" / "job").read_text()
        again = start(out, "--on", "slurm")
        _, errors = again.communicate(timeout=400)
        self.assertEqual(again.returncode, 0, errors)
        self.assertEqual((out / "parts" / "job").read_text(), job)
        self.assertEqual(rows(out), local_rows(self.folder / "local-2"))


if __name__ == "__main__":
    unittest.main()
