"""What breaks under a running command (`run` with its cache, `sweep`): kills, full disks, read-only folders, two writers, clocks that jump,
damaged caches.

Every file that exists afterwards is byte for byte that of an undisturbed run, what is reported is right, and the next run works. HESPAS_KILLS sets
how many kills of each kind there are; the counts are printed.
"""
import contextlib
import json
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from command import BIN, LLAMA, run  # noqa: E402

KILLS = int(os.environ.get("HESPAS_KILLS", "100"))
RANDOM = random.Random(20)
COUNTS = {}


def count(what, number=1):
    COUNTS[what] = COUNTS.get(what, 0) + number


@contextlib.contextmanager
def small_disk(folder, size):
    """A file system of `size` bytes, or None where mounting is not allowed."""
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], capture_output=True, check=False)
    try:
        yield folder if mounted.returncode == 0 else None
    finally:
        if mounted.returncode == 0:
            subprocess.run(["umount", folder], check=True)


def tearDownModule():
    print("\n".join(f"{number:6} {what}" for what, number in sorted(COUNTS.items())))


def refuses_read_only_folder(test):
    """Nothing is written where nobody may write; the command says so."""
    folder = test.fresh()
    (folder / "out").mkdir(mode=0o555)
    nobody = {"user": 65534, "group": 65534} if os.getuid() == 0 else {}
    os.chmod(folder, 0o555)
    done = subprocess.run(test.command, cwd=folder, capture_output=True, text=True, timeout=300, check=False, **nobody)
    os.chmod(folder, 0o755)
    test.assertNotEqual(done.returncode, 0)
    test.assertRegex(done.stderr, r"error\[E\d+\]")
    test.assertEqual(list((folder / "out").iterdir()), [])
    count("read-only folders")


