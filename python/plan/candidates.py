"""Which configurations there are: sizes of the axes, their places in the network, microbatches, rematerialisation, pipeline schedule."""
import collections
import dataclasses
import functools
import itertools
import math

from schedules import Schedule
from stages import even, unevenly

INNER = ("data", "fsdp", "context", "tensor", "expert")  # axes within a stage, the outermost first
AXES = ("pipeline", *INNER)
FILL = ("tensor", "context", "expert", "fsdp", "data")  # who gets the devices of a node first, unless an order says otherwise
MOST_MICROBATCH = 16  # sequences at a time


@dataclasses.dataclass(frozen=True)
class Candidate:
    sizes: tuple  # (axis, devices) in the order of AXES, those of 1 left out
    outer: tuple  # (axis, part of it between nodes)
    microbatch: int  # sequences at a time on each data-parallel part
    microbatches: int
    remat: str
    zero: int = 0  # 1: the optimiser's state is divided over the data axis; 2: gradients, too
    schedule: str = ""
    chunks: int = 1
    flags: str = ""  # which of XLA's flags: see costs.FLAGS
    ring: bool = False  # keys and values go round the context axis, where they are gathered otherwise

    @functools.cached_property
    def of(self):
        return {axis: 1 for axis in AXES} | dict(self.sizes)

    @property
    def stages(self):
        return self.of["pipeline"]

    @property
    def varied(self):
        """Whether it is another look at a configuration that counts already."""
        return bool(self.flags or self.ring)

    @property
    def inner(self):
        """Axes of one stage, under the names of the mesh."""
        return {axis: size for axis, size in self.sizes if axis != "pipeline"}

    @property
    def batch_parts(self):
        return self.of["data"] * self.of["fsdp"] * self.of["expert"]

    def settings(self):
        """All that tells it from others, as texts."""
        schedule = {"schedule": self.schedule + (f"-{self.chunks}" if self.chunks > 1 else "")} if self.schedule else {}
        flags = ({"context_parallel_strategy": "ring"} if self.ring else {}) | ({"flags": self.flags} if self.flags else {})
        return {**{axis: str(size) for axis, size in self.sizes}, **({"zero": str(self.zero)} if self.zero else {}), "microbatch": str(self.microbatch),
                "remat": self.remat, **schedule, "between_nodes": "+".join(f"{axis}:{size}" for axis, size in self.outer) or "none", **flags}

    def __str__(self):
        return self.name

    @functools.cached_property
    def name(self):
        return ",".join(f"{key}={value}" for key, value in self.settings().items())


