"""A sweep cut into chunks of points: each is `hespas sweep FILE --points A-B`, its rows a file of the output folder.

A chunk counts once its file is there; files appear whole. `merge` hands all of them to the compiled command, which leaves out points that
it has: a chunk that ran twice adds nothing.
"""
import fcntl
import json
import os
import pathlib
import subprocess
import sys

from environments import Refused

COMMAND = os.environ.get("HESPAS_COMMAND", "hespas")


class Sweep:
    def __init__(self, arguments, more):
        self.folder = pathlib.Path(arguments.output).absolute()
        self.file = str(pathlib.Path(arguments.file).absolute())
        self.options = [*more]
        self.goals = [word for condition in arguments.subject_to for word in ("--subject-to", condition)]
        if arguments.minimise:
            self.goals += ["--minimise", arguments.minimise]
        self.format = arguments.format
        self.points = self._describe()["points"]
        if self.points >= 1_000_000 and "--yes" not in more:
            raise Refused(f"the sweep has {self.points} points", "--yes runs them all; `sample` takes some", 2)
        size = arguments.chunk or min(1000, -(-self.points // 64))
        if size < 1:
            raise Refused("--chunk takes a number of points", status=2)
        self.parts = self.folder / "parts"
        self._lock()
        self._fix_size(size)

    def _describe(self):
        done = subprocess.run([COMMAND, "sweep", self.file, *self.options, "--describe"], stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            sys.exit(done.returncode)
        return json.loads(done.stdout)

    def _lock(self):
        try:
            self.parts.mkdir(parents=True, exist_ok=True)
            self._locked = open(self.folder / ".runner.lock", "w", encoding="utf-8")
        except OSError as error:
            raise Refused(f"cannot write into `{self.folder}`: {error.strerror}", status=1) from error
        try:
            fcntl.flock(self._locked, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise Refused(f"another sweep is writing into `{self.folder}`", "wait for it to end, or choose another --output", 4) from error

    def _fix_size(self, size):
        """Chunks of a folder keep their size; another sweep's are refused."""
        text = pathlib.Path(self.file).read_text(encoding="utf-8")
        path = self.parts / "chunks.json"
        if path.exists():
            known = json.loads(path.read_text(encoding="utf-8"))
            if known["text"] != text or known["options"] != self.options:
                raise Refused(f"`{self.folder}` holds chunks of another sweep", "choose another --output", 2)
            size = known["size"]
        else:
            path.write_text(json.dumps({"size": size, "text": text, "options": self.options}), encoding="utf-8")
        self.size = size

    def path(self, chunk):
        return self.parts / f"{chunk:06d}.jsonl"

    def missing(self):
        return [chunk for chunk in range(-(-self.points // self.size)) if not self.path(chunk).exists()]

    def command(self, chunk):
        """What a worker runs; its rows are printed."""
        last = min(self.points, (chunk + 1) * self.size) - 1
        return [COMMAND, "sweep", self.file, *self.options, "--quiet", "--threads", "1", "--format", "jsonl", "--points", f"{chunk * self.size}-{last}"]

    def keep(self, chunk, rows):
        """True where the chunk was not there yet."""
        path = self.path(chunk)
        if path.exists():
            return False
        temporary = path.with_suffix(f".{os.getpid()}.tmp")
        temporary.write_text(rows, encoding="utf-8")
        temporary.rename(path)
        return True

    def merge(self):
        if self.missing():
            raise Refused(f"{len(self.missing())} chunks are missing", "the same command runs them again", 5)
        words = [COMMAND, "sweep", self.file, *self.options, *self.goals, "--output", str(self.folder), "--format", self.format]
        for path in sorted(self.parts.glob("*.jsonl")):
            words += ["--merge", str(path)]
        return subprocess.run(words, check=False).returncode
