"""`hespas plan`: what it refuses before any work, and small plans against exports of the same meshes."""
import gzip
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(os.environ["HESPAS_ROOT"])
HESPAS = pathlib.Path(os.environ["HESPAS_BIN"]) / "hespas"
SMALL = """base_emb_dim: 1024
base_num_query_heads: 8
base_num_kv_heads: 8
head_dim: 128
base_mlp_dim: 4096
base_num_decoder_layers: 8
vocab_size: 32000
hardware: gpu
max_target_length: 1024
"""
PARAMETERS = """import functools
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P


def layer(x, w):
    return x + jax.nn.gelu(x @ w[0]) @ w[1], None


def loss(remat, weights, x):
    body = jax.checkpoint(layer) if remat == "full" else layer
    return jnp.mean(jax.lax.scan(body, x, weights)[0].astype(jnp.float32) ** 2)


def step(remat, microbatches, weights, x):
    parts = x.reshape(-1, microbatches, x.shape[-1]).swapaxes(0, 1)  # each device has rows of all
    gradients = functools.partial(jax.grad(functools.partial(loss, remat)), weights)
    sums, _ = jax.lax.scan(lambda sums, part: (jax.tree.map(jnp.add, sums, gradients(part)), None), jax.tree.map(jnp.zeros_like, weights), parts)
    return jax.tree.map(lambda w, g: w - 1e-3 * g / microbatches, weights, sums)


def build(mesh, remat="none", microbatches=1, layers=4, rows=8192, width=2048):
    def split(shape, *axes):
        return jax.ShapeDtypeStruct(shape, jnp.bfloat16, sharding=NamedSharding(mesh, P(*axes)))
    weights = split((layers, width, 4 * width), None, None, "tensor"), split((layers, 4 * width, width), None, "tensor", None)
    return jax.jit(functools.partial(step, remat, microbatches)), (weights, split((rows, width), "data", None))
"""
MODEL = ("llama2-7b", "--devices", "16", "--device", "H100_80GB")


def plan(*words):
    return subprocess.run([HESPAS, "plan", *map(str, words), "-q"], capture_output=True, text=True, timeout=1200)


class BadInput(unittest.TestCase):
    def refused(self, status, said, *words):
        done = plan(*words)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn("error[E0957]: ", done.stderr)
        self.assertIn(said, done.stderr)

    def test_options(self):
        self.refused(2, "--devices", *MODEL[:1], "--devices", "1", *MODEL[3:])
        self.refused(2, "did you mean `energy`?", *MODEL, "--objective", "enrgy")
        self.refused(2, "`hespas plan --help`", *MODEL, "--nonsense")
        self.refused(2, "--price", *MODEL, "--price", "nan")
        self.refused(2, "did you mean `--global-batch`?", *MODEL, "--globl-batch", "128")

    def test_axes_of_own_programs(self):
        for axes, said in ((",", "--axes names no axis"), ("rows,rows", "axis `rows` is named twice")):
            for program in ("step.py:train", "step.mlir"):
                self.refused(2, said, program, *MODEL[1:], "--axes", axes)
        self.refused(2, "axis `data` is named twice", *MODEL, "--axes", "data,data")
        program = ROOT / "tests/data/whole/llama3-tiny-4dev-raw.mlir.gz"
        self.refused(2, "did you mean `fsdp`?", program, "--devices", "4", "--device", "A100_SXM_40GB", "--axes", "fdsp")

    def test_quantities(self):
        for text in ("memory=0GB", "memory=72", "memory=1.2.3GB", "disk=4GB"):
            self.refused(2, f"`{text}`", *MODEL, "--limit", text)
        for text in ("1.2.3", ".", "4T tokens"):
            self.refused(2, f"`{text}`", *MODEL, "--global-batch", text)