def factorisations(devices, axes):
    """Every assignment of sizes to `axes` whose product is `devices`."""
    if len(axes) == 1:
        yield {axes[0]: devices}
        return
    for size in divisors(devices):
        for rest in factorisations(devices // size, axes[1:]):
            yield {axes[0]: size, **rest}


def divisors(number):
    small = [size for size in range(1, math.isqrt(number) + 1) if number % size == 0]
    return sorted({*small, *(number // size for size in small)})


def places(sizes, node):
    """Each way to lay axes over the levels of a network: parts between nodes, by who gets the devices of a node first."""
    axes = [axis for axis in FILL if sizes.get(axis, 1) > 1]
    found = {}
    for order in itertools.permutations(axes):
        left, outer = math.gcd(node, math.prod(sizes[axis] for axis in axes)), {}
        for axis in order:
            inside = math.gcd(sizes[axis], left)
            left //= inside
            if sizes[axis] > inside:
                outer[axis] = sizes[axis] // inside
        if left == 1:
            found.setdefault(tuple((axis, outer[axis]) for axis in INNER if axis in outer))
    return list(found) or [()]


def powers(number):
    """1, 2, 4 ... as far as they divide it."""
    return [1 << at for at in range(number.bit_length()) if number % (1 << at) == 0]


def microbatch_sizes(share, own):
    """Of a part's share of the batch: powers of two and all of it, up to 16, and the configuration's own."""
    found = {size for size in (*powers(share), share) if size <= MOST_MICROBATCH}
    return sorted(found | {int(own)} if own >= 1 and own == int(own) and share % own == 0 else found)


@dataclasses.dataclass(frozen=True)
class Space:
    devices: int
    node: int  # devices of the innermost level
    batch: int  # sequences of a step
    axes: tuple
    remats: tuple
    schedules: tuple  # (name, chunks)
    uneven: bool = False  # stages may differ by a layer, or by a cycle of kinds
    at_once: int = 0  # sequences that the configuration itself takes at a time, on all devices, without stages; 0: it does not say


def refusal(space, facts, sizes):
    """Why these sizes are no configuration; None: they are one."""
    parts = math.prod(sizes.get(axis, 1) for axis in ("data", "fsdp", "expert"))
    if space.batch % parts:
        return "the batch does not divide"
    if facts.sequence % sizes.get("context", 1):
        return "the sequence does not divide"
    stages = sizes.get("pipeline", 1)
    if stages > 1 and not even(facts, stages) and not (space.uneven and unevenly(facts, stages)):
        return "the layers do not divide"
    if sizes.get("expert", 1) > 1 and not any("expert" in leaf.logical for leaf in facts.leaves):
        return "the model has no such axis"
    return "a dimension does not divide" if facts.indivisible({axis: size for axis, size in sizes.items() if axis != "pipeline"}) else None


def indivisible(space, facts, sizes):
    """What these sizes do not divide, in words; None: nothing."""
    batch = [axis for axis in ("data", "fsdp", "expert") if sizes.get(axis, 1) > 1]
    parts, context = math.prod(sizes[axis] for axis in batch), sizes.get("context", 1)
    if space.batch % parts:
        return f"a batch of {space.batch} over {', '.join(f'{axis}={sizes[axis]}' for axis in batch)}"
    if facts.sequence % context:
        return f"a sequence of {facts.sequence} over context={context}"
    inner = facts.indivisible({axis: size for axis, size in sizes.items() if axis != "pipeline"})
    return inner or (f"{facts.layers} layers over pipeline={sizes['pipeline']}" if refusal(space, facts, sizes) == "the layers do not divide" else None)


def schedules(space, facts, stages, microbatches):
    if stages == 1:
        return [("", 1)]
    if not even(facts, stages):  # of schedules whose bounds rest on the longest stage
        return [(name, chunks) for name, chunks in space.schedules if name in ("gpipe", "1f1b")]
    return [(name, chunks) for name, chunks in space.schedules
            if Schedule(name, stages, microbatches, chunks).possible and facts.layers % (stages * chunks * facts.cycle) == 0]


def candidates(space, facts):
    """All configurations, and how many meshes were refused for which reason."""
    found, refused = [], collections.Counter()
    for sizes in factorisations(space.devices, space.axes):
        reason = refusal(space, facts, sizes)
        if reason:
            refused[reason] += 1
            continue
        found += of_mesh(space, facts, sizes)
    return found, refused


def of_mesh(space, facts, sizes):
    own = tuple((axis, sizes[axis]) for axis in AXES if sizes.get(axis, 1) > 1)
    stages = sizes.get("pipeline", 1)
    share = space.batch // math.prod(sizes.get(axis, 1) for axis in ("data", "fsdp", "expert"))
    batches = microbatch_sizes(share, space.at_once * share / space.batch if stages == 1 else 0)
    inner = {axis: size for axis, size in sizes.items() if axis != "pipeline"}
    zeros = (0,) if sizes.get("data", 1) == 1 else (0, 1) if stages > 1 else (0, 1, 2)  # a pipeline would sum after each microbatch
    for outer, microbatch, remat, zero in itertools.product(places(inner, space.node), batches, space.remats, zeros):
        for schedule, chunks in schedules(space, facts, stages, share // microbatch):
            yield Candidate(own, outer, microbatch, share // microbatch, remat, zero, schedule, chunks)
