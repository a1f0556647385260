"""Where the axes of a program's own mesh lie: outer ones between nodes, inner ones within a node, so that their order decides."""
import itertools
import math


def parts(sizes, node):
    """Of each axis, its parts between nodes and within one; None where axes and nodes do not divide each other."""
    found, left = [], node
    for axis, size in reversed(sizes):
        within = math.gcd(size, left)
        if within < min(size, left):
            return None
        found.append((axis, size // within, within))
        left //= within
    return found[::-1]


def layouts(sizes, node):
    """Orders of the axes of which each has other parts between nodes, the program's own first; axes of size 1 keep their places."""
    large, found = [each for each in sizes if each[1] > 1], {}
    for order in itertools.permutations(large):
        split = parts(order, node)
        found.setdefault(split and frozenset((axis, between) for axis, between, _ in split), order)
    return [tuple(next(left) if each[1] > 1 else each for each in sizes) for left in map(iter, found.values())]


def mesh(sizes, node):
    """As a row says it; without lists of parts where nodes cut across axes."""
    split = parts(sizes, node)
    return {"axis_names": [axis for axis, _ in sizes], "shape": [size for _, size in sizes],
            "between_nodes": split and [between for _, between, _ in split], "within_nodes": split and [within for *_, within in split]}
