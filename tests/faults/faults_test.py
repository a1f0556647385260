"""What breaks under a running command: kills, full disks, read-only folders, two writers, clocks that jump, damaged caches.

Every file that exists afterwards is byte for byte that of an undisturbed run, what is reported is right, and the next run works. HESPAS_KILLS sets
how many kills of each kind there are; the counts are printed.
"""
import contextlib
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


class Faults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.place.name)
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
        print("\n".join(f"{number:6} {what}" for what, number in sorted(COUNTS.items())))

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
        folder = self.fresh()
        (folder / "out").mkdir(mode=0o555)
        nobody = {"user": 65534, "group": 65534} if os.getuid() == 0 else {}
        os.chmod(self.folder, 0o755)
        os.chmod(folder, 0o555)
        done = subprocess.run(self.command, cwd=folder, capture_output=True, text=True, check=False, **nobody)
        os.chmod(folder, 0o755)
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"error\[E\d+\]")
        self.assertEqual(list((folder / "out").iterdir()), [])
        count("read-only folders")

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


if __name__ == "__main__":
    unittest.main()
