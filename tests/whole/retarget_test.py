"""`hespas retarget` against real exports of the same model for 4 and for 8 devices."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(os.environ["HESPAS_ROOT"])
HESPAS = pathlib.Path(os.environ["HESPAS_BIN"]) / "hespas"
EXPORTS = pathlib.Path(os.environ.get("HESPAS_SHARED", ROOT.parent / "shared")) / "workloads"  # where it is there
EXAMPLE = ROOT / "examples/llama3-100m-4dev.mlir.gz"
RECORDS = ROOT / "tests/data/whole/retarget.json"


def hespas(*arguments):
    return subprocess.run([HESPAS, *map(str, arguments)], capture_output=True, text=True, timeout=300)


class Case(unittest.TestCase):
    def summary(self, program, *options):
        """Collectives, and flops and bytes of all computation, as the program stands."""
        done = hespas("run", program, "--device", "A100_SXM_40GB", "--estimator", "roofline", "--optimise", "none", "--format", "json", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads(done.stdout)
        collectives = {row["op"]: [row["count"], row["bytes"]] for row in result["collectives"]}
        return {"npus": result["npus"], "collectives": collectives, "flops": result["flops"], "bytes": result["bytes_accessed"],
                "compute_ps": result["compute_time_ps"]}

    def check(self, found, wanted):
        self.assertEqual(found["npus"], wanted["npus"])
        self.assertEqual(found["collectives"], wanted["collectives"])
        for key in ("flops", "bytes", "compute_ps"):
            self.assertAlmostEqual(found[key] / wanted[key], 1, delta=0.02, msg=key)


class Exports(Case):
    def test_the_example_on_eight_devices_is_the_export_for_eight(self):
        self.check(self.summary(EXAMPLE, "--retarget", 8), json.loads(RECORDS.read_text())["llama3-100m-8dev"])

    def test_there_and_back_is_the_program_itself(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "eight.mlir"
            path.write_text(hespas("retarget", EXAMPLE, "--devices", 8).stdout)
            eight = self.summary(path)
            self.check(eight, json.loads(RECORDS.read_text())["llama3-100m-8dev"])
            self.assertEqual(hespas("retarget", path, "--devices", 4).stdout, hespas("print", EXAMPLE).stdout)

    def test_a_loop_over_layers_follows(self):
        scan = ROOT / "tests/data/whole/llama3-100m-4dev-scan.mlir.gz"
        before, after = self.summary(scan), self.summary(scan, "--retarget", 8)
        self.assertEqual(after["npus"], 8)
        self.assertEqual({op: row[0] for op, row in after["collectives"].items()}, {op: row[0] for op, row in before["collectives"].items()})
        self.assertLess(after["bytes"], before["bytes"])

    def test_every_export_at_hand_is_the_other_line_by_line(self):
        pairs = [(four, four.with_name(four.name.replace("4dev", "8dev"))) for four in sorted(EXPORTS.glob("*-4dev.mlir.gz"))]
        for four, eight in ((four, eight) for four, eight in pairs if eight.exists()):
            with self.subTest(four.name):
                self.assertEqual(hespas("retarget", four, "--devices", 8).stdout, hespas("print", eight).stdout)
                self.assertEqual(hespas("retarget", eight, "--devices", 4).stdout, hespas("print", four).stdout)


class Replicas(Case):
    def test_shards_that_do_not_divide_are_replicated(self):
        """64 of 1,024 devices share the shards, in 16 replicas."""
        done = hespas("retarget", EXAMPLE, "--devices", 1024)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("W0545", done.stderr)
        four, many = self.summary(EXAMPLE), self.summary(EXAMPLE, "--retarget", 1024)
        self.assertEqual(many["npus"], 1024)
        self.assertEqual(many["collectives"]["all_gather"][0], four["collectives"]["all_gather"][0])
        self.assertGreater(many["collectives"]["all_reduce"][0], four["collectives"]["all_reduce"][0])


class Bad(Case):
    def refused(self, program, devices):
        done = hespas("retarget", program, "--devices", devices)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("E0545", done.stderr)
        self.assertEqual(done.stdout, "")

    def test_shards_that_do_not_divide(self):
        self.refused(EXAMPLE, 7)

    def test_exchanges_without_a_rule(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "exchange.mlir"
            path.write_text("""module @m attributes {mhlo.num_partitions = 4 : i32} {
              func.func @main(%x: tensor<16x8xf32>) -> tensor<16x8xf32> {
                %r = "stablehlo.all_to_all"(%x) <{split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 4 : i64,
                  replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>}> : (tensor<16x8xf32>) -> tensor<16x8xf32>
                return %r : tensor<16x8xf32>
              }
            }""")
            self.refused(path, 8)


class Mesh(Case):
    def test_tensor_parallelism_within_stays(self):
        """FSDP over 2 of 4 devices, tensor parallel over neighbours: on 8 devices the shards halve, the neighbours stay."""
        program = """module @m attributes {mhlo.num_partitions = 4 : i32} {
          func.func @main(%x: tensor<32x64xf32>, %w: tensor<32x128xf32>) -> tensor<32x128xf32> {
            %g = "stablehlo.all_gather"(%w) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0,2],[1,3]]> : tensor<2x2xi64>,
              channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> : (tensor<32x128xf32>) -> tensor<64x128xf32>
            %d = stablehlo.dot_general %x, %g, contracting_dims = [1] x [0] : (tensor<32x64xf32>, tensor<64x128xf32>) -> tensor<32x128xf32>
            %r = "stablehlo.all_reduce"(%d) <{replica_groups = dense<[[0,1],[2,3]]> : tensor<2x2xi64>,
              channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, use_global_device_ids}> ({
              ^bb0(%a: tensor<f32>, %b: tensor<f32>):
                %s = stablehlo.add %a, %b : tensor<f32>
                stablehlo.return %s : tensor<f32>
            }) : (tensor<32x128xf32>) -> tensor<32x128xf32>
            return %r : tensor<32x128xf32>
          }
        }"""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "mesh.mlir"
            path.write_text(program)
            text = hespas("retarget", path, "--devices", 8).stdout
        self.assertIn("(tensor<16x128xf32>) -> tensor<64x128xf32>", text)
        self.assertIn("dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>", text)
        self.assertIn("dense<[[0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<4x2xi64>", text)


if __name__ == "__main__":
    if sys.argv[1:] == ["--record"]:  # from the real exports
        case = Case()
        path = EXPORTS / "llama3-100m-8dev.mlir.gz"
        print(json.dumps({"llama3-100m-8dev": case.summary(path)}, indent=1))
    else:
        unittest.main()
