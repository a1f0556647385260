"""JAX's objects as programs: jit over 8 pretended devices, shard_map, scan, export."""
import os
import pathlib
import tempfile
import unittest

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax import export, lax  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P  # noqa: E402

import hespas  # noqa: E402
from common import command_json  # noqa: E402

BF16 = jnp.bfloat16
SYSTEM = hespas.System(name="eight", topology="Ring", npus=8, bandwidth="100 GB/s", latency="1 us")


def mesh(name="x"):
    return Mesh(np.array(jax.devices()), (name,))


def described(mesh, shape, *axes):
    return jax.ShapeDtypeStruct(shape, BF16, sharding=NamedSharding(mesh, P(*axes)))


class SymbolicSteps(unittest.TestCase):
    def test_one_program_serves_two_batches(self):
        rows = jax.ShapeDtypeStruct(export.symbolic_shape("b, 8192"), BF16)
        described = [rows, jax.ShapeDtypeStruct((8192, 8192), BF16), rows]  # one name stands for dimensions of several arguments
        device = ["--device", "H100_80GB"]
        with tempfile.TemporaryDirectory() as folder:
            program, table = pathlib.Path(folder, "step.mlir"), pathlib.Path(folder, "steps.csv")
            program.write_text(export.export(jax.jit(lambda x, weights, sums: x @ weights + sums))(*described).mlir_module())
            table.write_text("phase,batch,context,seconds,program,bind\nprefill,1,1,0,,\n" +
                             "".join(f"decode,{batch},1,,{program},b={batch}\n" for batch in (1, 512)))
            for batch in (1, 512):
                step = command_json("run", program, "--bind", f"b={batch}", "--no-report", *device)["step_time_s"]
                served = command_json("serve", "--step-table", table, *device, "--in-process", "--scheduler-steps", 1000000, "--isl", 1,
                                      "--osl", 2, "--concurrency", batch, "--requests", batch, "--max-requests", batch)
                self.assertAlmostEqual(served["tpot_s"]["mean"] / step, 1, delta=0.01)


class OneDevice(unittest.TestCase):
    def test_the_call_of_the_readme(self):
        def step(x, w):
            return jnp.tanh(x @ w).sum()

        lowered = jax.jit(step).lower(jax.ShapeDtypeStruct((256, 512), BF16), jax.ShapeDtypeStruct((512, 128), BF16))
        result = hespas.estimate(lowered)
        self.assertGreaterEqual(result.flops, 2 * 256 * 512 * 128)
        self.assertEqual(hespas.load(lowered).name, "jit_step")
        self.assertEqual(hespas.load(lowered).analyze(expand=True)["stablehlo.dot_general"], 1)

    def test_compiled_programs_are_hlo(self):
        compiled = jax.jit(lambda x: jnp.sin(x) @ x).lower(jax.ShapeDtypeStruct((64, 64), jnp.float32)).compile()
        self.assertGreater(hespas.estimate(compiled).time, 0)

    def test_exported_bytes_and_object_agree(self):
        exported = export.export(jax.jit(lambda x: jnp.exp(x) * 2))(jax.ShapeDtypeStruct((1024,), jnp.float32))
        from_object, from_bytes = hespas.load(exported), hespas.load(exported.mlir_module_serialized)
        self.assertEqual(from_object.text, from_bytes.text)
        self.assertEqual(from_object.analyze()["stablehlo.exponential"], 1)

    def test_scan_over_layers_is_counted_by_its_trips(self):
        def layers(x, weights):
            return lax.scan(lambda h, w: (jnp.tanh(h @ w), None), x, weights)[0]

        def time(count):
            shapes = jax.ShapeDtypeStruct((512, 512), BF16), jax.ShapeDtypeStruct((count, 512, 512), BF16)
            return hespas.estimate(jax.jit(layers).lower(*shapes), estimator="roofline", optimise="none")

        self.assertAlmostEqual(time(12).flops / time(6).flops, 2, places=2)

    def test_functions_must_be_lowered(self):
        for function in (jax.jit(jnp.sin), jnp.sin, lambda x: x):
            with self.assertRaises(hespas.errors.E0951):
                hespas.load(function)
        with self.assertRaises(hespas.errors.E0950):
            hespas.load(jnp.ones(3))


class EightDevices(unittest.TestCase):
    def test_a_sharded_jit_is_partitioned(self):
        m = mesh()
        matmul = jax.jit(lambda a, b: a @ b, out_shardings=NamedSharding(m, P()))
        program = hespas.load(matmul.lower(described(m, (1024, 4096), None, "x"), described(m, (4096, 512), "x", None)))
        histogram = program.analyze(expand=True)
        self.assertEqual(histogram["stablehlo.all_reduce"], 1)
        result = program.run("A100_SXM_40GB", SYSTEM)
        self.assertEqual(result.npus, 8)
        self.assertEqual(result.collectives[0]["op"], "all_reduce")
        # each device multiplies an eighth of the contraction
        self.assertAlmostEqual(result.flops / (2 * 1024 * 4096 * 512 / 8), 1, places=2)

    def test_shard_map_with_explicit_collectives(self):
        m = mesh()

        def body(x, w):
            gathered = lax.all_gather(w, "x", tiled=True)
            y = lax.psum_scatter(x @ gathered, "x", scatter_dimension=1, tiled=True)
            return lax.ppermute(lax.all_to_all(y, "x", 0, 1, tiled=True), "x", [(i, (i + 1) % 8) for i in range(8)])

        mapped = jax.jit(jax.shard_map(body, mesh=m, in_specs=(P("x"), P("x")), out_specs=P("x"), check_vma=False))
        histogram = hespas.load(mapped.lower(described(m, (512, 1024), "x"), described(m, (1024, 512), "x"))).analyze(expand=True)
        for name in ("all_gather", "reduce_scatter", "all_to_all", "collective_permute"):
            self.assertEqual(histogram[f"stablehlo.{name}"], 1, name)

    def test_compiled_and_exported_programs_of_eight(self):
        m = mesh()
        function = jax.jit(lambda a, b: a @ b, out_shardings=NamedSharding(m, P()))
        arguments = described(m, (256, 1024), None, "x"), described(m, (1024, 256), "x", None)
        compiled = hespas.run(function.lower(*arguments).compile(), "A100_SXM_40GB", SYSTEM)
        exported = hespas.run(export.export(function)(*arguments), "A100_SXM_40GB", SYSTEM)
        self.assertEqual(compiled.npus, 8)
        self.assertEqual([c["op"] for c in exported.collectives], ["all_reduce"])

    def test_more_devices_than_there_are(self):
        wide = jax.sharding.AbstractMesh((16,), ("x",))
        function = jax.jit(lambda a: a * 2, in_shardings=NamedSharding(wide, P("x")))
        exported = export.export(function, platforms=["cpu"])(jax.ShapeDtypeStruct((64,), jnp.float32))
        if exported.nr_devices <= 8:
            self.fail(f"the program is for {exported.nr_devices} devices")
        with self.assertRaises(hespas.errors.E0952) as caught:
            hespas.load(exported)
        self.assertIn("xla_force_host_platform_device_count=16", caught.exception.help)


if __name__ == "__main__":
    unittest.main()
