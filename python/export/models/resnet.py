"""ResNet training and inference steps, data parallel by jax.pmap over replicas.

f16 activations, f32 weights, batch statistics averaged over the replicas; SGD with Nesterov momentum, warm-up and cosine decay, weight decay.
"""
import functools

import jax
import jax.numpy as jnp
from jax import lax

from models.common import Step

HALF, F32, AXIS = jnp.float16, jnp.float32, "batch"
# depth: blocks of each group, and whether a block is a bottleneck
GROUPS = {18: ((2, 2, 2, 2), False), 34: ((3, 4, 6, 3), False), 50: ((3, 4, 6, 3), True), 101: ((3, 4, 23, 3), True),
          152: ((3, 8, 36, 3), True), 200: ((3, 24, 36, 3), True)}
CLASSES = 1000


class Network:
    """Applies the network; the first time, without weights, it only learns their shapes."""

    def __init__(self, depth):
        self.groups, self.bottleneck = GROUPS[depth]
        self.shapes = {}

    def convolve(self, weights, name, x, filters, size, stride=1):
        self.shapes.setdefault(name, (size, size, x.shape[-1], filters))
        kernel = jnp.zeros(self.shapes[name], F32) if weights is None else weights[name]
        pad = (size - 1) // 2
        return lax.conv_general_dilated(x, kernel.astype(HALF), (stride, stride), ((pad, pad), (pad, pad)),
                                        dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def normalise(self, weights, statistics, new, name, x, train):
        channels = x.shape[-1]
        for part in ("scale", "bias"):
            self.shapes.setdefault(f"{name}/{part}", (channels,))
        scale, bias = (jnp.zeros(channels) if weights is None else weights[f"{name}/{part}"] for part in ("scale", "bias"))
        x32 = x.astype(F32)
        if train:
            mean, square = jnp.mean(x32, (0, 1, 2)), jnp.mean(lax.square(x32), (0, 1, 2))
            if weights is not None:
                mean, square = lax.pmean(mean, AXIS), lax.pmean(square, AXIS)
            variance = jnp.maximum(0.0, square - lax.square(mean))
            if statistics is not None:
                new[f"{name}/mean"] = 0.9 * statistics[f"{name}/mean"] + 0.1 * mean
                new[f"{name}/var"] = 0.9 * statistics[f"{name}/var"] + 0.1 * variance
        else:
            mean, variance = statistics[f"{name}/mean"], statistics[f"{name}/var"]
        return ((x32 - mean) * (lax.rsqrt(variance + 1e-5) * scale) + bias).astype(HALF)

    def block(self, weights, statistics, new, train, name, x, width, stride):
        norm = functools.partial(self.normalise, weights, statistics, new, train=train)
        y, out = x, width * (4 if self.bottleneck else 1)
        if self.bottleneck:
            y = jax.nn.relu(norm(name + "n1", self.convolve(weights, name + "c1", y, width, 1)))
            y = jax.nn.relu(norm(name + "n2", self.convolve(weights, name + "c2", y, width, 3, stride)))
            y = norm(name + "n3", self.convolve(weights, name + "c3", y, out, 1))
        else:
            y = jax.nn.relu(norm(name + "n1", self.convolve(weights, name + "c1", y, width, 3, stride)))
            y = norm(name + "n2", self.convolve(weights, name + "c2", y, out, 3))
        if x.shape != y.shape:
            x = norm(name + "n0", self.convolve(weights, name + "c0", x, out, 1, stride))
        return jax.nn.relu(x + y)

    def __call__(self, weights, statistics, images, train):
        new = {}
        x = self.convolve(weights, "stem", images.astype(HALF), 64, 7, 2)
        x = jax.nn.relu(self.normalise(weights, statistics, new, "stem_bn", x, train))
        x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), ((0, 0), (1, 1), (1, 1), (0, 0)))
        for group, blocks in enumerate(self.groups):
            for at in range(blocks):
                stride = 2 if group > 0 and at == 0 else 1
                x = self.block(weights, statistics, new, train, f"s{group}b{at}", x, 64 * 2**group, stride)
        x = jnp.mean(x, (1, 2))
        self.shapes.setdefault("fc/w", (x.shape[-1], CLASSES))
        self.shapes.setdefault("fc/b", (CLASSES,))
        if weights is None:
            return jnp.zeros((x.shape[0], CLASSES)), new
        return (x @ weights["fc/w"].astype(HALF) + weights["fc/b"].astype(HALF)).astype(F32), new


def train_step(model, step, weights, momentum, statistics, images, labels):
    def loss(ws):
        logits, new = model(ws, statistics, images, True)
        decay = sum(jnp.sum(w**2) for w in jax.tree.leaves(ws) if w.ndim > 1)
        entropy = -jnp.mean(jnp.sum(jax.nn.one_hot(labels, CLASSES) * jax.nn.log_softmax(logits), -1))
        return entropy + 0.5e-4 * decay, (logits, new)

    (value, (logits, new)), gradients = jax.value_and_grad(loss, has_aux=True)(weights)
    gradients = lax.pmean(gradients, AXIS)
    warm = 0.4 * jnp.clip(step / 500.0, 0, 1)
    rate = jnp.where(step < 500, warm, 0.2 * (1 + jnp.cos(jnp.pi * jnp.minimum((step - 500) / 1e5, 1.0))))
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, gradients)
    weights = jax.tree.map(lambda w, m, g: w - rate * (g + 0.9 * m), weights, momentum, gradients)
    accuracy = jnp.mean(jnp.argmax(logits, -1) == labels)
    return step + 1, weights, momentum, new, lax.pmean(value, AXIS), lax.pmean(accuracy, AXIS)


def build(mesh, *, depth=50, batch=1024, image=224, inference=False):
    if depth not in GROUPS:
        raise ValueError(f"there is no ResNet-{depth}; depths are {', '.join(map(str, GROUPS))}")
    model, devices = Network(depth), mesh.size
    describe = jax.ShapeDtypeStruct
    pictures = describe((batch // devices, image, image, 3), HALF)
    jax.eval_shape(lambda images: model(None, None, images, True)[0], pictures)
    weights = {name: describe(shape, F32) for name, shape in model.shapes.items()}
    statistics = {name[: -len("scale")] + kind: describe(shape, F32) for name, shape in model.shapes.items() if name.endswith("/scale")
                  for kind in ("mean", "var")}
    all_pictures = describe((devices, *pictures.shape), HALF)
    if inference:
        step = jax.pmap(lambda ws, st, images: model(ws, st, images, False)[0], AXIS, in_axes=(None, None, 0))
        return Step(step, (weights, statistics, all_pictures), replicas=True)
    step = jax.pmap(functools.partial(train_step, model), AXIS, in_axes=(None, None, None, None, 0, 0), out_axes=None)
    labels = describe((devices, batch // devices), jnp.int32)
    return Step(step, (describe((), jnp.int32), weights, weights, statistics, all_pictures, labels), replicas=True)
