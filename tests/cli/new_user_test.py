"""What a new user's machine is like: blanks and umlauts in paths, a locale with a decimal comma, a narrow terminal, pipes, no network."""
import json
import os
import pathlib
import pty
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import fcntl
import unittest

from command import BIN, LLAMA, ROOT

DEVICE = ["--device", "A100_SXM_40GB"]


def german(folder):
    """Environment of a German locale with a decimal comma; None where this system cannot make one."""
    if subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", folder / "de_DE.UTF-8"], capture_output=True, check=False).returncode:
        return None
    return {"LOCPATH": str(folder), "LANG": "de_DE.UTF-8", "LC_ALL": "de_DE.UTF-8"}


def on_terminal(columns, *words):
    """What a command prints on a terminal so wide."""
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    environment = {key: value for key, value in os.environ.items() if key != "COLUMNS"} | {"TERM": "xterm", "NO_COLOR": "1"}
    process = subprocess.Popen([BIN / "hespas", *map(str, words)], stdin=child, stdout=child, stderr=child, close_fds=True, env=environment)
    os.close(child)
    text = b""
    while select.select([parent], [], [], 60)[0]:
        try:
            text += os.read(parent, 65536)
        except OSError:
            break
    os.close(parent)
    return process.wait(), text.decode().replace("\r\n", "\n")


class NewUser(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "Ordner für Läufe"
        self.folder.mkdir()
        self.program = self.folder / "mein Prögramm.mlir.gz"
        shutil.copy(LLAMA, self.program)

    def call(self, *words, environment=None, **more):
        done = subprocess.run([*map(str, words)], cwd=self.folder, capture_output=True, text=True, timeout=120, check=False,
                              env={**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", **(environment or {})}, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def step(self, text):
        return json.loads(text)["step_time_ps"]

    def test_blanks_and_umlauts_in_every_path(self):
        (self.folder / "mein Gerät.json").write_text('{"peak_flops": "312 TFLOP/s", "memory_bandwidth": "1.55 TB/s"}')
        shutil.copytree(ROOT / "configs/systems/A100_SXM_40GB_4GPU/astra-sim", self.folder / "mein Nëtz")
        plain = self.step(self.call("hespas", "run", LLAMA, *DEVICE, "--format", "json"))
        there = self.call("hespas", "run", self.program.name, *DEVICE, "--format", "json", "--output", "Aus gäbe", "--cache", "Schätzungen 1.sqlite")
        self.assertEqual(self.step(there), plain)
        self.assertEqual(json.loads((self.folder / "Aus gäbe/result.json").read_text())["step_time_ps"], plain)
        self.call("hespas", "run", self.program.name, "--device", "mein Gerät.json", "--system", "A100_SXM_40GB_4GPU", "--quiet")
        self.call("hespas", "run", self.program.name, *DEVICE, "--system", "mein Nëtz", "--quiet")
        again = self.call("hespas", "simulate", "--workload-configuration=Aus gäbe/dev", "--comm-group-configuration=Aus gäbe/comm_group.json",
                          "--system", "A100_SXM_40GB_4GPU", "--format", "json")
        self.assertEqual(len(json.loads(again)["npus"]), 4)
        (self.folder / "Läufe.yaml").write_text(f"base: {{program: {self.program.name}, device: A100_SXM_40GB}}\naxes: {{device.tdp: [300 W, 400 W]}}\n")
        self.call("hespas", "sweep", "Läufe.yaml", "--output", "Läufe 1", "--quiet")
        self.assertEqual(len((self.folder / "Läufe 1/rows.csv").read_text().splitlines()), 3)
        self.call("hespas", "sweep-report", "Läufe 1")
        self.call("hespas", "compare", "Aus gäbe/result.json", "Aus gäbe/result.json")

    def test_german_locale(self):
        environment = german(self.folder)
        if environment is None:
            self.skipTest("localedef has no de_DE")
        comma = self.call("python3", "-c", "import locale; locale.setlocale(locale.LC_ALL, ''); print(locale.str(1.5))", environment=environment)
        self.assertEqual(comma.strip(), "1,5")
        for words in (["run", self.program.name, *DEVICE, "--format", "json"], ["run", self.program.name, *DEVICE], ["devices", "--format", "csv"],
                      ["estimate", self.program.name, *DEVICE, "--format", "json"]):
            self.assertEqual(self.call("hespas", *words, environment=environment), self.call("hespas", *words, environment={"LC_ALL": "C"}))

    def test_narrow_terminal(self):
        for words in (["--help"], ["run", "--help"], ["run", "-h"]):
            status, text = on_terminal(60, *words)
            self.assertEqual(status, 0)
            self.assertEqual([line for line in text.splitlines() if len(line) > 60 and " " in line.strip() and not line.startswith("  hespas ")], [], words)
        for words in (["run", self.program, *DEVICE], ["devices"], ["explain", self.program, *DEVICE]):
            status, text = on_terminal(60, *words)
            self.assertEqual(status, 0, text)
            self.assertTrue(text.strip())

    def test_pipes(self):
        if shutil.which("jq"):
            names = self.call("bash", "-c", "hespas devices --format json | jq -r '.[].name'").split()
            self.assertIn("A100_SXM_40GB", names)
            self.call("bash", "-c", f"set -o pipefail; hespas run '{self.program.name}' --device A100_SXM_40GB --format json | jq -e .step_time_s")
        if shutil.which("less"):
            self.assertIn("A100_SXM_40GB", self.call("bash", "-c", "hespas devices | less"))
        # Who closes the pipe early wants no more: no message.
        done = subprocess.run(["bash", "-c", f"'{BIN}/hespas' run --help | head -1; '{BIN}/hespas' run '{self.program}' --device A100_SXM_40GB --format json | head -1"],
                              capture_output=True, text=True, timeout=60, check=False)
        self.assertNotIn("error", done.stderr)
        full = subprocess.run(["bash", "-c", f"'{BIN}/hespas' devices >/dev/full"], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(full.returncode, 1)
        self.assertIn("error[E0002]", full.stderr)
        self.assertEqual(self.call("bash", "-c", f"hespas run '{self.program.name}' --device A100_SXM_40GB 2>/dev/null | cat").count("\x1b"), 0)

    def test_no_network(self):
        if subprocess.run(["unshare", "-rn", "true"], capture_output=True, check=False).returncode:
            self.skipTest("no namespace without a network here")
        self.call("unshare", "-rn", BIN / "hespas", "run", self.program, *DEVICE, "--output", "out", "--quiet")
        self.call("unshare", "-rn", BIN / "hespas", "doctor")


if __name__ == "__main__":
    sys.exit(unittest.main())
