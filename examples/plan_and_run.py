"""Plans a small model for eight GPUs, and runs a step with the plan's mesh on eight pretended CPU devices.

    XLA_FLAGS=--xla_force_host_platform_device_count=8 JAX_PLATFORMS=cpu python examples/plan_and_run.py
"""
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

import hespas

SMALL = {"base_num_decoder_layers": 4, "base_emb_dim": 512, "base_mlp_dim": 1024, "base_num_query_heads": 4, "base_num_kv_heads": 4, "vocab_size": 1024,
         "max_target_length": 512}


def main():
    plan = hespas.plan("llama2-7b", "H100_80GB", 8, global_batch=32, axes=("data", "tensor"), evaluations=6, settings=SMALL)
    best = plan[0]
    print(best, best.mesh)
    rows = tuple(axis for axis in best.mesh.axis_names if axis == "data") or None
    columns = "tensor" if "tensor" in best.mesh.axis_names else None
    x = jax.device_put(jnp.ones((32, 512)), NamedSharding(best.mesh, P(rows, None)))
    w = jax.device_put(jnp.ones((512, 1024)), NamedSharding(best.mesh, P(None, columns)))
    step = jax.jit(lambda x, w: jnp.sum(jnp.tanh(x @ w))).lower(x, w).compile(compiler_options=best.compiler_options)
    print(f"{step(x, w)} ran on {best.mesh.size} devices")


if __name__ == "__main__":
    main()
