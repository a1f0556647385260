"""`hespas.goodput`: the command's figures and errors."""
import pathlib
import tempfile
import unittest

import hespas
from common import EXAMPLE, command_json


class Goodput(unittest.TestCase):
    def test_it_is_the_command(self):
        found = hespas.goodput(str(EXAMPLE), "H100_80GB", tokens=1e12, devices=16, runs=20, spares=1, repair_time="2 d", price="2.5 EUR")
        told = command_json("goodput", EXAMPLE, "--device", "H100_80GB", "--tokens", "1e12", "--devices", "16", "--runs", "20", "--spares", "1",
                            "--repair-time", "2 d", "--price", "2.5 EUR")
        found.pop("reproduce"), told.pop("reproduce")
        self.assertEqual(found, told)
        self.assertEqual(found["currency"], "EUR")

    def test_errors_are_exceptions(self):
        for options in ({"spares": 99}, {"mtbf": "0"}, {"no_such_setting": 1}):
            with self.subTest(options), self.assertRaises(hespas.UsageError):
                hespas.goodput(str(EXAMPLE), "H100_80GB", tokens=1e12, **options)

    def test_the_page(self):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "run.html"
            hespas.goodput(hespas.load(EXAMPLE), "H100_80GB", tokens=1e12, runs=5, scaling="4,8", report=page)
            self.assertIn("Where the days go", page.read_text())


if __name__ == "__main__":
    unittest.main()