class Faults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.place.name)
        os.chmod(cls.folder, 0o755)
        cls.reference = cls.folder / "reference"
        (cls.folder / "cwd").mkdir()
        cls.command = [BIN / "hespas", "run", LLAMA, "--device", "H100_80GB", "--quiet", "--output", "out", "--cache", "cache.sqlite"]
        started = time.monotonic()
        done = cls.start(cls.folder / "cwd")
        cls.answer, errors = done.communicate()
        assert done.returncode == 0, errors
        cls.length = time.monotonic() - started
        (cls.folder / "cwd" / "out").rename(cls.reference)
        cls.files = {path.name: path.read_bytes() for path in cls.reference.iterdir()}

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    @classmethod
    def start(cls, folder, environment=None):
        return subprocess.Popen(cls.command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env={**os.environ, **(environment or {})})

    def fresh(self):
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        return folder

    def whole(self, out):
        """Nothing half written: what stands there under a final name is complete."""
        for path in out.iterdir() if out.exists() else ():
            if path.name in self.files:
                self.assertEqual(path.read_bytes(), self.files[path.name], f"{path.name} is half written")
                count("files found whole")
            else:
                self.assertIn("tmp", path.name.lower(), "a file that no run writes")

    def finishes(self, folder):
        done = self.start(folder)
        output, errors = done.communicate(timeout=120)
        self.assertEqual((done.returncode, output), (0, self.answer), errors)
        for name, content in self.files.items():
            self.assertEqual((folder / "out" / name).read_bytes(), content, name)

    def test_kills(self):
        folder = self.fresh()
        killed = 0
        for _ in range(20 * KILLS):
            process = self.start(folder)
            time.sleep(RANDOM.uniform(0, self.length))
            process.kill()
            killed += process.wait() == -signal.SIGKILL
            process.communicate()
            if RANDOM.random() < 0.3:  # the next one fills a cache of its own
                (folder / "cache.sqlite").unlink(missing_ok=True)
            self.whole(folder / "out")
            if (folder / "cache.sqlite").exists():
                with contextlib.closing(sqlite3.connect(folder / "cache.sqlite")) as cache:
                    self.assertEqual(cache.execute("pragma integrity_check").fetchone(), ("ok",))
            if killed == KILLS:
                break
        self.assertEqual(killed, KILLS)
        count("runs killed", killed)
        self.finishes(folder)

    def test_full_disk(self):
        needed = sum(map(len, self.files.values()))
        for size in [needed * part // 8 for part in range(1, 8)]:
            folder = self.fresh()
            with small_disk(folder / "disk", size) as disk:
                if disk is None:  # no right to mount: a limit on the size of each file plays the disk
                    done = run(*self.command[1:], cwd=folder, largest_file=size // 4)
                else:
                    done = subprocess.run(self.command, cwd=disk, capture_output=True, text=True, check=False)
                count("full disks (tmpfs)" if disk else "full disks (limit on file sizes)")
                self.assertNotEqual(done.returncode, 0)
                self.assertRegex(done.stderr, r"error\[E\d+\].*(space|large)")
                self.whole((disk or folder) / "out")

    def test_read_only_folder(self):
        refuses_read_only_folder(self)

    def test_two_writers(self):
        folder = self.fresh()
        for _ in range(max(1, KILLS // 10)):
            both = [self.start(folder), self.start(folder)]
            for process in both:
                output, errors = process.communicate(timeout=120)
                self.assertEqual((process.returncode, output), (0, self.answer), errors)
            self.whole(folder / "out")
            count("pairs on one output and one cache")

    def test_clock_jumps(self):
        if not shutil.which("faketime"):
            self.skipTest("faketime is not installed")
        folder = self.fresh()
        for start in ("1971-01-01 00:00:00", "2037-12-31 23:59:59", "@2026-01-01 00:00:00 x2000"):
            done = subprocess.run(["faketime", "-f", start, *self.command], cwd=folder, capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stdout), (0, self.answer), done.stderr)
            self.whole(folder / "out")
            count("clocks that jump")

    def test_damaged_cache(self):
        folder = self.fresh()
        self.finishes(folder)
        cache = folder / "cache.sqlite"
        sound = cache.read_bytes()
        for _ in range(KILLS):
            damaged = bytearray(sound)
            for _ in range(RANDOM.choice([1, 16, 4096])):
                damaged[RANDOM.randrange(len(damaged))] ^= 1 << RANDOM.randrange(8)
            cache.write_bytes(damaged[:RANDOM.choice([len(damaged), RANDOM.randrange(len(damaged))])])
            done = self.start(folder)
            output, errors = done.communicate(timeout=120)
            # A value may be damaged and still well formed; then its checksum tells.
            self.assertIn(done.returncode, (0, 1, 4), errors)
            if done.returncode == 0:
                self.assertEqual(output, self.answer)
                count("damaged caches noticed or harmless")
            else:
                self.assertRegex(errors, r"error\[E\d+\]")
                count("damaged caches refused")


class SweepFaults(unittest.TestCase):
    """Rows are whole lines, each point's once, the bytes of an undisturbed sweep; the same command goes on where it was stopped."""

    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.place.name)
        os.chmod(cls.folder, 0o755)
        (cls.folder / "sweep.json").write_text(json.dumps({
            "base": {"program": str(LLAMA), "device": "A100_SXM_40GB", "system": "A100_SXM_40GB_4GPU"},
            "axes": {"device.tdp": {"from": "300 W", "to": "500 W", "steps": 50}, "system.bandwidth": {"from": "50 GB/s", "to": "900 GB/s", "steps": 60}}}))
        cls.command = [BIN / "hespas", "sweep", cls.folder / "sweep.json", "--quiet", "--output", "out"]
        started = time.monotonic()
        (cls.folder / "cwd").mkdir()
        done = cls.finish(cls.folder / "cwd")
        assert done.returncode == 0, done.stderr
        cls.length = time.monotonic() - started
        cls.answer, cls.csv = done.stdout, (cls.folder / "cwd/out/rows.csv").read_bytes()
        cls.rows = set((cls.folder / "cwd/out/rows.jsonl").read_bytes().splitlines())

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    @classmethod
    def finish(cls, folder, wrap=(), **more):
        return subprocess.run([*wrap, *cls.command], cwd=folder, capture_output=True, text=True, timeout=300, check=False, **more)

    def fresh(self):
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        return folder

    def whole(self, out):
        """What stands in rows.jsonl before its last line end is right."""
        path = out / "rows.jsonl"
        lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
        self.assertEqual(len(lines), len(set(lines)))
        self.assertLessEqual(set(lines), self.rows)
        if (out / "rows.csv").exists():
            self.assertEqual((out / "rows.csv").read_bytes(), self.csv)
        return len(lines)

    def goes_on(self, folder, **more):
        done = self.finish(folder, **more)
        self.assertEqual((done.returncode, done.stdout), (0, self.answer), done.stderr)
        self.assertEqual(self.whole(folder / "out"), len(self.rows))
        self.assertEqual((folder / "out/rows.csv").read_bytes(), self.csv)

    def test_kills(self):
        killed = 0
        for _ in range(20 * KILLS):
            folder = self.fresh()
            process = subprocess.Popen(self.command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(RANDOM.uniform(0, self.length))
            process.kill()
            killed += process.wait() == -signal.SIGKILL
            count("rows found whole after a kill", self.whole(folder / "out"))
            self.goes_on(folder)
            shutil.rmtree(folder)
            if killed == KILLS:
                break
        self.assertEqual(killed, KILLS)
        count("sweeps killed", killed)

    def test_full_disk(self):
        needed = sum(path.stat().st_size for path in (self.folder / "cwd/out").iterdir())
        for part in range(1, 8):
            folder = self.fresh()
            with small_disk(folder / "disk", needed * part // 8) as disk:
                if disk is None:
                    self.skipTest("no right to mount a small file system; `run` has its own way around")
                done = self.finish(disk)
                self.assertNotEqual(done.returncode, 0)
                self.assertRegex(done.stderr, r"error\[E\d+\].*(space|large)")
                self.whole(disk / "out")
                subprocess.run(["mount", "-o", f"remount,size={4 * needed}", disk], check=True)
                self.goes_on(disk)
                count("sweeps on full disks (tmpfs), which went on with more room")

    def test_read_only_folder(self):
        refuses_read_only_folder(self)

    def test_two_writers(self):
        for _ in range(max(1, KILLS // 10)):
            folder = self.fresh()
            both = [subprocess.Popen(self.command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
            for process in both:
                output, errors = process.communicate(timeout=300)
                if process.returncode == 0:
                    self.assertEqual(output, self.answer)
                else:
                    self.assertIn("error[E1009]", errors)
            self.goes_on(folder)
            count("pairs of sweeps on one output")

    def test_clock_jumps(self):
        if not shutil.which("faketime"):
            self.skipTest("faketime is not installed")
        for start in ("1971-01-01 00:00:00", "2037-12-31 23:59:59", "@2026-01-01 00:00:00 x2000"):
            self.goes_on(self.fresh(), wrap=("faketime", "-f", start))
            count("clocks that jump")


if __name__ == "__main__":
    unittest.main()
