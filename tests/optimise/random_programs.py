"""Random StableHLO programs of the ops that the optimiser rewrites: elementwise, layout, reductions, dots, slices, barriers."""
import random

SIZES = (1, 4, 8, 16)
UNARY = ("exponential", "negate", "tanh", "abs", "cosine", "logistic", "sqrt")
BINARY = ("add", "multiply", "subtract", "maximum", "minimum")


class Builder:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.element = self.random.choice(("f32", "f32", "bf16"))
        self.lines, self.values = [], []
        self.arguments = [self.shape() for _ in range(self.random.randint(1, 3))]
        for index, dims in enumerate(self.arguments):
            self.values.append((f"%a{index}", dims))

    def shape(self):
        return tuple(self.random.choice(SIZES) for _ in range(self.random.randint(1, 3)))

    def type(self, dims):
        return "tensor<" + "".join(f"{d}x" for d in dims) + self.element + ">"

    def add(self, text, dims):
        name = f"%{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        self.values.append((name, dims))
        return name

    def pick(self, rank=None):
        fitting = [v for v in self.values[-12:] if rank is None or len(v[1]) == rank]
        return self.random.choice(fitting) if fitting else None

    def unary(self):
        name, dims = self.pick()
        op = self.random.choice(UNARY)
        if op == "sqrt":
            name = self.add(f"stablehlo.abs {name} : {self.type(dims)}", dims)
        self.add(f"stablehlo.{op} {name} : {self.type(dims)}", dims)

    def binary(self):
        name, dims = self.pick()
        equal = [v for v in self.values if v[1] == dims]
        other = self.random.choice(equal)[0]
        self.add(f"stablehlo.{self.random.choice(BINARY)} {name}, {other} : {self.type(dims)}", dims)

    def transpose(self):
        name, dims = self.pick()
        order = list(range(len(dims)))
        self.random.shuffle(order)
        out = tuple(dims[i] for i in order)
        self.add(f"stablehlo.transpose {name}, dims = {order} : ({self.type(dims)}) -> {self.type(out)}", out)

    def reshape(self):
        name, dims = self.pick()
        out = tuple(reversed(dims)) if self.random.random() < 0.5 or len(dims) > 3 else (1, *dims)
        self.add(f"stablehlo.reshape {name} : ({self.type(dims)}) -> {self.type(out)}", out)

    def broadcast(self):
        name, dims = self.pick()
        if len(dims) > 2:
            return
        out = (*dims, self.random.choice(SIZES))
        kept = list(range(len(dims)))
        self.add(f"stablehlo.broadcast_in_dim {name}, dims = {kept} : ({self.type(dims)}) -> {self.type(out)}", out)

    def reduce(self):
        name, dims = self.pick()
        op, start = self.random.choice((("add", "0.0"), ("maximum", "-1.0e+30")))
        axis = self.random.randrange(len(dims))
        out = dims[:axis] + dims[axis + 1:]
        if not out:
            return
        initial = self.add(f"stablehlo.constant dense<{start}> : tensor<{self.element}>", ())
        self.values.pop()
        self.add(f"stablehlo.reduce({name} init: {initial}) applies stablehlo.{op} across dimensions = [{axis}] : "
                 f"({self.type(dims)}, tensor<{self.element}>) -> {self.type(out)}", out)

    def dot(self):
        left = self.pick(rank=2)
        if left is None:
            return
        fitting = [v for v in self.values if len(v[1]) == 2 and v[1][0] == left[1][1]]
        if not fitting:
            return
        right = self.random.choice(fitting)
        out = (left[1][0], right[1][1])
        self.add(f"stablehlo.dot_general {left[0]}, {right[0]}, contracting_dims = [1] x [0] : "
                 f"({self.type(left[1])}, {self.type(right[1])}) -> {self.type(out)}", out)

    def slice(self):
        name, dims = self.pick()
        parts = [(0, max(1, d // 2)) for d in dims]
        out = tuple(b - a for a, b in parts)
        ranges = ", ".join(f"{a}:{b}" for a, b in parts)
        self.add(f"stablehlo.slice {name} [{ranges}] : ({self.type(dims)}) -> {self.type(out)}", out)

    def barrier(self):
        name, dims = self.pick()
        self.add(f"stablehlo.optimization_barrier {name} : {self.type(dims)}", dims)


def random_program(seed):
    builder = Builder(seed)
    steps = (builder.unary, builder.binary, builder.binary, builder.transpose, builder.reshape, builder.broadcast, builder.reduce,
             builder.dot, builder.dot, builder.slice, builder.barrier)
    for _ in range(builder.random.randint(8, 40)):
        builder.random.choice(steps)()
    # What multiplies again and again overflows; bounded results compare well.
    names = []
    for name, dims in builder.values[-4:]:
        names.append((builder.add(f"stablehlo.tanh {name} : {builder.type(dims)}", dims), dims))
    arguments = ", ".join(f"%a{i}: {builder.type(dims)}" for i, dims in enumerate(builder.arguments))
    types = ", ".join(builder.type(dims) for _, dims in names)
    results = ", ".join(name for name, _ in names)
    body = "\n    ".join(builder.lines)
    return f"func.func @main({arguments}) -> ({types}) {{\n    {body}\n    return {results} : {types}\n}}\n"
