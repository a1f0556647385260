"""Defects of the prototype that show in its commands (P17 to P24, P26, P33, P34): old under --compat prototype, and new."""
import json
import pathlib
import tempfile
import unittest

from command import FIXTURES, ROOT, run

A100 = ROOT / "configs/nodes/A100_SXM_40GB/roofline/config.json"
COMPAT = ("--compat", "prototype")
JAX = FIXTURES / "jax_example.mlir.gz"
CONVOLUTION = FIXTURES / "convolution.mlir.gz"


class OldAndNew(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.output = self.folder / "out"

    def config(self, **keys):
        path = self.folder / "config.json"
        content = json.loads(A100.read_text())
        content["perf_estimator"]["hardware"] |= keys.pop("hardware", {})
        path.write_text(json.dumps(content | keys, indent=1))
        return path

    def generate(self, *words, config=A100, program=JAX, output=None, status=0):
        done = run(config, "--mlir_file", program, "--output", output or self.output, "--num_npus", 4, *words,
                   program="hespas_chakra_gen")
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr

    def statistics(self, folder=None):
        return json.loads(((folder or self.output) / "module_stats.json").read_text())

    def blocks(self):
        lines = (self.output / "dependency_graph.dot").read_text().splitlines()[1:-1]
        return sum("->" not in line for line in lines)

    def test_p17_an_older_graph_in_the_folder_plays_no_part(self):
        """Old: the graph of the run before was used, here for a program of one block. Not repeated under --compat: no
        pickle is read."""
        for words in ((), COMPAT):
            self.generate("--clean", *words, program=CONVOLUTION)
            fresh = self.statistics()["runtime"], self.blocks()
            self.generate("--clean", *words, program=JAX)
            old = self.statistics()["runtime"], self.blocks()
            (self.output / "dependency_graph.pkl").write_bytes(b"\x80\x04cos\nsystem\n(S'false'\ntR.")
            self.generate(*words, program=CONVOLUTION)
            self.assertEqual((self.statistics()["runtime"], self.blocks()), fresh)
            self.assertTrue(old[0] != fresh[0] and old[1] >= 8 > fresh[1])

    def test_p18_a_shared_cache_folder_does_not_change_statistics(self):
        """Old: what other programs left in the folder was added to the sums. Not repeated under --compat, which keeps
        no cache."""
        shared = self.config(cache_dir=str(self.folder / "shared"))
        for words in ((), COMPAT):
            apart = {}
            for program in (JAX, CONVOLUTION):
                self.generate("--clean", *words, program=program)
                apart[program] = self.statistics()["runtime"]
            old = sum(apart.values())
            for program in (JAX, CONVOLUTION, JAX):
                self.generate(*words, config=shared, program=program, output=self.folder / program.name)
                statistics = self.statistics(self.folder / program.name)
                self.assertEqual(statistics["runtime"], apart[program])
                self.assertNotEqual(statistics["runtime"], old)
                parts = (m["runtime"] for m in statistics["per_module"].values())
                self.assertAlmostEqual(sum(parts), apart[program], 15)

    def test_p19_block_numbers_do_not_depend_on_threads(self):
        """Old: threads race for the next number; two blocks may get the same. Not repeated under --compat."""
        for words in ((), COMPAT):
            numbers = []
            for threads in ("0", "1", "8", "-1"):
                self.generate("--clean", "--split_fn", "individual_split", "--threads", threads, *words)
                numbers.append(list(self.statistics()["per_module"]))
            self.assertEqual(numbers, numbers[:1] * 4)
            self.assertEqual(len(set(numbers[0])), self.statistics()["modules_processed"])

    def test_p20_options_beat_the_configuration(self):
        config = self.config(clean=True)
        for words, kept in (((*COMPAT, "--no-clean"), False), (("--no-clean",), True), ((), False)):
            self.output.mkdir(exist_ok=True)
            (self.output / "notes.txt").write_text("mine")
            self.generate(*words, config=config)
            self.assertEqual((self.output / "notes.txt").exists(), kept, words)

    def test_p21_separators_can_be_given(self):
        counts = []
        for words in (COMPAT, ()):
            self.generate("--clean", "--separator", "is_reduce_op", "--separator_policy", "END_BLOCK", *words,
                          program=FIXTURES / "test_no_comm_graph.mlir.gz")
            with_option = self.statistics()["modules_processed"]
            self.generate("--clean", *words, program=FIXTURES / "test_no_comm_graph.mlir.gz")
            counts.append((with_option, self.statistics()["modules_processed"]))
        self.assertEqual(*counts[0])  # old: the option has no effect
        self.assertGreaterEqual(counts[1][0], counts[1][1])

    def test_p22_datasheet_figures(self):
        def rate(datatype, *words):
            done = run("run", JAX, "--print-config", "--format", "csv", *words)
            self.assertEqual(done.returncode, 0, done.stderr)
            rows = [line.split(",") for line in done.stdout.splitlines()]
            return float(next((r[1] for r in rows if r[0] == f"per_datatype_flops.{datatype}"), "0").split()[0])
        for device, datatype, old, new in (("B200_180GB", "bf16", 4500e12, 2250e12), ("B200_180GB", "i32", 0, 75e12),
                                           ("A100_SXM_40GB", "f64", 19.5e12, 9.7e12)):
            self.assertEqual(rate(datatype, "--device", device, *COMPAT), old)
            if datatype == "i32":
                self.assertGreater(rate(datatype, "--device", device), 0)
            else:
                self.assertEqual(rate(datatype, "--device", device), new)
        # The V100's file was no JSON; it is fixed in both editions.
        for words in ((), COMPAT):
            self.generate("--clean", *words, config=ROOT / "configs/nodes/V100_32GB/roofline/config.json")

    def test_p23_the_stand_alone_estimator_and_print_meta_work(self):
        """Old: both stop with a traceback after or before their work."""
        alone = run("--config-file", A100, "--mlir-file", JAX, program="hespas_roofline_estimator")
        self.assertEqual(alone.returncode, 0, alone.stderr)
        self.assertIn("Execution of module completed: ", alone.stdout)
        config = self.config(mlir_file=str(JAX), output_dir=str(self.output))
        split = run(config, "--print_meta", program="hespas_mlir_splitter")
        self.assertEqual(split.returncode, 0, split.stderr)
        self.assertIn("mini_module_0.mlir: COMP_NODE", split.stderr)

    def test_p24_a_rate_of_zero_is_an_error_with_its_line(self):
        """Old: a ZeroDivisionError where an op of that type is met, and no word before."""
        used = self.config(hardware={"per_datatype_flops": {"f32": 0}, "num_npus": 4})
        self.assertRegex(self.generate(*COMPAT, config=used, status=1),
                         r"error\[E0911\]: the rate of `f32` is 0, but `stablehlo\.\w+` needs it")
        self.assertRegex(self.generate(config=used, status=1),
                         r"config\.json:\d+:\d+: error\[E0911\]: `f32` must be a number, at least 1")
        unused = self.config(hardware={"per_datatype_flops": {"f32": 1e13, "f8": 0}, "num_npus": 4})
        self.generate(*COMPAT, config=unused)
        self.assertIn("error[E0911]", self.generate(config=unused, status=1))

    def test_p26_the_return_of_a_block_is_no_operator(self):
        self.generate("--clean", *COMPAT, "--split_fn", "individual_split", program=CONVOLUTION)
        old = self.statistics()
        self.generate("--clean", "--split_fn", "individual_split", program=CONVOLUTION)
        new = self.statistics()
        self.assertTrue(all("func.return" in m["per_op"] for m in old["per_module"].values()))
        self.assertFalse(any("func.return" in m["per_op"] for m in new["per_module"].values()))
        self.assertLess(new["operators_processed"], old["operators_processed"])

    def test_p33_the_analyzer_prints_clean_names_and_csv(self):
        def analyze(*words):
            done = run(JAX, *words, program="hespas_mlir_analyzer")
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout
        self.assertIn("_b'", analyze("-s", *COMPAT))
        self.assertNotIn("_b'", analyze("-s"))
        self.assertIn("MLIR Analysis Results:", analyze("-f", "csv", *COMPAT))
        rows = [line.split(",") for line in analyze("-f", "csv").splitlines() if line]
        self.assertEqual({len(row) for row in rows}, {2})

    def test_p31_ranks_share_files(self):
        split = FIXTURES / "test_split_replica_groups.mlir.gz"

        def files():
            return [(self.output / f"dev.{i}.et").stat() for i in range(4)]
        self.generate("--clean", *COMPAT, program=split)
        self.assertEqual([f.st_nlink for f in files()], [1] * 4)  # old: a file for every device
        self.generate("--clean", program=split)
        self.assertEqual(len({f.st_ino for f in files()}), 2)
        expanded = [(self.output / f"dev.{i}.et").read_bytes() for i in range(4)]
        self.generate("--clean", "--expand", program=split)
        self.assertEqual([f.st_nlink for f in files()], [1] * 4)
        self.assertEqual([(self.output / f"dev.{i}.et").read_bytes() for i in range(4)], expanded)
        self.generate("--clean", "--rank-classes", program=split)
        self.assertEqual([p.name for p in self.output.glob("*.et")], ["dev.0.et"])
        self.assertEqual((self.output / "dev.0.et").read_bytes(), expanded[0])
        manifest = json.loads((self.output / "dev.ranks.json").read_text())
        self.assertEqual([c["ranks"] for c in manifest["classes"]], [[0, 1, 2, 3]])

    def test_p34_errors_have_a_place_and_leave_no_output(self):
        """Old: a traceback, and whatever was written before stays."""
        broken = self.folder / "broken.mlir"
        broken.write_text("module {\n  func.func @main() {\n    %0 = stablehlo.ad %1 : tensor<f32>\n  }\n}\n")
        for words, stays in ((COMPAT, True), ((), False)):
            output = self.folder / f"out{stays}"
            errors = self.generate(*words, program=broken, status=1, output=output)
            self.assertRegex(errors, r"broken\.mlir:3:\d+: error\[E\d+\]")
            self.assertNotIn("Traceback", errors)
            self.assertEqual(output.exists(), stays)
        self.output.mkdir()  # a folder that was there stays, without new files
        self.generate(program=broken, status=1)
        self.assertEqual([p.name for p in self.output.iterdir() if p.name != "cache"], [])


if __name__ == "__main__":
    unittest.main()
