"""Ranks whose traces differ in groups and peers alone share one trace, in files and in the simulation."""
import json
import pathlib
import tempfile
import unittest

from command import run

REDUCTION = """({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
    })"""


def program(ranks, size, ring):
    """Work between all-reduces within neighbours and across them, and a message to the next rank."""
    near = [list(range(first, first + size)) for first in range(0, ranks, size)]
    far = [list(range(first, ranks, ranks // size)) for first in range(ranks // size)]
    pairs = [[rank, (rank + 1) % ranks] for rank in range(ranks)]

    def reduce(to, of, groups):
        return (f'    {to} = "stablehlo.all_reduce"({of}) <{{replica_groups = dense<{groups}> : '
                f'tensor<{len(groups)}x{len(groups[0])}xi64>}}> {REDUCTION} : (tensor<4096xf32>) -> tensor<4096xf32>\n')
    text = f"module @m attributes {{mhlo.num_partitions = {ranks} : i32, mhlo.num_replicas = 1 : i32}} {{\n"
    text += "  func.func public @main(%a: tensor<4096xf32>) -> tensor<4096xf32> {\n"
    text += "    %0 = stablehlo.tanh %a : tensor<4096xf32>\n" + reduce("%1", "%0", near)
    text += "    %2 = stablehlo.negate %1 : tensor<4096xf32>\n" + reduce("%3", "%2", far) + reduce("%4", "%3", near)
    if ring:
        text += ('    %5 = "stablehlo.collective_permute"(%4) <{channel_handle = #stablehlo.channel_handle<handle = 1, '
                 f'type = 1>, source_target_pairs = dense<{pairs}> : tensor<{ranks}x2xi64>}}> : '
                 "(tensor<4096xf32>) -> tensor<4096xf32>\n")
    return text + f"    return %{5 if ring else 4} : tensor<4096xf32>\n  }}\n}}\n"


class RankClasses(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def trace(self, name, *words, ranks, size=4, ring=False):
        path = self.folder / f"{ranks}.mlir"
        path.write_text(program(ranks, size, ring))
        output = self.folder / name
        done = run("trace", path, "--device", "A100_SXM_40GB", "--optimise", "none", "--output", output, *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return output

    def simulate(self, output, ranks, *words):
        system = self.folder / f"{ranks}.json"
        system.write_text(json.dumps({
            "network": {"topology": ["Ring", "Switch"], "npus_count": [4, ranks // 4], "bandwidth": [100, 50],
                        "latency": [500, 1000]},
            "system": {"scheduling-policy": "LIFO", "endpoint-delay": 1, "active-chunks-per-dimension": 1,
                       "preferred-dataset-splits": 1, "all-reduce-implementation": ["ring", "ring"],
                       "all-gather-implementation": ["ring", "ring"],
                       "reduce-scatter-implementation": ["ring", "ring"],
                       "all-to-all-implementation": ["direct", "direct"],
                       "collective-optimization": "localBWAware"}}))
        done = run("simulate", "--workload-configuration", output / "dev", "--system", system,
                   "--comm-group-configuration", output / "comm_group.json", "--format", "json", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_many_npus_leave_one_trace_and_a_manifest(self):
        output = self.trace("many", ranks=4096)
        self.assertEqual(sorted(p.name for p in output.iterdir()), ["comm_group.json", "dev.0.et", "dev.ranks.json"])
        manifest = json.loads((output / "dev.ranks.json").read_text())
        self.assertEqual(manifest["npus"], 4096)
        [ranks] = manifest["classes"]
        self.assertEqual(ranks["ranks"], list(range(4096)))
        groups = json.loads((output / "comm_group.json").read_text())
        for own in ranks["groups"].values():  # each rank is a member of the group in its place
            self.assertTrue(all(rank in groups[str(group)] for rank, group in enumerate(own)))
        self.assertLess(sum(p.stat().st_size for p in output.iterdir()), 500_000)
        npus = self.simulate(output, 4096)["npus"]
        self.assertEqual(len(npus), 4096)
        self.assertEqual(len({npu["finish"] for npu in npus}), 1)
        check = run("check", output / "dev.ranks.json")
        self.assertIn("traces of 4096 NPUs in 1 classes", check.stdout + check.stderr)

    def test_every_form_gives_the_same_simulation(self):
        for ring in (False, True):
            forms = {words: self.trace(f"{ring}{words}", *words, ranks=16, ring=ring)
                     for words in ((), ("--expand",), ("--rank-classes",))}
            self.assertEqual(len(list(forms[("--rank-classes",)].glob("*.et"))), 1)
            self.assertEqual(len(list(forms[("--expand",)].glob("*.et"))), 16)
            times = [self.simulate(output, 16) for output in forms.values()]
            self.assertEqual(times[0], times[1])
            self.assertEqual(times[0], times[2])
            for rank in range(16):
                names = [forms[words] / f"dev.{rank}.et" for words in ((), ("--expand",))]
                self.assertEqual(names[0].read_bytes(), names[1].read_bytes())

    def test_another_form_replaces_the_first(self):
        output = self.trace("again", ranks=16)
        self.trace("again", "--rank-classes", ranks=16)
        self.assertEqual([p.name for p in output.glob("*.et")], ["dev.0.et"])
        self.trace("again", "--expand", ranks=16)
        self.assertFalse((output / "dev.ranks.json").exists())
        self.assertEqual(len(list(output.glob("*.et"))), 16)

    def test_defects_of_the_manifest_are_told(self):
        output = self.trace("bad", "--rank-classes", ranks=16)
        path = output / "dev.ranks.json"
        good = json.loads(path.read_text())
        first = next(iter(good["classes"][0]["groups"]))

        def broken(change):
            manifest = json.loads(json.dumps(good))
            change(manifest, manifest["classes"][0])
            path.write_text(json.dumps(manifest))
            done = run("simulate", "--workload-configuration", output / "dev", "--system", "A100_SXM_40GB_4GPU_4",
                       "--comm-group-configuration", output / "comm_group.json")
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("error[E0624]", done.stderr)
            return done.stderr
        self.assertIn("NPU 15 stands in no class", broken(lambda m, c: c.update(ranks=c["ranks"][:15], groups={})))
        self.assertIn("it lists 8 NPUs", broken(lambda m, c: m.update(npus=8)))
        self.assertIn("stands in two classes", broken(lambda m, c: c["ranks"].__setitem__(1, 0)))
        self.assertIn("not one number", broken(lambda m, c: c["groups"][first].pop()))
        self.assertIn("in the place of two", broken(
            lambda m, c: c["groups"].update({key: [1] * 16 for key in c["groups"]})))
        self.assertIn("`classes` is no list", broken(lambda m, c: m.update(classes=3)))


if __name__ == "__main__":
    unittest.main()
