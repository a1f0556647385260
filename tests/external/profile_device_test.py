"""bench/profile_device.py from kernels to a calibrated device and measured blocks, on XLA's CPU plugin in place of an accelerator's."""
import csv
import json
import pathlib
import subprocess
import tempfile
import unittest

import command
import pjrt_test



class ProfileDevice(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def profile(self, rows, plugin):
        table, program = self.folder / "plan.csv", self.folder / "program.mlir"
        table.write_text("op,dtype,b,m,n,k,latency_us\n" + "".join(row + "\n" for row in rows))
        program.write_text(pjrt_test.matmul(64))
        return subprocess.run([command.ROOT / "bench/profile_device.py", "--plugin", plugin, "--device", "EPYC_core", "--kernels", table,
                               "--output", self.folder / "out", program], capture_output=True, text=True)

    def test_kernels_and_blocks(self):
        rows = [f"{op},f32,{i + 1 if op == 'bmm' else 1},{32 * i},64,{16 * i}," for i in range(1, 9) for op in ("gemm", "linear", "bmm")]
        rows += [f"{op},f32,{64 * i},,128,," for i in range(1, 9) for op in ("add", "mulu", "tanh", "softmax", "ln")]
        done = self.profile(rows, pjrt_test.PLUGIN)
        self.assertEqual(done.returncode, 0, done.stderr)
        with (self.folder / "out/kernels.csv").open() as file:
            measured = list(csv.DictReader(file))
        self.assertEqual([row["op"] for row in measured], [row.split(",")[0] for row in rows])
        self.assertTrue(all(float(row["latency_us"]) > 0 for row in measured))
        self.assertIn("calibration", json.loads((self.folder / "out/device.json").read_text()))
        kept = [json.loads(line)["estimate"]["source"] for line in (self.folder / "out/blocks.jsonl").read_text().splitlines()]
        self.assertEqual(kept, ["pjrt"])
        self.assertRegex(done.stdout, r"program.mlir, measured blocks: [\d.]+ ms")

    def test_without_a_device(self):
        done = self.profile(["gemm,f32,1,64,64,64,"], "/nowhere.so")
        self.assertEqual((done.returncode, done.stdout), (5, ""))
        self.assertIn("error[E0594]: there is no `/nowhere.so`", done.stderr)
        self.assertFalse((self.folder / "out/kernels.csv").exists())


if __name__ == "__main__":
    unittest.main()
