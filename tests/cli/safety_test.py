"""What strangers' files can do: nothing is written outside the named folder, nothing is executed, no alias or entity grows without bound."""
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import tempfile
import time
import unittest
import zlib

from command import BIN, LLAMA, ROOT

SHELL = re.compile(r'\bsystem\((?!the_system\))|\bpopen\(|execlp?\(|os\.system|shell=True|"/bin/sh", *"-c"')
OPENED = re.compile(r'open(?:at)?\((?:AT_FDCWD, |\d+(?:<[^>]*>)?, )?"([^"]+)", ([A-Z_|]+)')
CHANGED = re.compile(r'^(?:\[pid +\d+\] |\d+ +)?(?:rename|renameat2?|unlink|unlinkat|mkdir|mkdirat|symlink|symlinkat|link|linkat|truncate|chmod|rmdir)\((.*)\) += 0')
NAMES = ["../../evil", "/tmp/hespas-evil", "a/../../b", "x; touch evil", "$(touch evil)", "`touch evil`", "%n%s"]


def program(name):
    """A module whose every name is `name`."""
    return (f'module @"{name}" {{\n  func.func public @main(%a: tensor<8x8xf32> loc("{name}")) -> tensor<8x8xf32> {{\n'
            f'    %0 = stablehlo.custom_call @"{name}"(%a) : (tensor<8x8xf32>) -> tensor<8x8xf32> loc("{name}")\n'
            f'    %1 = call @"f{name}"(%0) : (tensor<8x8xf32>) -> tensor<8x8xf32>\n    return %1 : tensor<8x8xf32>\n  }}\n'
            f'  func.func private @"f{name}"(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {{\n'
            f'    %0 = stablehlo.add %a, %a : tensor<8x8xf32> loc("{name}")\n    return %0 : tensor<8x8xf32>\n  }}\n}}\n')


