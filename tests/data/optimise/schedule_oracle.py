#!/usr/bin/env python3
"""The graph that XLA's latency-hiding scheduler ordered, out of optimised HLO text.

  schedule_oracle.py FILE.hlo.gz > FILE.schedule.txt

A line for each op in XLA's order, elements of tuples and parameters aside: what it is (W work, S start, D done, N nothing), its cost in the
scheduler's ticks, whether it makes a tuple, the number of its first result, how many results it has, and the numbers of those it reads. Parameters have the numbers
before the first op's. A tuple whose elements are read is an optimization barrier that XLA has dropped since."""

import gzip
import re
import sys

text = gzip.open(sys.argv[1], "rt").read()
entry = text[text.index("\nENTRY"):].split("\n")[1:]
ops = []
for line in entry:
    head = re.match(r"\s+(?:ROOT )?%?([\w.\-]+) = (.*?) ([a-z][\w\-]*)\((.*)", line)
    if not head:
        continue
    depth, end = 1, 0
    while depth:
        depth += {"(": 1, ")": -1}.get(head[4][end], 0)
        end += 1
    ops.append({"name": head[1], "type": head[2], "op": head[3], "reads": re.findall(r"%([\w.\-]+)", head[4][:end]),
                "index": int((re.search(r"index=(\d+)", line) or ["", "0"])[1]), "loop": "kind=kLoop" in line})
read_as_tuple = {op["reads"][0] for op in ops if op["op"] == "get-tuple-element"}
widths, numbers, alias, count = {}, {}, {}, 0
for op in ops:
    if op["op"] == "get-tuple-element":
        widths[op["reads"][0]] = max(widths.get(op["reads"][0], 1), op["index"] + 1)
for op in sorted(ops, key=lambda op: op["op"] != "parameter"):
    if op["op"] == "get-tuple-element":
        continue
    numbers[op["name"]] = count
    count += widths.get(op["name"], 1)
for op in ops:
    if op["op"] == "get-tuple-element":
        numbers[op["name"]] = numbers[op["reads"][0]] + op["index"]
for op in ops:
    if op["op"] in ("get-tuple-element", "parameter"):
        continue
    role = "S" if op["op"].endswith("-start") else "D" if op["op"].endswith("-done") else \
           "N" if op["op"] in ("bitcast", "constant", "tuple") else "W"
    cost = 0 if role == "N" else 1000 if op["op"] == "custom-call" or op["loop"] else 1
    makes_tuple = op["op"] in ("custom-call", "tuple") or (op["name"] in read_as_tuple and role != "S")
    reads = " ".join(str(numbers[name]) for name in dict.fromkeys(op["reads"]))
    print(role, cost, int(makes_tuple), numbers[op["name"]], widths.get(op["name"], 1), reads)
