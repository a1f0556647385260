"""Rows as Parquet, by the package's own function. Runs in the environment of python/locks/sweep.txt, without the compiled module."""
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest

import pyarrow.parquet

from cluster import BIN, FILE, ROOT


def table_class():
    """`hespas.sweeps` from the tree; the module that it comes with needs a wheel, this class does not."""
    for name in ("hespas", "hespas._jax", "hespas.errors", "hespas.result"):
        sys.modules[name] = types.ModuleType(name)
    sys.modules["hespas"].__path__ = [str(ROOT / "python/hespas")]
    sys.modules["hespas"]._jax, sys.modules["hespas"].errors = sys.modules["hespas._jax"], sys.modules["hespas.errors"]
    sys.modules["hespas.result"].rows_as_html = str
    spec = importlib.util.spec_from_file_location("hespas.sweeps", ROOT / "python/hespas/sweeps.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class ParquetTest(unittest.TestCase):
    def test_rows_come_back(self):
        sweeps = table_class()
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "out"
            subprocess.run([BIN, "sweep", FILE, "--quiet", "--output", out], cwd=ROOT, check=True, capture_output=True)
            table = sweeps.read_sweep(out)
            back = pyarrow.parquet.read_table(table.to_parquet(out / "rows.parquet")).to_pylist()
            self.assertEqual(back, [json.loads(line) for line in sorted((out / "rows.jsonl").read_text().splitlines(),
                                                                        key=lambda line: json.loads(line)["point"])])


if __name__ == "__main__":
    unittest.main()
