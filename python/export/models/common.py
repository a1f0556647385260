"""What ready configurations share: a step, its abstract arguments with their shardings, and how to jit it."""
import dataclasses
from typing import Any, Callable

import jax
from jax.sharding import NamedSharding, PartitionSpec as P


@dataclasses.dataclass(frozen=True)
class Step:
    """A function with abstract arguments that carry their shardings. `results` gives out_shardings, None leaves them to XLA."""

    function: Callable
    arguments: tuple
    donate: tuple = ()
    results: Any = None
    replicas: bool = False  # arguments have a leading dimension of devices, for jax.pmap
    axis: str = ""
    platform: str = ""  # whose kernels it calls; else any

    def lower(self):
        if self.replicas:
            return self.function.lower(*self.arguments)
        options = {"donate_argnums": self.donate}
        if self.results is not None:
            options["out_shardings"] = self.results(None) if callable(self.results) else self.results
        jitted = jax.jit(self.function, **options)
        return jitted.trace(*self.arguments).lower(lowering_platforms=(self.platform,)) if self.platform else jitted.lower(*self.arguments)


def abstract(mesh, shape, dtype, *axes):
    """An array that is only described; `axes` name a mesh axis for each dimension, missing ones are replicated."""
    return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, P(*axes)))
