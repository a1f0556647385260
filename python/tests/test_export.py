"""`hespas export`: ready configurations and users' files, without accelerators. XLA's GPU compiler comes from PyPI (a large download)."""
import hashlib
import json
import math
import os
import pathlib
import tempfile
import textwrap
import unittest

import hespas
from common import EXAMPLE, ROOT, command, command_json

USER_FILE = """
    import jax, jax.numpy as jnp
    from jax.sharding import NamedSharding, PartitionSpec as P

    def step(x, w):
        return jnp.tanh(x @ w).sum()

    def arguments(mesh, width=512):
        sharding = lambda *axes: NamedSharding(mesh, P(*axes))
        return (jax.ShapeDtypeStruct((1024, width), jnp.bfloat16, sharding=sharding("fsdp")),
                jax.ShapeDtypeStruct((width, 256), jnp.bfloat16, sharding=sharding("fsdp")))

    def square(x):
        return x * x
"""


class Export(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.place.name)
        self.file = self.folder / "mine.py"
        self.file.write_text(textwrap.dedent(USER_FILE))
        self.addCleanup(self.place.cleanup)

    def export(self, *arguments, status=0):
        done = command("export", *arguments, "--output", self.folder / "out")
        self.assertEqual(done.returncode, status, done.stderr)
        self.errors = done.stderr
        return {path.name: path for path in map(pathlib.Path, done.stdout.split())}


