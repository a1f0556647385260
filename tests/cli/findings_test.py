"""`hespas check` says what a run would have to assume; `run` says when a program is another platform's; rubbish is one error."""
import pathlib
import re
import tempfile
import unittest

from command import run

FOLDER = pathlib.Path(tempfile.mkdtemp())


def file(name, content):
    path = FOLDER / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def main(body, arguments="%x: tensor<64x64xf32>", result="tensor<64x64xf32>", attributes=""):
    return f"module {attributes}{{\nfunc.func @main({arguments}) -> {result} {{\n{body}\n}}\n}}\n"


def call(target):
    return main(f'%0 = stablehlo.custom_call @{target}(%x) : (tensor<64x64xf32>) -> tensor<64x64xf32>\nreturn %0 : tensor<64x64xf32>')


def loop(test, tested="%i", attributes=""):
    """Runs while `tested`, which the ops `test` compute from %i, is below one: nobody knows how often."""
    return main(f"""%one = stablehlo.constant dense<1.0> : tensor<f32>
%0 = stablehlo.while(%i = %x) : tensor<f32> cond {{
  {test}
  %p = stablehlo.compare LT, {tested}, %one : (tensor<f32>, tensor<f32>) -> tensor<i1>
  stablehlo.return %p : tensor<i1>
}} do {{
  %n = stablehlo.tanh %i : tensor<f32>
  stablehlo.return %n : tensor<f32>
}}
return %0 : tensor<f32>""", "%x: tensor<f32>", "tensor<f32>", attributes)


class CheckTest(unittest.TestCase):
    def check(self, text, code, *words):
        done = run("check", file("program.mlir", text))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(re.findall(r"warning\[(\w+)\]", done.stderr), [code] if code else [], done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        return done.stdout

    def test_unknown_kernels(self):
        self.check(call("my_kernel"), "W0511", "my_kernel", "--cost my_kernel=flops:")

    def test_shardings_that_nobody_applied(self):
        self.check(main("return %x : tensor<64x64xf32>", arguments='%x: tensor<64x64xf32> {mhlo.sharding = "{devices=[8,1]<=[8]}"}',
                        attributes="attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} "), "W0933", "hespas export")

    def test_dynamic_dimensions(self):
        self.check(main("%0 = stablehlo.tanh %x : tensor<?x64xf32>\nreturn %0 : tensor<?x64xf32>", "%x: tensor<?x64xf32>", "tensor<?x64xf32>"),
                   "W0512", "argument 0", "--bind")

    def test_loops_of_unknown_length(self):
        self.check(loop(""), "W0514", "--trip-count")

    def test_a_plain_program_has_no_findings(self):
        self.check(main("%0 = stablehlo.tanh %x : tensor<64x64xf32>\nreturn %0 : tensor<64x64xf32>"), None)

    def test_the_platform_is_told(self):
        self.assertIn("lowered for TPU", self.check(call("tpu_custom_call"), "W0511"))


class PlatformTest(unittest.TestCase):
    def warned(self, target, device):
        done = run("run", file("call.mlir", call(target)), "--device", device)
        self.assertEqual(done.returncode, 0, done.stderr)
        return "W0932" in done.stderr

    def test_kernels_of_another_platform(self):
        rows = {"tpu_custom_call": "TPUv5p", "lapack_sgesdd_ffi": "EPYC_core", "cusolver_getrf_ffi": "H100_80GB", "hipsolver_potrf_ffi": "MI300X",
                "__cublas$gemm": "H100_80GB MI300X", "my_kernel": "TPUv5p EPYC_core H100_80GB MI300X"}
        for target, own in rows.items():
            quoted = f'"{target}"' if "$" in target else target
            for device in ("TPUv5p", "H100_80GB", "MI300X", "EPYC_core"):
                with self.subTest(target=target, device=device):
                    self.assertEqual(self.warned(quoted, device), device not in own.split())

    def test_the_remedy_names_the_platform(self):
        done = run("run", file("call.mlir", call("tpu_custom_call")), "--device", "H100_80GB")
        self.assertIn('lowering_platforms=("cuda",)', done.stderr)

    def test_tiled_layouts_are_of_tpus(self):
        text = """HloModule m
ENTRY %main (x: f32[64,64]) -> f32[64,64] {
  %x = f32[64,64]{1,0:T(8,128)} parameter(0)
  ROOT %r = f32[64,64]{1,0:T(8,128)} tanh(%x)
}
"""
        self.assertIn("W0932", run("run", file("tiled.hlo", text), "--device", "H100_80GB").stderr)
        self.assertNotIn("W0932", run("run", file("tiled.hlo", text), "--device", "TPUv5p").stderr)


class HiddenCollectiveTest(unittest.TestCase):
    SUM = """%s = "stablehlo.all_reduce"(%i) <{replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<f32>) -> tensor<f32>"""

    def test_one_in_a_condition_is_told_whether_it_is_split_into_start_and_done_or_not(self):
        text = loop(self.SUM, "%s", "attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 4 : i32} ")
        for optimise in ("auto", "none"):
            with self.subTest(optimise=optimise):
                done = run("run", file("condition.mlir", text), "--device", "A100_SXM_40GB", "--system", "A100_SXM_40GB_4GPU", "--optimise", optimise)
                self.assertIn("W0502]: 1 collective inside", done.stderr)


class RubbishTest(unittest.TestCase):
    def test_is_one_error(self):
        rubbish = ["hello world\nthis is rubbish\n foo = bar ( baz\n{{{\n", "#include <stdio.h>\nint main() { return 0; }\n",
                   "# A page\n\nSome *prose*: with (brackets\n- and items }\n", "import jax\n\ndef f(x):\n    return x + 1\n", "<html>\n<body>&amp;</body>\n",
                   "module docs here\nmore text\nand more\n", "e.g. this\nwww.example.org is a page\nand so on\n", '"quoted"\n"more"\n', "% a comment\n% b\n",
                   "}}}\n)))\n", "1,2,3\n4,5,6\n"]
        for text in rubbish:
            with self.subTest(text):
                done = run("check", file("rubbish.txt", text))
                self.assertEqual(done.returncode, 1)
                self.assertEqual(done.stderr.count("error["), 1, done.stderr)
                self.assertTrue("E0112" not in done.stderr or "help:" in done.stderr, done.stderr)

    def test_a_serialised_export_names_the_way_out(self):
        done = run("check", file("exported.bin", b"<\x00\x00\x00\x38\x00d\x00" + bytes(64) + b"ML\xefR\x0dStableHLO_v1.12.0\x00" + bytes(64)))
        self.assertIn("E0112", done.stderr)
        self.assertIn("exported.mlir_module_serialized", done.stderr)

    def test_another_number_of_devices_recommends_retarget(self):
        from command import LLAMA
        done = run("run", LLAMA, "--device", "H100_80GB", "--system", "H100_80GB_8GPU")
        self.assertIn("E0906", done.stderr)
        self.assertIn("--retarget 8", done.stderr)
        self.assertNotIn("--num-npus", done.stderr)


if __name__ == "__main__":
    unittest.main()
