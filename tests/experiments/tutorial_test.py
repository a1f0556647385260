"""Every command of docs/tutorial.md, in order, in a copy of what it needs of the tree; steps that follow from each other must agree."""
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import command

TEXT = (command.ROOT / "docs/tutorial.md").read_text()
NEEDED = ("examples", "configs", "scripts", "python", "data")


def commands():
    for block in re.findall(r"^```\n(.*?)^```$", TEXT, re.M | re.S):
        lines = block.splitlines()
        shown = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
        yield from shown or lines


class Tutorial(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        for name in NEEDED:
            (cls.folder / name).symlink_to(command.ROOT / name)
        (cls.folder / "build/tutorial").mkdir(parents=True)
        cls.outputs = {}
        for line in commands():
            done = subprocess.run(["bash", "-ec", line], cwd=cls.folder, capture_output=True, text=True, check=False, timeout=600,
                                  env=dict(os.environ, PATH=f"{command.BIN}:{os.environ['PATH']}", NO_COLOR="1"))
            cls.outputs[line] = done

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def result(self, name):
        return json.loads((self.folder / "build/tutorial" / name).read_text())

    def test_every_command_succeeds_and_does_something(self):
        self.assertGreater(len(self.outputs), 25)
        for line, done in self.outputs.items():
            with self.subTest(line):
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertTrue(done.stdout or ">" in line or "--output" in line)
                self.assertNotIn("error", done.stderr)

    def test_nothing_is_written_beside_build(self):
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), sorted([*NEEDED, "build"]))

    def test_the_steps_agree(self):
        predicted = self.result("a100/result.json")
        shown = next(done.stdout for line, done in self.outputs.items() if line.startswith("hespas run") and "build/tutorial/a100" in line)
        self.assertIn(f"{1e3 * predicted['step_time_s']:.1f} ms", shown)
        explained = next(done.stdout for line, done in self.outputs.items() if line.endswith("4dev.mlir.gz --device A100_SXM_40GB") and "explain" in line)
        self.assertIn(f"({predicted['step_time_ps']} ps)", explained)
        measured = self.result("measured/result.json")
        bounds = {each["bound"] for each in measured["block_times"]["structures"] if each["op"] != "stablehlo.all_reduce"}
        self.assertEqual(bounds, {"measured"})
        rows = self.result("experiments/llama3/results.json")["rows"]
        ours = next(row for row in rows if (row["system"], row["workload"], row["source"]) == ("A100_SXM_40GB_4GPU", "llama3-100m", "Calibrated"))
        self.assertEqual(ours["step_time_s"], predicted["step_time_s"])

    def test_the_custom_collective_changes_the_data_parallel_step(self):
        plain, custom = [done.stdout for line, done in self.outputs.items() if line.startswith("hespas simulate") and "tutorial/step/dev" in line]
        self.assertNotEqual(plain, custom)


if __name__ == "__main__":
    unittest.main()