class Files(Export):
    def test_a_function_with_its_arguments(self):
        made = self.export(self.file, "--devices", 4, "--axes", "fsdp=4")
        self.assertEqual(sorted(made), ["mine-4dev.lowered.mlir", "mine-4dev.partitioned.mlir"])
        histogram = hespas.analyze(made["mine-4dev.partitioned.mlir"], expand=True)
        self.assertEqual(histogram["stablehlo.all_gather"], 1)
        self.assertIn("sdy.mesh", made["mine-4dev.lowered.mlir"].read_text())
        self.assertEqual(hespas.run(made["mine-4dev.partitioned.mlir"], "A100_SXM_40GB").npus, 4)

    def test_each_file_is_described(self):
        made = self.export(self.file, "--axes", "fsdp=2", "--set", "width=256,1024")
        self.assertEqual(len(made), 4)
        for path in made.values():
            about = json.loads(pathlib.Path(f"{path}.json").read_text())
            self.assertEqual(about["sha256"], hashlib.sha256(path.read_bytes()).hexdigest())
            self.assertEqual((about["mesh"], about["devices"]), ({"fsdp": 2}, 2))
            self.assertEqual(about["versions"]["jax"], "0.7.2")
            self.assertIn(about["source"]["parameters"]["width"], (256, 1024))

    def test_arguments_on_the_command_line(self):
        made = self.export(f"{self.file}:square", "--axes", "a=2,b=2", "--arg", "f32[64,128]@a,b")
        text = made["mine-square-4dev.partitioned.mlir"].read_text()
        self.assertIn("tensor<32x64xf32>", text)

    def test_names_survive_and_folders_do_not(self):
        made = self.export(self.file, "--axes", "fsdp=4")
        for path in made.values():
            text = path.read_text()
            self.assertIn('loc("', text)
            self.assertNotIn(str(self.folder), text)
            self.assertNotRegex(text, r'"[^"\n]*/[^"/\n]*":\d+:\d+')
        self.assertRegex(text, r'"mine\.py":\d+')
        made = self.export("llama3-tiny", "--set", "sequence=128", "--stage", "partitioned")
        (path,) = made.values()
        answer = command_json("run", path, "--device", "H100_80GB")
        layers = {row["name"] for row in answer["where_time_goes"]["by_layer"]}
        self.assertLessEqual({"layers/0", "layers/1"}, layers)
        self.assertTrue([row for row in answer["kernels"] if row["name"].startswith("layers/*/mlp ")], answer["kernels"])

    def test_what_is_exported_is_read(self):
        """Constants and replica groups of any size: MLIR and XLA elide long ones where they are not told otherwise."""
        self.file.write_text(textwrap.dedent("""
            import jax.numpy as jnp, numpy as np

            def step(x, w):
                return (x @ w + jnp.asarray(np.arange(4096, dtype=np.float32) * 0.5)).sum()
        """))
        for devices in (1, 2, 64, 128, 256, 1024):
            with self.subTest(devices):
                made = self.export(self.file, "--axes", f"d={devices}", "--arg", "f32[2048,1024]@d", "--arg", "f32[1024,4096]@-,-")
                self.assertEqual(len(made), 2)
                for path in made.values():
                    done = command("check", path)
                    self.assertEqual((done.returncode, "error[" in done.stderr), (0, False), done.stderr)
                    text = path.read_text()
                    self.assertNotIn("elided", text)
                    self.assertIn("0000003F", text)  # 0.5 of the constant, as MLIR writes it
                answer = command_json("analyze", next(path for name, path in made.items() if "partitioned" in name))
                self.assertTrue(answer)

    def test_a_maxtext_configuration_for_many_devices(self):
        """Kernels of the named hardware, gathers over all devices of the sharded axis, and no MaxText."""
        common = textwrap.dedent("""
            base_config: base.yml
            base_emb_dim: 512
            base_num_query_heads: 4
            base_num_kv_heads: 2
            base_mlp_dim: 1024
            base_num_decoder_layers: 4
            vocab_size: 1024
            max_target_length: 1024
            per_device_batch_size: 1
            remat_policy: custom
            query_proj: offload
            dcn_data_parallelism: 2
            ici_fsdp_parallelism: 32
        """)
        kernels = {"gpu": ("cudnn_flash_te", "__cudnn$fmhaSoftmaxBackward"), "tpu": ("flash", "splash_mha_dkv")}
        for hardware, (attention, kernel) in kernels.items():
            for quantisation in ("", "int8", "fp8"):
                path = self.folder / "mine.yml"
                path.write_text(f"{common}hardware: {hardware}\nattention: {attention}\nquantization: '{quantisation}'\n")
                (made,) = self.export(path, "--maxtext", "--target-devices", "64", "--stage", "partitioned").values()
                text = made.read_text()
                self.assertIn(kernel, text)
                self.assertIn("@MoveToHost", text)
                self.assertIn("num_partitions = 64", text)
                device = {"gpu": "H100_80GB", "tpu": "TPUv6e"}[hardware]
                self.assertGreater(command_json("run", made, "--device", device)["communication_time_s"], 0)
        done = command("export", path, "--maxtext", "--target-devices", "48", "--output", self.folder)
        self.assertEqual((done.returncode, "48" in done.stderr), (5, True), done.stderr)

    def test_llama_2_has_its_own_vocabulary(self):
        (path,) = self.export("llama2-7b", "--set", "sequence=64", "--stage", "lowered", "--set", "scan=1").values()
        text = path.read_text()
        self.assertRegex(text, "[<x]32000x")
        self.assertNotIn("128256", text)

    def test_mistakes(self):
        cases = (([self.folder / "none.py"], 1, "no file"), ([f"{self.file}:nothing"], 5, "no function"), (["llama3-100mm"], 2, "--list"),
                 ([self.file, "--axes", "fsdp=4", "--devices", 3], 2, "axes have 4"), ([self.file, "--axes", "fsdp"], 2, "NAME=SIZE"),
                 ([f"{self.file}:square"], 5, "axis: fsdp"), ([f"{self.file}:square", "--arg", "f32(3)"], 5, "f32(3)"),
                 ([f"{self.file}:square", "--arg", "f32[8]@c"], 5, "no axis `c`"), ([self.file, "--target", "H900"], 1, "H900"),
                 ([self.file, "--target", "MI300X"], 1, "NVIDIA"), (["llama3-8b-decode", "--devices", 5], 5, "5 tensor ranks"),
                 (["llama3-8b-decode", "--set", "weights=fp9"], 5, "fp9"), ([self.folder / "config.json"], 5, "No such file"),
                 ([self.file, "--target", "TPUv3", "--synchronous"], 2, "XLA's GPU compiler"), ([self.folder / "c.yml"], 2, "--maxtext"),
                 (["gemm", "--maxtext"], 2, "no model of MaxText"), ([self.folder / "c.yml", "--maxtext"], 1, "no file"))
        for arguments, status, word in cases:
            with self.subTest(arguments):
                self.export(*arguments, status=status)
                self.assertIn("error[E0957]", self.errors)
                self.assertIn(word, self.errors)


