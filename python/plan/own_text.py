"""What an unpartitioned program says of its mesh: the axes that it has, and what its arguments and results divide by them."""
import math
import re

from environments import program_text
from remesh import AXIS, MESH

DIVIDED = re.compile(r"tensor<((?:\d+x)+)[^<>]*> \{[^{}]*sdy\.sharding = #sdy\.sharding<@[\w.$-]+, \[((?:\{[^{}]*\}(?:, )?)*)\]")
NAME = re.compile(r'"([^"]+)"')
ARGUMENT = re.compile(r"\[([\d,\s]*)\]@([\w,+\-\s]*)")


def axes_of(text):
    """Axes of the mesh along which something is divided."""
    found = MESH.search(text)
    names = [name for name, _ in AXIS.findall(found.group(2))] if found else []
    body = text[found.end():] if found else ""
    return [name for name in names if f'"{name}"' in body]


def divided(text):
    """Dimensions of arguments and results with the axes that divide them, each once; JAX takes none that does not divide evenly."""
    found = {}
    for shape, dimensions in DIVIDED.findall(text):
        for size, axes in zip(shape.split("x"), re.findall(r"\{([^{}]*)\}", dimensions)):
            names = tuple(NAME.findall(axes))
            if names and ":" not in axes:  # a part of an axis
                found[int(size), names] = None
    return list(found)


def of_arguments(texts):
    """The same of arguments as --arg describes them; one that is not divided has an axis `-`, which no mesh has."""
    return [(int(size), tuple(axes.strip().split("+"))) for text in texts for shape, split in ARGUMENT.findall(text) for size, axes in zip(re.findall(r"\d+", shape), split.split(","))]


def indivisible(dimensions, sizes):
    """The first dimension that the sizes of axes do not divide, in words; nothing where they divide all."""
    for size, names in dimensions:
        if size % math.prod(sizes.get(name, 1) for name in names):
            return f"{size} over " + ",".join(f"{name}={sizes[name]}" for name in names if sizes.get(name, 1) > 1)
    return ""


def read(path):
    text = program_text(path)
    return axes_of(text), divided(text)
