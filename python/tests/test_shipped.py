"""The exports in this repository are what their manifest says: MaxText's own programs, recorded where it could be run."""
import hashlib
import json
import os
import pathlib
import unittest

import hespas
from common import ROOT

RECORDS = ROOT / "tests/data/exports.json"
SHARED = pathlib.Path(os.environ.get("HESPAS_SHARED", ROOT.parent / "shared")) / "workloads"


def counted(path):
    """The histogram as manifests write it."""
    return {name.removeprefix("func."): count for name, count in hespas.analyze(path).items()}


class Shipped(unittest.TestCase):
    def test_histograms_and_digests(self):
        records = json.loads(RECORDS.read_text())["files"]
        self.assertGreaterEqual(len(records), 3)
        for name, record in records.items():
            with self.subTest(name):
                path = ROOT / name
                self.assertEqual(hashlib.sha256(path.read_bytes()).hexdigest(), record["sha256"])
                self.assertEqual(counted(path), record["histogram"])
                self.assertEqual(sum(record["histogram"].values()), record["ops"])

    def test_all_others_where_they_are(self):
        manifest = SHARED / "manifest.json"
        for name, record in json.loads(manifest.read_text()).items() if manifest.exists() else ():
            if "stablehlo.while" in record["histogram"]:
                continue  # the manifest counts part of a loop's body as the program's
            with self.subTest(name):
                self.assertEqual(counted(SHARED / name), record["histogram"])


if __name__ == "__main__":
    unittest.main()
