"""What the tests of clusters share: a sweep of some seconds, its rows here, and rows of a folder."""
import os
import pathlib
import subprocess
import sys
import time

BIN = pathlib.Path(os.environ["HESPAS_BIN"]) / "hespas"
ROOT = pathlib.Path(os.environ["HESPAS_ROOT"])
FILE = ROOT / "tests/sweep/cluster.yaml"
POINTS = 240
ENVIRONMENT = {"HESPAS_COMMAND": str(BIN), "PYTHONDONTWRITEBYTECODE": "1"}  # besides the caller's


def local_rows(folder):
    subprocess.run([BIN, "sweep", FILE, "--quiet", "--output", folder], check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    return rows(folder)


def rows(folder):
    """The bytes of all rows, sorted."""
    return sorted((pathlib.Path(folder) / "rows.jsonl").read_bytes().splitlines(keepends=True))


def start(folder, *words, **more):
    script = ROOT / "python/sweep/sweep.py"
    return subprocess.Popen([sys.executable, script, FILE, "--output", folder, "--chunk", "10", *words], cwd=ROOT, env=os.environ | ENVIRONMENT,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


def wait_for(what, seconds=120):
    """The first true value of a function."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if value := what():
            return value
        time.sleep(0.05)
    raise AssertionError(f"nothing came of {what} in {seconds} s")


def processes(text):
    """Pids of processes whose command line has the text."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if text.encode() in path.read_bytes():
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found
