"""`hespas analyze` and the prototype's analyzer: goldens, and what JSON, CSV and Markdown tell beyond the counts."""

import csv
import io
import json
import unittest

import command

GOLDENS = command.ROOT / "tests/data/analyzer"
VARIANTS = {
    "plain": [],
    "expand": ["-e"],
    "csv": ["-f", "csv", "--compat", "prototype"],
    "csv_expand": ["-f", "csv", "-e", "--compat", "prototype"],
    "sensitive": ["-s", "--compat", "prototype"],
    "sensitive_csv_expand": ["-s", "-f", "csv", "-e", "--compat", "prototype"],
}

LOOP = """
func.func @main(%a: tensor<8x4xf32>, %b: tensor<4x16xf32>) -> tensor<8x16xf32> {
  %n = stablehlo.constant dense<0> : tensor<i32>
  %z = stablehlo.constant dense<0.0> : tensor<8x16xf32>
  %0:2 = stablehlo.while(%i = %n, %s = %z) : tensor<i32>, tensor<8x16xf32>
   cond {
    %limit = stablehlo.constant dense<5> : tensor<i32>
    %c = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %d = func.call @layer(%a, %b) : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
    stablehlo.return %next, %d : tensor<i32>, tensor<8x16xf32>
  }
  return %0#1 : tensor<8x16xf32>
}
func.func private @layer(%a: tensor<8x4xf32>, %b: tensor<4x16xf32>) -> tensor<8x16xf32> {
  %d = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  %r = "stablehlo.all_reduce"(%d) <{replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %r : tensor<8x16xf32>
}
"""


class Prototype(unittest.TestCase):
    def test_the_drop_in_prints_what_the_prototype_printed(self):
        folders = sorted(path for path in GOLDENS.iterdir() if path.is_dir())
        self.assertEqual(len(folders), 8)
        for folder in folders:
            program = command.FIXTURES / f"{folder.name}.mlir.gz"
            for variant, options in VARIANTS.items():
                with self.subTest(program=folder.name, variant=variant):
                    done = command.run(program, *options, program="hespas_mlir_analyzer")
                    self.assertEqual(done.returncode, 0, done.stderr)
                    golden = (folder / f"{variant}.txt").read_text().split("\n", 1)[1]  # without its log line
                    self.assertEqual(done.stdout.rstrip("\n"), golden.rstrip("\n"))

    def test_analyze_prints_the_same_text(self):
        for name in ("jax_example", "test_split_replica_groups"):
            for variant, options in (("plain", []), ("expand", ["-e"])):
                done = command.run("analyze", *options, command.FIXTURES / f"{name}.mlir.gz")
                golden = (GOLDENS / name / f"{variant}.txt").read_text().split("\n", 1)[1]
                self.assertEqual(done.stdout.rstrip("\n"), golden.rstrip("\n"))


class Profile(unittest.TestCase):
    def setUp(self):
        self.json = json.loads(command.run("analyze", "-", "--format", "json", stdin=LOOP).stdout)

    def test_counts_keep_their_keys(self):
        self.assertEqual(self.json["ops"], {"stablehlo.constant": 2, "stablehlo.while": 1, "func.return": 1})
        self.assertEqual((self.json["total"], self.json["unique"]), (4, 3))

    def test_work_follows_calls_and_trip_counts(self):
        work = {row["op"]: row for row in self.json["work"]}
        self.assertEqual(work["stablehlo.dot_general"]["executed"], 5)
        self.assertEqual(work["stablehlo.dot_general"]["flops"], 5 * 2 * 8 * 4 * 16)
        self.assertEqual(work["stablehlo.dot_general"]["bytes"], 5 * 4 * (8 * 4 + 4 * 16 + 8 * 16))
        self.assertEqual(self.json["flops"], sum(row["flops"] for row in self.json["work"]))

    def test_collectives_have_sizes_and_groups(self):
        self.assertEqual(self.json["collectives"], [{"op": "all-reduce", "executed": 5, "bytes": 4 * 8 * 16, "group_size": 2,
                                                     "groups": [[0, 1], [2, 3]]}])

    def test_calls_loops_and_constants(self):
        self.assertEqual(self.json["call_graph"], [{"caller": "main", "callee": "layer", "calls": 1, "executed": 5}])
        self.assertEqual(self.json["loops"], [{"function": "main", "line": 5, "trip_count": 5, "executed": 1}])
        constants = self.json["constants"]
        self.assertEqual((constants["count"], constants["bytes"]), (4, 4 * (8 * 16 + 3)))
        self.assertTrue(0 < constants["share_of_file"] < 1 and 0 < constants["share_of_ops"] < 1)

    def test_tables(self):
        done = command.run("analyze", "-", "--format", "csv", "--table", "work", stdin=LOOP)
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        self.assertEqual(rows[0]["op"], "stablehlo.dot_general")
        markdown = command.run("analyze", "-", "--format", "md", stdin=LOOP).stdout
        for title in ("## Work", "## Collectives", "## Constants", "## Calls", "## Loops"):
            self.assertIn(title, markdown)

    def test_all_regions_need_no_main(self):
        text = LOOP.replace("@main", "@other")
        done = json.loads(command.run("analyze", "-", "--all-regions", "--format", "json", stdin=text).stdout)
        self.assertEqual(done["ops"]["func.func"], 2)
        self.assertEqual(done["flops"], self.json["flops"])

    def test_recursive_calls_end(self):
        text = LOOP.replace("stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]", "func.call @layer(%a, %b)")
        done = command.run("analyze", "-", "--format", "json", stdin=text)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
