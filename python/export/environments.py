"""Interpreters for the parts of `hespas export`: each in a locked environment of its own (python/locks), made on the first call."""
import difflib
import glob
import gzip
import itertools
import os
import pathlib
import subprocess
import sys
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]  # the source tree, or share/ of the package


class Refused(Exception):
    def __init__(self, message, help_text="", status=5):
        super().__init__(message)
        self.help, self.status = help_text, status


def suggested(name, known, closeness=0.6):
    """What may have been meant, as a sentence to go on from."""
    near = difflib.get_close_matches(name, known, 1, closeness)
    return f"did you mean `{near[0]}`? " if near else ""


def environment(name, python=None):
    """The Python of a locked environment; made on the first call, outside the tree."""
    variables = {**os.environ, "HESPAS_PYTHON": python or sys.executable}
    made = subprocess.run([ROOT / "scripts" / "python_env.sh", name], stdout=subprocess.PIPE, text=True, env=variables, check=False)
    if made.returncode != 0:
        raise Refused(f"the Python environment `{name}` could not be made (its packages come from PyPI)", "see the messages above")
    return made.stdout.strip()


def program_text(path):
    """Text of a program, plain or gzip."""
    try:
        content = pathlib.Path(path).read_bytes()
        return (gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content).decode()
    except FileNotFoundError:
        raise Refused(f"there is no file `{path}`", status=1) from None
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        raise Refused(f"`{path}` is no text, plain or gzip: {error}", "`hespas print` writes bytecode and zstd files as text", 1) from None


def jax_python():
    """The interpreter that lowers: this one where [export] is installed, else the locked environment of it."""
    wanted = next(line.strip() for line in (ROOT / "python/locks/export.in").read_text().splitlines() if line.startswith("jax=="))
    probe = "import importlib.metadata as m, sys; sys.exit(m.version('jax') != sys.argv[1])"
    found = subprocess.run([sys.executable, "-c", probe, wanted.split("==")[1]], capture_output=True, check=False)
    return sys.executable if found.returncode == 0 else environment("export")


def maxtext_python():
    """The interpreter with MaxText, which needs Python 3.12 or newer: the one that the user names, else the oldest that will do, makes it."""
    named = os.environ.get("HESPAS_PYTHON")
    places = [os.path.join(folder, "python3.1[2-9]") for folder in os.environ.get("PATH", "").split(os.pathsep)]
    places.append(str(pathlib.Path.home() / ".pyenv/versions/3.1[2-9]*/bin/python3"))
    versions = {python: minor_version(python) for python in ([named] if named else itertools.chain(*map(glob.glob, places)))}
    fit = sorted((minor, python) for python, minor in versions.items() if minor >= 12)
    if fit:
        return environment("maxtext", fit[0][1])
    raise Refused("MaxText needs Python 3.12 or newer, and none is in reach",
                  "install one (apt install python3.12-venv, pyenv install 3.12, uv python install 3.12) or name it by "
                  "HESPAS_PYTHON=/path/to/python3.12; without --maxtext the ready llama3-* are plain JAX")


def minor_version(python):
    """12 of a Python 3.12 that can make environments; 0 of anything else."""
    probe = "import sys, venv, ensurepip; print(sys.version_info.minor if sys.version_info.major == 3 else 0)"
    try:
        done = subprocess.run([python, "-c", probe], capture_output=True, text=True, check=False)
    except OSError:
        return 0
    return int(done.stdout) if done.returncode == 0 else 0


INSIDE = "--in-environment"


def continue_in_jax(script, function):
    """Calls `function` with the command's words in the environment that has JAX, which is made where it is missing."""
    words = sys.argv[1:]
    try:
        if words[:1] == [INSIDE]:
            function(*words[1:])
        else:
            python = jax_python()
            os.execv(python, [python, script, INSIDE, *words])
    except Refused as error:
        sys.exit(str(error))
