"""Runs a command of the build and keeps what it printed."""
import gzip
import json
import os
import pathlib
import resource
import signal
import subprocess

BIN = pathlib.Path(os.environ["HESPAS_BIN"]).resolve()
ROOT = pathlib.Path(os.environ["HESPAS_ROOT"]).resolve()
LLAMA = ROOT / "examples/llama3-100m-4dev.mlir.gz"
FIXTURES = ROOT / "tests/data/fixtures"


def run(*words, stdin=None, program="hespas", largest_file=None, environment=None, **more):
    """`largest_file`: bytes that any file may grow to, as on a disk that is nearly full."""
    def limit():
        if largest_file is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))
    environment = dict(os.environ, NO_COLOR="1", LC_ALL="C") | (environment or {})
    return subprocess.run([BIN / program, *map(str, words)], input=stdin, capture_output=True, text=True, timeout=120,
                          env=environment, preexec_fn=limit, check=False, **more)


def fixture(name):
    """The text of one of the prototype's programs."""
    return gzip.decompress((FIXTURES / f"{name}.mlir.gz").read_bytes()).decode()


def result(*words, **more):
    """The parsed JSON of a command that must succeed."""
    done = run(*words, "--format", "json", **more)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
