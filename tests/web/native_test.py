"""usage: native_test.py ENGINE      HESPAS_ROOT, HESPAS_BIN: the tree and the command

ENGINE is the program of web/ compiled for this machine, without the libraries that browsers lack. In the surroundings that
web/engine.mjs makes (data of data.json alone), it writes the files of the command byte for byte, and its errors.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(os.environ["HESPAS_ROOT"])
COMMAND = pathlib.Path(os.environ["HESPAS_BIN"]) / "hespas"
ENGINE = pathlib.Path(sys.argv.pop(1)).resolve()
FIVE = json.loads((ROOT / "tests/web/five.json").read_text())


def page_files(folder):
    """What scripts/build_web.sh makes of the data folder, at the paths where the engine finds it."""
    for name in ("examples", "npm"):
        (folder / name).mkdir()
    no_charts = folder / "no_charts.js"
    no_charts.touch()
    subprocess.run([sys.executable, ROOT / "scripts/web_data.py", no_charts, folder], check=True)
    for path, text in json.loads((folder / "data.json").read_text()).items():
        (folder / "data" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "data" / path).write_text(text)


class Native(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        page_files(cls.folder)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def run_both(self, name, content, *options):
        """What the command did and what the engine did, each in a folder of its own."""
        answers = []
        for program, environment in ((COMMAND, {}), (ENGINE, {"HESPAS_DATA_DIR": self.folder / "data"})):
            with tempfile.TemporaryDirectory(dir=self.folder) as folder:
                pathlib.Path(folder, name).write_bytes(content)
                done = subprocess.run(["hespas", "run", name, *options, "--output", "output", "-q"], executable=program, cwd=folder,
                                      capture_output=True, text=True, env={**os.environ, **environment, "NO_COLOR": "1"})
                output = pathlib.Path(folder, "output")
                answers.append((done.returncode, done.stderr, {file.name: file.read_bytes() for file in output.glob("*")}))
        return answers

    def test_five_programs(self):
        for path in FIVE:
            with self.subTest(path):
                command, engine = self.run_both(pathlib.Path(path).name, (ROOT / path).read_bytes(), "--device", "H100_80GB")
                self.assertEqual(command[:2], engine[:2])
                self.assertIn("result.json", command[2])
                self.assertEqual(command[2].keys(), engine[2].keys())
                # The command's page has charts where they were installed before it was built.
                different = [name for name in command[2] if name != "report.html" and command[2][name] != engine[2][name]]
                self.assertEqual(different, [])

    def test_errors(self):
        text = b"func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n  return %b : tensor<4xf32>\n}\n"
        for name, content in (("undefined.mlir", text), ("cut.mlir.gz", (ROOT / FIVE[0]).read_bytes()[:1000]), ("empty.mlir", b""), ("noise.mlir", bytes(range(256)))):
            with self.subTest(name):
                command, engine = self.run_both(name, content, "--device", "H100_80GB")
                self.assertNotEqual(command[0], 0)
                self.assertEqual(command, engine)

    def test_left_out(self):
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            pathlib.Path(folder, "sweep.yml").write_text("program: x.mlir\n")
            done = subprocess.run([ENGINE, "sweep", "sweep.yml"], cwd=folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 3)
        self.assertIn("E0009", done.stderr)

    def test_names_of_newer_libraries(self):
        """Emscripten's library has no std::ranges; web/missing_from_libcxx.h has what the sources use of it."""
        used = {name for folder in ("src", "cli") for file in (ROOT / folder).rglob("*.[ch]*") if not file.stem.endswith("_test")
                for name in re.findall(r"std::(?:ranges|views)::(\w+)", file.read_text())}
        there = set(re.findall(r"^\w+ (\w+)\(", (ROOT / "web/missing_from_libcxx.h").read_text(), re.MULTILINE))
        self.assertEqual(used - there, set())


if __name__ == "__main__":
    unittest.main()
