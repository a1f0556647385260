"""Plans a small model and a jitted function for eight GPUs, and runs steps with the plans' meshes on eight pretended CPU devices.

    XLA_FLAGS=--xla_force_host_platform_device_count=8 JAX_PLATFORMS=cpu python examples/plan_and_run.py
"""
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

import hespas

SMALL = {"base_num_decoder_layers": 4, "base_emb_dim": 512, "base_mlp_dim": 1024, "base_num_query_heads": 4, "base_num_kv_heads": 4, "vocab_size": 1024,
         "max_target_length": 512}


@jax.jit
def step(x, w):
    return jnp.sum(jnp.tanh(x @ w))


def of_a_model():
    plan = hespas.plan("llama2-7b", "H100_80GB", 8, global_batch=32, axes=("data", "tensor"), evaluations=6, settings=SMALL)
    best = plan[0]
    print(best, best.mesh)
    rows = tuple(axis for axis in best.mesh.axis_names if axis == "data") or None
    columns = "tensor" if "tensor" in best.mesh.axis_names else None
    x = jax.device_put(jnp.ones((32, 512)), NamedSharding(best.mesh, P(rows, None)))
    w = jax.device_put(jnp.ones((512, 1024)), NamedSharding(best.mesh, P(None, columns)))
    compiled = step.lower(x, w).compile(compiler_options=best.compiler_options)
    print(f"{compiled(x, w)} ran on {best.mesh.size} devices")


def of_a_function():
    """Its arguments lie on a mesh, whose axes the plan divides the devices among."""
    mesh = jax.make_mesh((4, 2), ("data", "tensor"))
    shapes = {(4096, 4096): P("data", None), (4096, 8192): P(None, "tensor")}
    arguments = [jax.ShapeDtypeStruct(shape, jnp.bfloat16, sharding=NamedSharding(mesh, place)) for shape, place in shapes.items()]
    best = hespas.plan(step, "H100_80GB", 8, arguments=arguments)[0]
    print(best, best.mesh)
    on = [jax.device_put(jnp.ones(shape, jnp.bfloat16), NamedSharding(best.mesh, P(*(axis if axis in best.mesh.axis_names else None for axis in place))))
          for shape, place in shapes.items()]
    print(f"{step(*on)} of a function ran on {best.mesh.size} devices")


def main():
    of_a_model()
    of_a_function()


if __name__ == "__main__":
    main()
