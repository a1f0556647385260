"""The notebook of the documents runs from its first cell to its last."""
import os
import pathlib
import unittest

import nbclient
import nbformat

from common import ROOT

NOTEBOOKS = ROOT / "docs" / "notebooks"


class Notebooks(unittest.TestCase):
    def test_they_run(self):
        os.environ.pop("XLA_FLAGS", None)
        for path in sorted(NOTEBOOKS.glob("*.ipynb")):
            with self.subTest(path.name):
                notebook = nbformat.read(path, as_version=4)
                nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": os.getcwd()}}).execute()
                shown = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
                tables = [output for output in shown if "text/html" in output.get("data", {})]
                self.assertGreaterEqual(len(tables), 3)
                self.assertFalse([output for output in shown if output.output_type == "error"])
                self.assertIn("<html", pathlib.Path("report.html").read_text())

    def test_they_are_stored_without_outputs(self):
        for path in sorted(NOTEBOOKS.glob("*.ipynb")):
            for cell in nbformat.read(path, as_version=4).cells:
                self.assertFalse(cell.get("outputs"), path.name)


if __name__ == "__main__":
    unittest.main()
