"""fuzz/run.py: an input that waits for a busy machine is no finding, one that takes the processor's time is."""
import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(os.environ["HESPAS_ROOT"])
sys.path.insert(0, str(ROOT / "fuzz"))

import run  # noqa: E402

FUZZER = """#!/usr/bin/env python3
import sys, time
prefix = [word.partition("=")[2] for word in sys.argv if word.startswith("-artifact_prefix=")]
if prefix:  # the search: keeps an input
    open(prefix[0] + "slow-unit-1", "w").write("{what}")
    busy = 0.3
elif open(sys.argv[-1]).read() == "waits":
    time.sleep(1)
    busy = 0
else:
    busy = 1
while time.process_time() < busy:
    pass
"""


class SlowInputs(unittest.TestCase):
    def search(self, what):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "fuzzer")
            program.write_text(FUZZER.replace("{what}", what))
            program.chmod(0o755)
            with mock.patch.multiple(run, FUZZING=pathlib.Path(folder), LONGEST=0.7), mock.patch.object(sys, "argv", ["run.py", str(program), "topic"]), \
                    mock.patch.dict(os.environ, {"HESPAS_FUZZ_SECONDS": str(run.spent() + 0.2)}):
                try:
                    run.main()
                finally:
                    self.kept = [path.name for path in pathlib.Path(folder, "findings").iterdir()]

    def test_one_that_waits_is_none(self):
        self.search("waits")
        self.assertEqual(self.kept, [])

    def test_one_that_computes_is_a_finding(self):
        with self.assertRaisesRegex(SystemExit, "topic-slow-unit-1: this input takes 1.* s of processor time, more than 0.7"):
            self.search("computes")
        self.assertEqual(self.kept, ["topic-slow-unit-1"])


if __name__ == "__main__":
    unittest.main()
