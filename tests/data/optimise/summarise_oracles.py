#!/usr/bin/env python3
"""Counts kernels, bytes, flops and collectives of XLA's optimised HLO text, on its own, without Hespas' readers.

  summarise_oracles.py FILE.hlo.gz [HEADS] > FILE.json      HEADS of a LLaMA of the family: kernels and bytes by source family, too

The rules are those of the design's `hespas optimise --format json`: fusions, library calls and other ops that launch a
kernel; bytes of materialised operands and results (slices count the slice, updates in place the update; workspaces and
collectives do not count); flops are 2*M*N*K of library calls, convolutions as implicit products."""

import collections
import gzip
import json
import re
import sys

SIZES = {"pred": 1, "s8": 1, "u8": 1, "bf16": 2, "f16": 2, "s16": 2, "u16": 2, "s32": 4, "u32": 4, "f32": 4, "s64": 8,
         "u64": 8, "f64": 8}
FREE = {"parameter", "get-tuple-element", "bitcast", "tuple", "constant", "partition-id", "replica-id", "after-all"}
COLLECTIVES = {"all-gather", "all-reduce", "reduce-scatter", "all-to-all", "collective-permute"}
SLICES = {"slice", "dynamic-slice", "gather"}


def close(text, start):
    depth = 0
    for i in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if depth == 0:
            return i
    raise ValueError(text[:80])


def parse(text):
    computations, entry, body = {}, None, None
    for line in text.splitlines():
        head = re.match(r"(ENTRY )?%?([\w.\-]+) \(.*\{$", line)
        if head:
            body = computations[head.group(2)] = {}
            entry = head.group(2) if head.group(1) else entry
            continue
        op = re.match(r"\s+(ROOT )?%?([\w.\-]+) = ", line)
        if not op or body is None:
            continue
        rest = re.sub(r"/\*.*?\*/", "", line[op.end():])
        end = close(rest, 0) + 1 if rest[0] == "(" else rest.index(" ")
        kind, rest = rest[:end], rest[end:].lstrip()
        opening = rest.index("(")
        closing = close(rest, opening)
        arguments = rest[opening + 1:closing]
        opcode = rest[:opening]
        operands = [] if opcode in ("constant", "parameter") else re.findall(r"%([\w.\-]+)", arguments)
        body[op.group(2)] = {"type": kind, "op": opcode, "operands": operands, "rest": rest[closing + 1:],
                             "root": bool(op.group(1))}
    return computations, entry


def shapes(kind):
    return [(d, [int(x) for x in s.split(",") if x]) for d, s in re.findall(r"(\w+)\[([\d,]*)\]", kind)]


def count(dims):
    out = 1
    for d in dims:
        out *= d
    return out


def size(kind):
    return sum(SIZES.get(d, 0) * count(s) for d, s in shapes(kind))


def called(node):
    found = re.search(r"calls=%?([\w.\-]+)", node["rest"])
    return found.group(1) if found else None


def read_bytes(body, users, name):
    full, part = size(body[name]["type"]), 0
    for user in users.get(name, []):
        node = body[user]
        if node["op"] == "bitcast":
            part += read_bytes(body, users, user)
        elif node["op"] in SLICES and node["operands"][0] == name:
            part += size(node["type"])
        elif node["op"] != "dynamic-update-slice" or node["operands"][0] != name:
            return full
    return min(part, full) if users.get(name) else full


def written_bytes(body, name):
    node = body[name]
    if node["op"] == "tuple":
        return sum(written_bytes(body, o) for o in node["operands"])
    if node["op"] == "bitcast":
        return written_bytes(body, node["operands"][0])
    return size(body[node["operands"][1]]["type"] if node["op"] == "dynamic-update-slice" else node["type"])


def fusion_bytes(body):
    users = collections.defaultdict(list)
    for name, node in body.items():
        for operand in node["operands"]:
            users[operand].append(name)
    root = next(name for name, node in body.items() if node["root"])
    reads = sum(read_bytes(body, users, n) for n, node in body.items() if node["op"] == "parameter")
    return reads + written_bytes(body, root)


