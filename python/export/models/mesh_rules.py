"""MaxText's mesh: its axes in their order, devices between slices outside those within, and logical axes of arrays on it."""
import math

import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

AXES = ("data", "stage", "fsdp", "fsdp_transpose", "sequence", "context", "context_autoregressive", "tensor", "tensor_transpose",
        "tensor_sequence", "expert", "autoregressive")
# MaxText's logical_axis_rules, as far as these layers name them. Where two names of one array ask for the same axis, the one that stands first gets it: matrices
# of the MLP are divided over fsdp_transpose by their inner dimension.
RULES = {
    "batch": ("data", "fsdp", "fsdp_transpose", "expert"), "batch_without_expert": ("data", "fsdp", "fsdp_transpose"),
    "length": ("sequence", "context"), "heads": ("tensor", "tensor_transpose", "tensor_sequence"), "embed_of_activation": ("tensor",),
    "mlp": ("fsdp_transpose", "tensor", "tensor_transpose", "tensor_sequence"), "mlp_without_fsdp": ("tensor", "tensor_transpose", "tensor_sequence"),
    "vocab": ("tensor", "tensor_transpose", "tensor_sequence"),
    "embed": ("fsdp", "fsdp_transpose", "sequence", "context", "expert"), "embed_of_expert": ("fsdp", "fsdp_transpose", "sequence", "context"), "expert": ("expert",),
}
ORDER = {name: at for at, name in enumerate(RULES)}


def device_order(dcn, ici):
    """Numbers of devices on the mesh: slices one after the other, and on each axis the part between slices outside."""
    outer, inner = [dcn.get(name, 1) for name in AXES], [ici.get(name, 1) for name in AXES]
    numbers = np.arange(math.prod(outer) * math.prod(inner)).reshape(outer + inner)
    interleaved = [at for pair in zip(range(len(AXES)), range(len(AXES), 2 * len(AXES))) for at in pair]
    return numbers.transpose(interleaved).reshape([a * b for a, b in zip(outer, inner)])


def make_mesh(dcn, ici, devices):
    """Axes of one device are left out, as manual regions would sum over them."""
    order = device_order(dcn, ici)
    there = [at for at, size in enumerate(order.shape) if size > 1] or [AXES.index("fsdp")]
    return Mesh(np.array(devices[: order.size], dtype=object)[order].reshape([order.shape[at] for at in there]), [AXES[at] for at in there])


class Split:
    """Puts logical axes on a mesh."""

    def __init__(self, mesh, whole=()):
        self.mesh, self.whole = mesh, whole  # logical axes that are not divided, whatever the rules say

    def axes(self, logical):
        return tuple(name for name in RULES.get(logical, ()) if logical not in self.whole and self.mesh.shape.get(name, 1) > 1)

    def size(self, logical):
        return math.prod(self.mesh.shape[name] for name in self.axes(logical))

    def spec(self, *logical):
        used, found = set(), [None] * len(logical)
        for at in sorted(range(len(logical)), key=lambda at: ORDER.get(logical[at], 0)):
            axes = tuple(name for name in self.axes(logical[at]) if name not in used)
            used.update(axes)
            found[at] = axes[0] if len(axes) == 1 else axes or None
        return P(*found)

    def sharding(self, shape, logical):
        """As `spec`, without axes that do not divide their dimension."""
        found = []
        for size, axes in zip(shape, self.spec(*logical)):
            axes = (axes,) if isinstance(axes, str) else axes or ()
            while axes and size % math.prod(self.mesh.shape[name] for name in axes):
                axes = axes[:-1]
            found.append(axes or None)
        return NamedSharding(self.mesh, P(*found))

    def over_data(self, shape, logical):
        """As `sharding`, and the first dimension that has a name and can be is divided over the data axis, too."""
        spec, data = self.sharding(shape, logical).spec, self.mesh.shape.get("data", 1)
        for at, (size, axes) in enumerate(zip(shape, spec)):
            axes = (axes,) if isinstance(axes, str) else tuple(axes or ())
            if data > 1 and logical[at] and size % (data * math.prod(self.mesh.shape[name] for name in axes)) == 0:
                return NamedSharding(self.mesh, P(*spec[:at], ("data", *axes), *spec[at + 1:]))
        return NamedSharding(self.mesh, spec)

    def __call__(self, x, *logical):
        from jax import lax

        return lax.with_sharding_constraint(x, self.sharding(x.shape, logical))