class OwnPrograms(unittest.TestCase):
    PROGRAM = ROOT / "tests/data/whole/llama3-tiny-4dev-raw.mlir.gz"

    def test_rows_are_those_of_shard(self):
        done = plan(self.PROGRAM, "--devices", "4", "--device", "A100_SXM_40GB", "--axes", "fsdp,tensor", "--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = {row["name"]: row for row in json.loads(done.stdout)["best"]}
        shard = subprocess.run([HESPAS, "shard", self.PROGRAM, "--devices", "4", "--axes", "fsdp,tensor", "--device", "A100_SXM_40GB", "--format", "json", "-q"],
                               capture_output=True, text=True, check=True, timeout=600)
        self.assertEqual((set(rows), json.loads(done.stdout)["funnel"]["meshes refused: a dimension does not divide"]), ({"fsdp=4", "fsdp=2,tensor=2"}, 1))  # two heads over tensor=4
        for row in filter(lambda row: row["mesh"] in rows, json.loads(shard.stdout)):
            self.assertEqual((rows[row["mesh"]]["step_time_s"], rows[row["mesh"]]["peak_memory_bytes"]), (row["step_time_s"], row["peak_memory_bytes"]))

    def test_a_function_and_what_does_not_fit(self):
        with tempfile.TemporaryDirectory() as folder:
            step = pathlib.Path(folder) / "step.py"
            step.write_text("import jax.numpy as jnp\n\n\ndef step(x, w):\n    return jnp.tanh(x @ w)\n")
            words = (step, "--devices", "4", "--device", "H100_80GB", "--axes", "rows,columns")
            split = ("--arg", "bf16[4096,4096]@rows,-", "--arg", "bf16[4096,8192]@-,columns")
            done = plan(*words, *split, "--format", "json")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual({row["name"] for row in json.loads(done.stdout)["best"]}, {"rows=4", "columns=4", "rows=2,columns=2"})
            for option in (("--schedule", "gpipe"), ("--remat", "full"), ("--sample", "3")):
                other = plan(*words, *split, *option)
                self.assertEqual((other.returncode, f"{option[0]} is of MaxText's models" in other.stderr), (2, True), other.stderr)
            changed = plan(self.PROGRAM, *words[1:5], "--set", "nonsense=1")
            self.assertEqual((changed.returncode, "--set is of models and functions" in changed.stderr), (2, True), changed.stderr)
            small = plan(*words, *split, "--limit", "memory=1MB")
            self.assertEqual((small.returncode, "nearest is " in small.stderr, "times the memory" in small.stderr), (5, True, True), small.stderr)
            few = plan(*words, "--arg", "bf16[2,4096]@rows,-", *split[2:], "--format", "json")
            self.assertEqual(json.loads(few.stdout)["funnel"], {"meshes refused: a dimension does not divide": 1, "configurations": 2, "estimated": 2})
            odd = plan(*words, "--arg", "bf16[5,4096]@rows,-", "--arg", "bf16[4096,5]@-,columns")
            self.assertEqual((odd.returncode, "5 over rows=4" in odd.stderr or "partitioned 4 times" in odd.stderr), (5, True), odd.stderr)
            nodes = plan(*words, *split, "--system", "H100_80GB 2x2", "--output", folder, "--format", "json")
            names = {row["name"]: row["mesh"] for row in json.loads(nodes.stdout)["best"]}
            self.assertEqual(set(names), {"rows=4,between_nodes=rows:2", "columns=4,between_nodes=columns:2", "rows=2,columns=2,between_nodes=rows:2", "columns=2,rows=2,between_nodes=columns:2"})
            self.assertEqual(names["columns=2,rows=2,between_nodes=columns:2"], {"axis_names": ["columns", "rows"], "shape": [2, 2], "between_nodes": [2, 1], "within_nodes": [1, 2]})
            page = pathlib.Path(folder, "report.html").read_text()
            for part in ("Axes on the levels of the network", "Front: no other needs less of both", "What was left out", "columns=2"):
                self.assertIn(part, page)
            whole = plan(*words, "--arg", "bf16[4096,4096]", "--arg", "bf16[4096,8192]")
            self.assertEqual((whole.returncode, "no axis along which" in whole.stderr), (1, True), whole.stderr)


    def test_parameters_of_a_function(self):
        """Rematerialisation and microbatches of the user's own are configurations; the best ones have XLA's flags, too, and --why compares any."""
        with tempfile.TemporaryDirectory() as folder:
            step = pathlib.Path(folder) / "step.py"
            step.write_text(PARAMETERS)
            words = (step, "--devices", "4", "--device", "H100_80GB", "--axes", "data,tensor", "--set", "remat=none,full", "--set", "microbatches=1,4", "--format", "json")
            output = pathlib.Path(folder) / "output"
            done = plan(*words, "--top", "24", "--why", "data=2,remat=full", "--output", output)
            self.assertEqual(done.returncode, 0, done.stderr)
            answer = json.loads(done.stdout)
            self.assertEqual((answer["funnel"], done.stderr), ({"configurations": 12, "estimated": 12}, ""))
            rows = {row["name"]: row for row in answer["best"]}
            for mesh in ("data=4", "tensor=4", "data=2,tensor=2"):
                kept, again, parts = (rows[f"{mesh},remat={remat},microbatches={count}"] for remat, count in (("none", 1), ("full", 1), ("none", 4)))
                self.assertLess(max(again["peak_memory_bytes"], parts["peak_memory_bytes"]), 0.9 * kept["peak_memory_bytes"])
                self.assertGreater(again["flops_all_devices"], 1.1 * kept["flops_all_devices"])
            flagged = rows["data=4,remat=none,microbatches=1,flags=pipelined"]
            self.assertLess(flagged["step_time_s"], rows["data=4,remat=none,microbatches=1"]["step_time_s"])
            self.assertIn("--xla_gpu_enable_pipelined_all_reduce=true", flagged["xla_flags"])
            self.assertEqual(answer["why"]["were"], {"estimated": 2})
            self.assertLessEqual({"data": "2", "tensor": "2", "remat": "full"}.items(), answer["why"]["settings"].items())
            self.assertGreaterEqual(answer["why"]["step_time_s"], answer["best"][0]["step_time_s"])
            commands = (output / "01.sh").read_text()
            self.assertIn(f"# {answer['best'][0]['name']}\n# JAX:\n#   mesh = jax.make_mesh((4,), ('tensor',))\n# parameters of the function: remat=none microbatches=1\n", commands)
            subprocess.run(["bash", "01.sh"], cwd=output, env={**os.environ, "PATH": f"{HESPAS.parent}:{os.environ['PATH']}"}, check=True, capture_output=True, timeout=600)
            subprocess.run([HESPAS, "export", step, "--axes", "data=2,tensor=2", "--stage", "partitioned", "--set", "remat=full", "--set", "microbatches=4", "--name", "own",
                            "--output", folder], check=True, capture_output=True, timeout=600)
            alone = subprocess.run([HESPAS, "run", f"{folder}/own-4dev.partitioned.mlir", "--device", "H100_80GB", "--format", "json"], check=True, capture_output=True, text=True)
            self.assertEqual(rows["data=2,tensor=2,remat=full,microbatches=4"]["step_time_s"], json.loads(alone.stdout)["step_time_s"])
            late = json.loads(plan(*words, "--evaluations", "1", "--why", "tensor=2,remat=full,microbatches=4").stdout)
            self.assertEqual(late["why"]["were"], {"not visited": 1})
            unknown = plan(*words, "--why", "data=3")
            self.assertEqual((unknown.returncode, "no configuration has data=3" in unknown.stderr), (2, True), unknown.stderr)


class Plans(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        made = tempfile.TemporaryDirectory()
        cls.addClassCleanup(made.cleanup)
        cls.made = pathlib.Path(made.name)  # programs of all plans: many need the same

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)
        self.model = self.folder / "small.yml"
        self.model.write_text(SMALL)

    def planned(self, *words, made=None):
        done = plan(self.model, "--device", "H100_80GB", "--format", "json", "--output", made or self.made, *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        answer = json.loads(done.stdout)
        for row in (*answer["best"], *answer["front"], *filter(None, [answer["why"]])):
            self.hold(row)
        return answer

    def hold(self, row):
        """Bounds of time and memory are below the estimates of all tests here, also bounds from programs and those of what the search would not have looked at."""
        self.assertLessEqual(row["bound_s"], row["step_time_s"], row["name"])
        self.assertLessEqual(row["least_memory_bytes"], row["peak_memory_bytes"], row["name"])

    def export(self, row, devices, batch):
        """The step as `hespas export` makes it for the same mesh."""
        flags = {axis: int(size) for axis, size in row["settings"].items() if axis in ("data", "fsdp", "context", "tensor")}
        own = [f"ici_{axis}_parallelism={size}" for axis, size in flags.items()]
        own += ["dcn_data_parallelism=1", f"remat_policy={row['settings']['remat']}", f"per_device_batch_size={batch / devices / row['microbatches']}",
                f"gradient_accumulation_steps={row['microbatches']}", f"context_parallel_strategy={row['settings'].get('context_parallel_strategy', 'all_gather')}", f"shard_optimizer_over_data={'zero' in row['settings']}", f"shard_gradients_over_data={row['settings'].get('zero') == '2'}"]
        words = [word for each in own for word in ("--set", each)]
        subprocess.run([HESPAS, "export", self.model, "--maxtext", "--target-devices", str(devices), "--stage", "partitioned", "--output", self.folder,
                        "--name", "whole", *words], check=True, capture_output=True, timeout=600)
        done = subprocess.run([HESPAS, "run", self.folder / f"whole-{devices}dev.partitioned.mlir", "--device", "H100_80GB", "--format", "json",
                               *(f"--xla-flag={flag}" for flag in row.get("xla_flags", ()))],
                              check=True, capture_output=True, text=True, timeout=600)
        return json.loads(done.stdout)

    def test_rows_are_the_estimates_of_whole_exports(self):
        """Line by line with one or two microbatches, and so to the picosecond; a loop over more of them within 0.5 %."""
        words = ("--devices", "8", "--global-batch", "256", "--axes", "data,fsdp,tensor", "--remat", "full,none", "--evaluations", "12", "--top", "30")
        every = self.planned(*words)["best"]
        short, long = ([row for row in every if (row["microbatches"] > 2) == more][:5] for more in (False, True))
        self.assertEqual((len(short), len(long)), (5, 5))
        for row in short + long:
            with self.subTest(row["name"]):
                whole = self.export(row, 8, 256)
                if row["microbatches"] <= 2:
                    programs = [gzip.open(each, "rt").read() for each in (self.made / "programs").glob("*.mlir.gz")]
                    self.assertIn((self.folder / "whole-8dev.partitioned.mlir").read_text(), programs)
                places = 0.005 if row["microbatches"] > 2 else 1e-9
                self.assertAlmostEqual(row["step_time_s"], whole["step_time_s"], delta=places * whole["step_time_s"])
                self.assertAlmostEqual(row["peak_memory_bytes"], whole["peak_memory_bytes"], delta=0.005 * whole["peak_memory_bytes"])

    def bounded(self, *words):
        """How close the bounds are."""
        answer = self.planned("--global-batch", "64", "--top", "80", *words)
        self.assertGreater(len(answer["best"]), 11)
        return [row["bound_s"] / row["step_time_s"] for row in answer["best"]]

    def test_bounds_are_below_estimates(self):
        self.assertGreater(max(self.bounded("--devices", "16", "--evaluations", "14")), 0.8)
        self.bounded("--devices", "32", "--evaluations", "12", "--axes", "fsdp,tensor,context,pipeline", "--schedule", "gpipe,interleaved-2,zb-h1,dualpipe")

    def test_bounds_where_the_first_layers_are_others(self):
        """DeepSeek's: dense ones in front of experts."""
        self.model.write_text(SMALL + "first_num_dense_layers: 2\nnum_experts: 8\nnum_experts_per_tok: 2\nbase_moe_mlp_dim: 512\n")
        self.bounded("--devices", "16", "--evaluations", "12", "--remat", "full,none")

    def test_bounds_where_weights_are_quantised(self):
        """By each device its own, if fsdp divides them."""
        self.model.write_text(SMALL + "quantization: fp8\n")
        self.bounded("--devices", "8", "--evaluations", "12", "--axes", "data,fsdp,tensor", "--remat", "full")

    def test_layers_that_are_no_loop(self):
        """A configuration that unrolls them (`scan_layers: false`) does so in all its plans, and bounds hold for these."""
        self.model.write_text(SMALL + "scan_layers: false\n")
        answer = self.planned("--devices", "8", "--global-batch", "64", "--axes", "data,fsdp,tensor", "--remat", "minimal_flash", "--evaluations", "6", "--top", "20")
        first = next(row for row in answer["best"] if row["microbatches"] <= 2)
        self.assertAlmostEqual(first["step_time_s"], self.export(first, 8, 64)["step_time_s"], delta=1e-9)

    def test_stages_that_differ_by_a_layer(self):
        """Six layers in four stages; the longer ones of two layers set the pace."""
        self.model.write_text(SMALL.replace("layers: 8", "layers: 6"))
        answer = self.planned("--devices", "8", "--global-batch", "64", "--evaluations", "6", "--axes", "fsdp,pipeline", "--remat", "full", "--schedule", "1f1b", "--uneven-stages",
                              "--why", "pipeline=4,microbatch=4")
        self.assertEqual(answer["why"]["settings"]["pipeline"], "4")
        self.assertEqual(answer["why"]["microbatches"], 8)
        self.assertAlmostEqual(answer["why"]["bubble"], 1 - 8 * 2 / (6 + 7 * 2), delta=0.03)  # one microbatch through 6 layers, then seven at the pace of 2

    def test_an_axis_between_nodes_is_slower(self):
        """The same mesh with either axis inside a node; with stages the axis inside is left out of what repeats."""
        for devices, stages in ((16, 1), (32, 2)):
            words = ("--devices", devices, "--global-batch", "64", "--axes", "pipeline,data,tensor", "--schedule", "1f1b", "--remat", "full", "--evaluations", "1")
            inside, outside = (self.planned(*words, "--why", f"pipeline={stages},data=8,tensor=2,zero=0,microbatch=4,between_nodes={axis}:2")["why"]["step_time_s"]
                               for axis in ("data", "tensor"))
            self.assertGreater(outside, 1.05 * inside)

    def test_attention_over_the_context_axis_is_all_of_it(self):
        """Devices see different parts of a causal mask; together they compute what one axis of batch computes."""
        self.model.write_text(SMALL.replace("length: 1024", "length: 8192"))

        flops = [self.export({"settings": {axis: "4", "remat": "full", "context_parallel_strategy": strategy}, "microbatches": 1}, 4, 4)["flops"]
                 for axis, strategy in (("context", "all_gather"), ("context", "ring"), ("data", "all_gather"))]
        for each in flops[:2]:
            self.assertAlmostEqual(each / flops[2], 1, delta=0.01)

    def test_why_names_the_difference(self):
        answer = self.planned("--devices", "8", "--global-batch", "32", "--evaluations", "6", "--why", "tensor=8")
        self.assertEqual(answer["why"]["settings"]["tensor"], "8")
        self.assertGreaterEqual(answer["why"]["step_time_s"], answer["best"][0]["step_time_s"])

    def test_why_answers_for_what_was_left_out(self):
        """As it does not fit, or as nobody came to it; the funnel counts each configuration once."""
        words = ("--devices", "8", "--global-batch", "256", "--evaluations", "6", "--limit", "memory=4GB")
        said = set()
        for settings in ("data=8,microbatch=16,remat=none", "context=8,microbatch=16", "tensor=8,microbatch=1"):
            answer = self.planned(*words, "--why", settings)
            said |= set(answer["why"]["were"])
            self.assertIn(f"microbatch={settings.split('microbatch=')[1].split(',')[0]}", answer["why"]["name"])
            of = answer["funnel"]
            counted = sum(number for reason, number in of.items() if reason != "configurations" and not reason.startswith("meshes refused"))
            self.assertEqual(counted, of["configurations"])
        self.assertLessEqual({"what the backward pass needs does not fit", "not visited"}, said)

    def test_why_of_what_there_is_not(self):
        done = plan(self.model, "--device", "H100_80GB", "--devices", "16", "--global-batch", "64", "--why", "tensor=16")
        self.assertEqual(done.returncode, 2)
        self.assertIn("heads of 8 over tensor=16", done.stderr)

    def test_why_of_stages_that_the_network_has_not(self):
        done = plan(self.model, "--device", "A100_SXM_40GB", "--devices", "8", "--system", "A100_SXM_40GB_8GPU", "--global-batch", "8", "--evaluations", "1",
                    "--why", "pipeline=2,data=4,microbatch=1,remat=full")
        self.assertEqual(done.returncode, 5)
        self.assertIn("help: the network cannot be divided by stages; give --system", done.stderr)
        self.assertNotIn("Traceback", done.stderr)

    def test_the_same_twice(self):
        words = ("--devices", "8", "--global-batch", "32", "--evaluations", "6")
        self.assertEqual(self.planned(*words), self.planned(*words, made=self.folder))

    def test_unequal_experts(self):
        """The busiest device multiplies more, and waits longer for what it exchanges."""
        self.model.write_text(SMALL + "num_experts: 8\nnum_experts_per_tok: 2\nbase_moe_mlp_dim: 2048\n")
        words = ("--devices", "8", "--global-batch", "32", "--axes", "expert", "--remat", "full", "--evaluations", "1")
        even, skewed = (self.planned(*words, *more)["best"][0] for more in ((), ("--", "--moe-imbalance", "2")))
        self.assertGreater(skewed["compute_s"], 1.05 * even["compute_s"])
        self.assertGreater(skewed["exposed_s"], 1.05 * even["exposed_s"])

    def test_nothing_fits(self):
        done = plan(self.model, "--device", "H100_80GB", "--devices", "4", "--global-batch", "64", "--limit", "memory=300MB", "--evaluations", "12")
        self.assertEqual(done.returncode, 5)
        self.assertIn("help: take ", done.stderr)

    def test_nothing_divides(self):
        done = plan(self.model, "--device", "H100_80GB", "--devices", "7", "--axes", "tensor", "--global-batch", "64")
        self.assertEqual(done.returncode, 5)
        self.assertIn("a dimension does not divide", done.stderr)


class Truth(unittest.TestCase):
    SUMMARY = re.compile(r"rank correlation ([\d.]+), mean absolute error of time ([\d.]+)%, of memory ([\d.]+)%")

    def test_measured_steps(self):
        """The 43 configurations of Megatron-LM on eight B200, whose memory and recomputation are known."""
        environment = {**os.environ, "HESPAS_COMMAND": str(HESPAS)}
        done = subprocess.run([sys.executable, ROOT / "python/plan/validate_plans.py", "--only", "mbc"], env=environment, capture_output=True, text=True, check=True, timeout=1200)
        found = [[float(each) for each in groups] for groups in self.SUMMARY.findall(done.stdout)]
        self.assertEqual(len(found), 4, done.stdout)
        for correlation, time, memory in found:
            self.assertGreaterEqual(correlation, 0.9)
            self.assertLess(time, 9)
            self.assertLess(memory, 5)

    def test_measured_steps_before_flash_attention(self):
        """Megatron-DeepSpeed on 64 A100 without tensor parallelism, whose kernels are large: 3.9 % (below 3 before row reductions issued faster), of 10 that are asked."""
        environment = {**os.environ, "HESPAS_COMMAND": str(HESPAS)}
        done = subprocess.run([sys.executable, ROOT / "python/plan/validate_plans.py", "--only", "vtrain-3072-32-30-64-tp1-"], env=environment, capture_output=True, text=True, check=True,
                              timeout=1200)
        found = re.search(r"6 rows, rank correlation ([\d.]+), mean absolute error of time ([\d.]+)%", done.stdout)
        self.assertIsNotNone(found, done.stdout)
        self.assertGreaterEqual(float(found[1]), 0.9)
        self.assertLess(float(found[2]), 5)


if __name__ == "__main__":
    unittest.main()
