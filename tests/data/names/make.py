"""Makes named.mlirbc: what jax.export writes of two layers with named scopes. usage: make.py (with jax 0.7.2)"""
import pathlib

import jax
import jax.numpy as jnp
from jax import export

jax.config.update("jax_traceback_in_locations_limit", 0)  # names without the lines of files


def step(x, w):
    for i in range(2):
        with jax.named_scope(f"layers/{i}"), jax.named_scope("mlp"):
            x = jnp.tanh(x @ w)
    return x


if __name__ == "__main__":
    shapes = jax.ShapeDtypeStruct((512, 512), jnp.float32), jax.ShapeDtypeStruct((512, 512), jnp.float32)
    module = export.export(jax.jit(step), platforms=("cpu",))(*shapes).mlir_module_serialized
    (pathlib.Path(__file__).parent / "named.mlirbc").write_bytes(module)