def gemm_flops(body, node):
    dims = [int(d) for d in re.search(r'"lhs_contracting_dimensions":\[([^\]]*)\]', node["rest"]).group(1).replace('"', "").split(",")]
    lhs = shapes(body[node["operands"][0]]["type"])[0][1]
    return 2 * count(shapes(node["type"])[0][1]) * count(lhs[d] for d in dims)


def convolution_flops(body, node):
    """Of all directions alike: each output value sums over the window and the input features; labels are those of the forward convolution."""
    inputs, kernel, output = re.search(r"dim_labels=(\w+)_(\w+)->(\w+)", node["rest"]).groups()
    first, second = (shapes(body[o]["type"])[0][1] for o in node["operands"][:2])
    result = shapes(node["type"])[0][1]
    target = re.search(r'custom_call_target="__cudnn\$conv(\w+)"', node["rest"]).group(1)
    kernel_shape, output_shape = {"BackwardInput": (second, first), "BackwardFilter": (result, second)}.get(target, (second, result))
    window = count(size for label, size in zip(kernel, kernel_shape) if label != "o")
    return 2 * count(output_shape) * window


def family(kinds, heads):
    """What a kernel of a training step of a LLaMA is for, from the sizes that it reads and writes. On the A100 pair of 9 heads it says the
    same as XLA's op_name does, where that names the layer; the plain programs have no such names."""
    tokens, head, vocabulary, inner = 4096, 128, 128256, 224 * heads
    # A vector may be the partial sums of anything.
    dims = [s for kind in kinds for d, s in shapes(kind) if d != "s8" and (d != "f32" or sum(x != 1 for x in s) > 1)]
    flat = {x for s in dims for x in s}
    if not any(x % tokens == 0 for x in flat if x):
        return "optimiser"
    if vocabulary in flat:
        return "embedding"
    if flat & {inner, 2 * inner}:
        return "mlp"
    if any(count(s) % tokens**2 == 0 for s in dims) or flat & {heads, head, heads * head, 2 * heads * head, 3 * heads * head}:
        return "attention"
    return "norm"


def summarise(text, heads=0):
    computations, entry = parse(text)
    body = computations[entry]
    kernels, collectives = collections.Counter(), collections.defaultdict(lambda: [0, 0])
    flops = 0
    sizes = []
    families = collections.defaultdict(lambda: [0, 0])
    for node in body.values():
        op = node["op"]
        inputs = [body[o]["type"] for o in dict.fromkeys(node["operands"])]
        if op in ("async-start",):
            op = next(x["op"] for x in computations[called(node)].values() if x["op"] in COLLECTIVES)
        op = op.removesuffix("-start")
        if op in COLLECTIVES:
            result = size(node["type"])
            given = sum(size(body[o]["type"]) for o in node["operands"])  # one that is given twice travels twice
            if node["op"] == "all-gather-start" or node["type"].startswith("(("):  # (operands, results)
                result -= given
            entry_ = collectives[op]
            entry_[0] += 1
            entry_[1] += max(given, result)
        elif op in FREE or op.endswith("-done"):
            continue
        elif op == "fusion":
            kernels["fusions"] += 1
            sizes.append(fusion_bytes(computations[called(node)]))
        elif op == "custom-call":
            kernels["library_calls"] += 1
            workspace = sum(count(s) for d, s in shapes(node["type"])[1:] if d == "s8")
            sizes.append(sum(map(size, inputs)) + size(node["type"]) - workspace)
            flops += (convolution_flops if "__cudnn$conv" in node["rest"] else gemm_flops)(body, node)
        else:
            kernels["other"] += 1
            sizes.append(sum(map(size, inputs)) + size(node["type"]))
        if op not in COLLECTIVES and heads:
            entry_ = families[family([*inputs, node["type"]], heads)]
            entry_[0] += 1
            entry_[1] += sizes[-1]
    return {"kernels": {"total": sum(kernels.values()), **kernels}, "flops": flops, "bytes_accessed": sum(sizes),
            "families": {f: {"kernels": c, "bytes": b} for f, (c, b) in sorted(families.items())},
            "largest": sorted(sizes, reverse=True)[:20],
            "collectives": [{"op": op, "count": c, "bytes": b} for op, (c, b) in sorted(collectives.items())]}


if __name__ == "__main__":
    with gzip.open(sys.argv[1], "rt") as f:
        print(json.dumps(summarise(f.read(), *map(int, sys.argv[2:])), indent=2))