class WritesTest(unittest.TestCase):
    def setUp(self):
        if not shutil.which("strace"):
            self.skipTest("strace is not installed")
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())).resolve()
        (self.folder / "work").mkdir()

    def traced(self, *words, allowed, status=0):
        """Paths that a command writes, and programs that it starts."""
        log = self.folder / "strace.log"
        done = subprocess.run(["strace", "-f", "-qq", "-s", "4096", "-o", log, "-e", "trace=%file", BIN / "hespas", *map(str, words)],
                              cwd=self.folder / "work", capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        written, started = set(), 0
        for line in log.read_text(errors="replace").splitlines():
            started += "execve(" in line and "= 0" in line
            opened, changed = OPENED.search(line), CHANGED.search(line)
            if opened and re.search("WRONLY|RDWR|CREAT", opened[2]) and not re.search(r"= -1 E\w+", line):
                written.add(opened[1])
            elif changed:
                written.update(re.findall(r'"([^"]+)"', changed[1]))
        self.assertEqual(started, 1, "a program was started")
        for path in written:
            place = (self.folder / "work" / path).resolve()
            inside = any(place == (self.folder / name).resolve() or (self.folder / name).resolve() in place.parents for name in allowed)
            self.assertTrue(inside or place == pathlib.Path("/dev/null"), f"{words[0]} writes {place}")
        return written

    def test_only_the_output_folder_is_written(self):
        machine = ["--device", "A100_SXM_40GB", "--system", "A100_SXM_40GB_4GPU"]
        sweep = self.folder / "sweep.json"
        sweep.write_text(json.dumps({"base": {"program": str(LLAMA), "device": "A100_SXM_40GB"}, "axes": {"device.tdp": ["300 W", "400 W"]}}))
        self.assertTrue(self.traced("run", LLAMA, *machine, "--output", "../out", allowed=["out"]))
        self.assertTrue(self.traced("trace", LLAMA, *machine[:2], "--output", "../out", allowed=["out"]))
        self.assertTrue(self.traced("sweep", sweep, "--output", "../out2", allowed=["out2"]))
        self.assertEqual(self.traced("run", LLAMA, *machine, allowed=[]), set())
        self.assertEqual(self.traced("optimise", LLAMA, *machine[:2], allowed=[]), set())
        self.assertEqual(self.traced("simulate", "--workload-configuration=../out/dev", "--comm-group-configuration=../out/comm_group.json", *machine[2:],
                                     allowed=[]), set())

    def test_no_name_in_a_program_becomes_a_path_or_a_command(self):
        for i, name in enumerate(NAMES):
            with self.subTest(name):
                file = self.folder / f"{i}.mlir"
                file.write_text(program(name))
                self.assertTrue(self.traced("run", file, "--device", "A100_SXM_40GB", "--num-npus", "2", "--output", "../out", allowed=["out"]))
                self.assertEqual([path.name for path in self.folder.rglob("*evil*")], [])


class NoShellTest(unittest.TestCase):
    def test_the_sources_start_no_shell(self):
        found = [f"{path.relative_to(ROOT)}: {line.strip()}" for folder in ("src", "cli", "python/hespas", "python/bindings")
                 for path in (ROOT / folder).rglob("*") if path.suffix in (".cc", ".h", ".py") and "_test" not in path.name
                 for line in path.read_text().splitlines() if SHELL.search(line)]
        self.assertEqual(found, [])


class BombsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def bounded(self, *words, megabytes=600):
        """Ends by itself with an error, within ten seconds of CPU time and the memory."""
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
            resource.setrlimit(resource.RLIMIT_CPU, (10, 10))
        started = time.monotonic()
        done = subprocess.run([BIN / "hespas", *map(str, words)], capture_output=True, text=True, timeout=100, preexec_fn=limit, check=False)
        self.assertGreater(done.returncode, 0, f"{words[0]} after {time.monotonic() - started:.0f} s: {done.stderr[-500:]}")
        self.assertRegex(done.stderr, r"error\[E\d+\]")
        self.assertLess(len(done.stderr), 20_000)
        if "--max-memory" not in words:
            self.assertNotIn("memory", done.stderr)

    def test_yaml_aliases(self):
        lines = ["a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
        lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12)]
        (self.folder / "sweep.yaml").write_text("\n".join([*lines, "base: *a11", "axes: *a11"]) + "\n")
        self.bounded("sweep", self.folder / "sweep.yaml")
        (self.folder / "system.json").write_text("{}")
        (self.folder / "network.yml").write_text("\n".join([*lines, "topology: *a11", "npus_count: *a11", "bandwidth: *a11", "latency: *a11"]) + "\n")
        self.bounded("check", self.folder)
        self.bounded("run", LLAMA, "--device", "A100_SXM_40GB", "--system", self.folder)

    def test_xml_entities(self):
        entities = '<!ENTITY a0 "lol">' + "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 12))
        schedule = (ROOT / "examples/custom-collective/allreduce_ring_4.xml").read_text()
        bomb = re.sub(r'name="[^"]*"', 'name="&a11;"', schedule, count=1)
        outside = re.sub(r'name="[^"]*"', 'name="&x;"', schedule, count=1)
        body = re.compile(r"<algo")
        (self.folder / "bomb.xml").write_text(body.sub(f"<!DOCTYPE algo [{entities}]><algo", bomb, count=1))
        self.bounded("collective", "show", self.folder / "bomb.xml")
        (self.folder / "outside.xml").write_text(body.sub('<!DOCTYPE algo [<!ENTITY x SYSTEM "file:///etc/passwd">]><algo', outside, count=1))
        done = subprocess.run([BIN / "hespas", "collective", "show", self.folder / "outside.xml"], capture_output=True, text=True, timeout=60, check=False)
        self.assertNotIn("root:", done.stdout + done.stderr)

    def test_nesting(self):
        for name, text in (("deep.json", "[" * 300_000), ("deep.yaml", "[" * 300_000), ("deep.json", '{"a":' * 300_000), ("deep.yaml", "- " * 300_000)):
            (self.folder / name).write_text(text)
            self.bounded("check", self.folder / name)
            self.bounded("sweep", self.folder / name)

    def test_compressed_zeros_are_stopped_by_the_limit(self):
        # The same compressed MiB again and again: a full flush forgets what came before. Nobody gets to the checksum.
        deflate = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
        mebibyte = deflate.compress(bytes(1 << 20)) + deflate.flush(zlib.Z_FULL_FLUSH)
        (self.folder / "zeros.mlir.gz").write_bytes(b"\x1f\x8b\x08" + bytes(7) + 2048 * mebibyte + deflate.flush() + bytes(8))
        self.bounded("check", self.folder / "zeros.mlir.gz", "--max-memory", "200MB", megabytes=4096)


if __name__ == "__main__":
    os.environ.setdefault("NO_COLOR", "1")
    unittest.main()
