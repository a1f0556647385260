"""What a plan knows of a model before any program is made: its dimensions by the axes that may split them, and what its weights weigh.

All of it is read from the shapes and logical axes with which the exporter describes a model's weights, and from the rules that put those on a
mesh. Nothing here knows a family of models.
"""
import dataclasses
import math

import maxtext_config
from models.maxtext import is_leaf
from models.maxtext_weights import shapes
from models.mesh_rules import RULES

ITEM = {"float32": 4, "bfloat16": 2, "float16": 2}


@dataclasses.dataclass(frozen=True)
class Leaf:
    shape: tuple
    logical: tuple
    layered: bool  # stacked over the layers


@dataclasses.dataclass(frozen=True)
class Facts:
    keys: dict
    leaves: tuple
    state_bytes: int  # of one element: weight, both moments, and the fp32 copy where there is one
    layers: int
    dense: int  # the first of them, where these differ from the others
    cycle: int  # layers of a cycle of kinds
    sequence: int
    width: int
    keys_values: int  # elements of a token
    copies: int  # of a token that go to experts
    remembered: dict = dataclasses.field(default_factory=dict, compare=False)  # sums over leaves, of which many candidates have the same

    def parts(self, leaf, sizes, data=1):
        """How many devices share a leaf; `data`: of the axis over which the optimiser's state is divided, too."""
        ways, used = 1, set()
        for size, logical in zip(leaf.shape, leaf.logical):
            axes = [name for name in RULES.get(logical, ()) if sizes.get(name, 1) > 1 and name not in used]
            used.update(axes)
            while axes and size % math.prod(sizes[name] for name in axes):
                axes.pop()
            ways *= math.prod(sizes[name] for name in axes)
        return ways * data

    def state(self, sizes, stages=1, zero=0):
        """Least bytes of weights and optimiser state on the fullest device: an even share of the layers on each stage."""
        data = sizes.get("data", 1) if zero else 1
        key = *sorted((axis, size) for axis, size in sizes.items() if size > 1 and axis != "data"), stages, data
        if key not in self.remembered:
            self.remembered[key] = self.state_sum(sizes, stages, data)
        return self.remembered[key]

    def gradients(self, sizes, stages=1):
        """Bytes of the weights' gradients, which have the weights' type."""
        return self.state(sizes, stages) * ITEM[self.keys["weight_dtype"]] / self.state_bytes

    def accumulated(self, sizes, stages):
        """Bytes that move when a microbatch's gradients are added to those before it, which are in fp32 beside weights that have fp32 copies."""
        weight = ITEM[self.keys["weight_dtype"]]
        sums = ITEM["float32"] if self.keys["main_weights"] else weight
        return self.gradients(sizes, stages) * (weight + 2 * sums) / weight

    def state_sum(self, sizes, stages, data):
        weight = ITEM[self.keys["weight_dtype"]]
        total = 0
        for leaf in self.leaves:
            if stages > 1 and not leaf.layered:
                continue
            elements = math.prod(leaf.shape) / self.parts(leaf, sizes) / (stages if leaf.layered else 1)
            total += elements * (weight + (self.state_bytes - weight) / data)
        return total

    def alike(self, stages):
        """Layers of the shortest stage, that are no dense ones in front of experts."""
        return self.layers // self.cycle // stages * self.cycle if stages > 1 else self.layers - self.dense

    def indivisible(self, sizes):
        """A dimension of the model that its axes do not divide, in words; None: there is none."""
        for leaf in self.leaves:
            for size, logical in zip(leaf.shape, leaf.logical):
                axes = {name: sizes[name] for name in RULES.get(logical, ()) if sizes.get(name, 1) > 1}
                if size > 1 and axes and size % math.prod(axes.values()):
                    return f"{logical} of {size} over {', '.join(f'{name}={each}' for name, each in axes.items())}"
        return None


def leaves_of(tree, layered=False):
    if is_leaf(tree):
        yield Leaf(*tree, layered)
    else:
        for name, each in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield from leaves_of(each, layered or name == "layers")


def facts(keys):
    config = maxtext_config.configuration(keys)
    layers = sum(count * len(cycle) for count, cycle in config.groups)
    moments = 3 * ITEM["float32"] if config.main_weights else ITEM[config.weight_dtype] + ITEM[config.mu_dtype]
    keys_values = config.heads * (config.latent.nope + config.latent.rope + config.value_head) if config.latent else 2 * config.kv_heads * config.head
    return Facts(keys, tuple(leaves_of(shapes(config))), ITEM[config.weight_dtype] + moments, layers, int(keys["first_num_dense_layers"]) if config.experts > 1 else 0, max(len(cycle) for _, cycle in config.groups), config.sequence, config.width,
                 keys_values, config.experts_per_token if config.experts > 1 else 1)