class Ready(Export):
    """Collectives and matmuls of each, as the method says they must be."""

    CASES = {
        ("gemm", "--set", "layout=k_allreduce"): {"all_reduce": 1},
        ("gemm", "--set", "layout=gather_out"): {"all_gather": 1},
        ("gemm", "--set", "layout=rows"): {},
        ("gemm", "--axes", "p=2,q=2", "--set", "layout=grid"): {"all_gather": 2},
        ("bert-base", "--set", "batch=4", "--set", "sequence=64", "--set", "predictions=8"): {"all_reduce": 9},
        ("moe-capacity", "--set", "tokens=1024"): {"all_to_all": 3},
        ("moe-ragged", "--set", "tokens=1024"): {"all_reduce": 1},
        ("gpt-prefill", "--set", "layers=2", "--set", "batch=2"): {"all_reduce": 4},
        ("gpt-decode", "--set", "layers=2", "--set", "context=256"): {"all_reduce": 4},
        # embedding, two a layer; logits
        ("llama3-8b-decode", "--devices", "4", "--set", "layers=2"): {"all_reduce": 5, "all_gather": 1},
        ("mixtral-8x7b-mixed", "--devices", "2", "--set", "layers=2"): {"all_reduce": 5, "all_gather": 1},
        # 8 microbatches and 4 stages: 11 ticks, each passes on; and back again
        ("pipeline-gpipe", "--set", "rows=64", "--set", "width=128"): {"collective_permute": 20},
        ("pipeline-1f1b", "--set", "rows=64", "--set", "width=128"): {"collective_permute": 20},
        # two chunks: 19 ticks
        ("pipeline-interleaved", "--set", "rows=64", "--set", "width=128"): {"collective_permute": 36},
    }

    def test_collectives(self):
        kinds = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "collective_permute")
        for arguments, wanted in self.CASES.items():
            with self.subTest(arguments):
                made = self.export(*arguments, "--stage", "partitioned")
                histogram = hespas.analyze(next(iter(made.values())), expand=True)
                found = {kind: histogram[f"stablehlo.{kind}"] for kind in kinds if histogram[f"stablehlo.{kind}"]}
                for kind, count in wanted.items():
                    self.assertGreaterEqual(found.get(kind, 0), count, found)
                if not wanted:
                    self.assertEqual(found, {})

    def test_steps_of_servers(self):
        """Each family lowers; a decode step takes what `hespas serve` prices, kernel by kernel, and writes its caches in place."""
        for program, settings in (("llama3-8b-prefill", ["weights=fp8"]), ("qwen3-30b-a3b-decode", []), ("gpt-oss-20b-mixed", ["weights=int4"]),
                                  ("gemma3-27b-decode", []), ("qwen2-7b-mixed", []), (ROOT / "examples/serving/config.json", ["phase=decode"])):
            with self.subTest(program):
                words = [word for each in ["layers=2", *settings] for word in ("--set", each)]
                (path,) = self.export(program, *words, "--stage", "lowered").values()
                self.assertIn("__cudnn$fmhaSoftmax", path.read_text())
        (path,) = self.export("llama3-8b-decode", "--set", "batch=64", "--set", "context=1280", "--stage", "lowered").values()
        step = command_json("run", path, "--device", "H100_80GB")["step_time_s"]
        served = command_json("serve", "llama3-8b", "--device", "H100_80GB", "--isl", 1216, "--osl", 128, "--concurrency", 64, "--requests", 64)
        self.assertLess(abs(step / served["step"]["decode_s"] - 1), 0.1)
        bound = (7.505e9 * 2 + 64 * 1280 * 131072) / 3.35e12  # weights and caches once
        self.assertLess(bound, step)
        self.assertLess(step, 1.5 * bound)

    def test_steps_with_block_scaled_weights(self):
        """4-bit floats with a scale for 16 of them: XLA's custom call on both operands, and what `hespas serve` prices."""
        words = [word for each in ("weights=nvfp4", "batch=64", "context=1280") for word in ("--set", each)]
        (path,) = self.export("llama3-8b-decode", *words, "--stage", "lowered").values()
        text = path.read_text()
        self.assertIn("@__op$block_scaled_dot", text)
        self.assertIn("tensor<6144x4096xf4E2M1FN>", text)  # queries, keys and values by their columns
        self.assertIn("tensor<6144x256xf8E4M3FN>", text)
        step = command_json("run", path, "--device", "B200_180GB")["step_time_s"]
        load = ["--isl", 1216, "--osl", 128, "--concurrency", 64, "--requests", 64]
        served = command_json("serve", "llama3-8b", "--device", "B200_180GB", "--weights", "nvfp4", "--kv", "bf16", *load)
        # 7 % longer: XLA's attention takes 1.76 ms, the engine's 1.61, and XLA rotates, writes caches and scales activations by more kernels.
        self.assertLess(abs(step / served["step"]["decode_s"] - 1), 0.1)
        refused = command("export", "gpt-oss-20b-decode", "--set", "weights=nvfp4", "--output", self.folder)
        self.assertIn("without experts", refused.stderr)

    def test_steps_with_latent_vectors(self):
        """DeepSeek-V3: prompts expand the vectors, and a decode step of four dense layers takes what `hespas serve` prices, whose cache is read once.

        Experts stand apart: `serve` loads them by a power law, a program says nothing of it.
        """
        config = json.loads((ROOT / "data/serving/models.json").read_text())["models"]["deepseek-v3"]
        config = {key: value for key, value in config.items() if key not in ("source", "quantization_config")}
        config |= {"num_hidden_layers": 4, "first_k_dense_replace": 4}
        path = self.folder / "latent.json"
        path.write_text(json.dumps(config))
        (prompt,) = self.export("deepseek-v3-prefill", "--devices", 4, "--set", "layers=1", "--stage", "lowered").values()
        self.assertIn("tensor<1x1024x32x192xbf16>", prompt.read_text())  # heads of a rank, by nope and rope
        for context in (2048, 8192):
            words = [word for each in ("phase=decode", "batch=64", f"context={context}") for word in ("--set", each)]
            (decode,) = self.export(path, *words, "--stage", "lowered").values()
            step = command_json("run", decode, "--device", "B200_180GB")["step_time_s"]
            load = ["--isl", context - 64, "--osl", 128, "--concurrency", 64, "--requests", 64, "--max-batched-tokens", 64 * context]
            served = command_json("serve", path, "--device", "B200_180GB", *load)
            self.assertLess(abs(step / served["step"]["decode_s"] - 1), 0.1)

    def test_programs_of_stages_have_the_textbooks_bubble(self):
        """With free transfers; each task is one block (linear split), so that nothing leaves before its end. Without CUDA graphs, which differ by stage."""
        free = ROOT / "tests/whole/free_transfers.json"
        for schedule, chunks in (("gpipe", 1), ("1f1b", 1), ("interleaved", 2)):
            with self.subTest(schedule):
                made = self.export(f"pipeline-{schedule}-mpmd", "--set", "rows=64", "--set", "width=128", "--stage", "lowered")
                self.assertEqual(len(made), 4)
                result = command_json("run", *sorted(made.values()), "--device", "A100_SXM_40GB", "--system", free, "--network-model", "plain", "--split", "linear",
                                      "--xla-flag=--xla_gpu_enable_command_buffer=")
                work = chunks * 8
                self.assertGreater(result["compute_time_ps"], 0)
                self.assertEqual(result["compute_time_ps"] * (work + 3), result["step_time_ps"] * work)

    def test_llama_does_what_maxtext_does(self):
        """The tutorial's program, MaxText's, partitioned for 4 devices: what decides the step time is equal."""
        ours = hespas.analyze(self.export("llama3-100m", "--stage", "partitioned")["llama3-100m-4dev.partitioned.mlir"])
        theirs = hespas.analyze(EXAMPLE)
        for kind in ("all_reduce", "all_gather", "dot_general"):
            self.assertEqual(ours[f"stablehlo.{kind}"], theirs[f"stablehlo.{kind}"], kind)
        self.assertEqual((theirs["stablehlo.all_reduce"], theirs["stablehlo.all_gather"], theirs["stablehlo.dot_general"]), (272, 100, 208))

        def sent(profile):
            return sorted((each["op"], each["bytes"], each["executed"], each["groups"]) for each in profile["collectives"])

        self.assertEqual(sent(ours.profile), sent(theirs.profile))

    def test_resnets(self):
        for depth in (18, 50):
            made = self.export(f"resnet{depth}", "--set", "batch=32", "--set", "image=64", "--stage", "lowered")
            histogram = hespas.analyze(next(iter(made.values())), expand=True)
            # forward, and backward to weights and inputs (none to the images)
            layers = {18: 20, 50: 53}[depth]
            self.assertEqual(histogram["stablehlo.convolution"], 3 * layers - 1)


