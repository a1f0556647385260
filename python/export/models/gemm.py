"""Distributed matmuls C[m,n] = A[m,k] B[k,n] in eight layouts, and sweeps over sizes."""
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

from models.common import Step, abstract

# layout: axes of A, B and C; `grid` needs a mesh of two axes
LAYOUTS = {
    "rows": ((0, None), (None, None), (0, None)),               # no communication
    "columns": ((None, None), (None, 0), (None, 0)),            # no communication
    "k_allreduce": ((None, 0), (0, None), (None, None)),        # partial sums, all of C everywhere
    "k_reducescatter": ((None, 0), (0, None), (0, None)),       # partial sums, C by rows
    "fsdp": ((0, None), (0, None), (0, None)),                  # B gathered
    "gather_out": ((0, None), (None, None), (None, None)),      # C gathered
    "gather_a": ((0, None), (None, 0), (None, 0)),              # A gathered
    "grid": ((0, 1), (0, 1), (0, 1)),                           # two dimensions
}


def gemm(x, y):
    return x @ y


def build(mesh, *, m=4096, n=4096, k=4096, layout="fsdp", dtype="bfloat16"):
    if layout not in LAYOUTS:
        raise ValueError(f"`{layout}` is no layout; they are {', '.join(LAYOUTS)}")
    names = list(mesh.axis_names)
    if layout == "grid" and len(names) < 2:
        raise ValueError("layout grid needs two axes, for example --axes p=2,q=2")
    a, b, c = ([None if at is None else names[at] for at in axes] for axes in LAYOUTS[layout])
    kind = jnp.dtype(dtype)
    return Step(gemm, (abstract(mesh, (m, k), kind, *a), abstract(mesh, (k, n), kind, *b)), results=NamedSharding(mesh, P(*c)))