class Gpus(Export):
    def test_llama_has_the_tutorials_histogram(self):
        """Within 5 % a kind, as the tutorial prints it (MaxText)."""
        made = self.export("llama3-100m", "--stage", "lowered", "--target", "A100_SXM_40GB", "--synchronous")
        histogram = hespas.analyze(made["llama3-100m-4dev.A100_SXM_40GB.partitioned.hlo"])
        tutorial = {"multiply": 1120, "add": 778, "convert": 607, "reduce": 311, "broadcast_in_dim": 276, "all_reduce": 272,
                    "dot_general": 208, "all_gather": 100}
        for kind, count in tutorial.items():
            self.assertLessEqual(abs(histogram[f"stablehlo.{kind}"] - count), 0.05 * count, kind)
        self.assertLessEqual(abs(histogram.total_ops - 5124), 0.05 * 5124)

    def test_xla_optimises_for_described_gpus(self):
        small = [word for name in "mnk" for word in ("--set", f"{name}=1024")]
        devices = ("A100_SXM_40GB", "H100_80GB", "H200_141GB", "B200_180GB")
        targets = [word for device in devices for word in ("--target", device)]
        made = self.export("gemm", *small, "--set", "layout=k_allreduce", *targets)
        for device in devices:
            path = made[f"gemm-4dev.{device}.optimised.hlo"]
            histogram = hespas.analyze(path, expand=True)
            self.assertGreaterEqual(histogram.total_ops, 3)
            about = json.loads(pathlib.Path(f"{path}.json").read_text())
            self.assertEqual((about["target"], about["worker"]["jax"]), (device, "0.7.2"))
            self.assertTrue(about["guessed"])
            self.assertGreater(hespas.run(path, device, network_backend="none").step_time, 0)


class Tpus(Export):
    def test_libtpu_optimises_without_a_tpu(self):
        small = [word for name in "mnk" for word in ("--set", f"{name}=1024")]
        devices = {"TPUv3": "v3:2x1", "TPUv4": "v4:2x2x1", "TPUv5e": "v5e:2x2", "TPUv5p": "v5p:2x2x1", "TPUv6e": "v6e:2x2"}
        made = self.export("gemm", *small, "--set", "layout=k_allreduce", *(word for device in devices for word in ("--target", device)))
        for device, topology in devices.items():
            path = made[f"gemm-4dev.{device}.optimised.hlo"]
            about = json.loads(pathlib.Path(f"{path}.json").read_text())
            self.assertEqual((about["target"], about["topology"]["topology_name"]), (device, topology))
            self.assertEqual(hespas.analyze(path)["stablehlo.all_reduce"], 1)
            self.assertGreater(hespas.run(path, device, network_backend="none").step_time, 2 * 1024**3 / 4 / 1e15)

    def test_slices_have_the_devices(self):
        for devices in (1, 2, 3, 8, 12):
            made = self.export("gemm", "--devices", devices, "--set", "layout=rows", "--set", "m=1536", "--target", "TPUv5p")
            about = json.loads(pathlib.Path(f"{made[f'gemm-{devices}dev.TPUv5p.optimised.hlo']}.json").read_text())
            grid = about["topology"]["topology_name"].split(":")[1].split("x")
            self.assertEqual((about["partitions"], math.prod(map(int, grid)), len(grid)), (devices, devices, 3))


if __name__ == "__main__":
    os.environ.pop("XLA_FLAGS", None)
    unittest.main()
