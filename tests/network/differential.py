#!/usr/bin/env python3
"""Random programs and systems: the simulator against the slow oracle. usage: differential.py RUNNER [COUNT [SEED]]

Both sides must give the same ticks, statistics and finish order, or both must refuse. Prints mismatching cases."""
import json
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "oracle"))
import oracle  # noqa: E402

KEYS = ("fin", "exposed", "wall", "gpu", "comm", "overlap", "order")
IMPLEMENTATIONS = ["ring", "direct", "direct1", "direct2", "halvingDoubling", "oneRing", "oneDirect", "doubleBinaryTree"]


def network(r, backend):
    dims = 1 if backend == "A" else r.choice([1, 1, 2, 3])
    while True:
        npus = [r.choice([2, 3, 4, 5, 8]) for _ in range(dims)]
        topo = [r.choice(["Ring", "FullyConnected", "Switch"]) for _ in range(dims)]
        product = 1
        for n in npus:
            product *= n
        if product <= 32 and not (backend == "A" and topo[0] == "Ring" and npus[0] == 2):
            break
    return {"topo": topo, "npus": npus, "bw": [r.choice([12.5, 25.0, 50.0, 100.0, 450.0]) for _ in npus],
            "lat": [r.choice([0.5, 1.0, 7.5, 10.0, 500.0, 2345.6]) for _ in npus]}, product


def system(r, dims):
    s = {"scheduling-policy": r.choice(["LIFO", "FIFO", "EXPLICIT"]),
         "endpoint-delay": r.choice([1, 5, 10, 100]),
         "active-chunks-per-dimension": r.choice([1, 1, 2, 4]),
         "preferred-dataset-splits": r.choice([1, 1, 2, 4, 8]),
         "collective-optimization": r.choice(["baseline", "localBWAware"]),
         "local-mem-bw": r.choice([11.1, 50, 1600])}
    for key in ("all-reduce", "all-gather", "reduce-scatter", "all-to-all"):
        names = IMPLEMENTATIONS if key == "all-reduce" else IMPLEMENTATIONS[:-1]
        s[key + "-implementation"] = [r.choice(names[:4] if r.random() < 0.7 else names) for _ in range(dims)]
    return s


def groups(r, n):
    ranks = list(range(n))
    r.shuffle(ranks)
    size = r.choice([k for k in range(2, n + 1) if n % k == 0])
    parts = [ranks[i:i + size] for i in range(0, n, size)]
    if r.random() < 0.7:
        parts = [sorted(p) for p in parts]
    return {str(i + 1): p for i, p in enumerate(parts)}


def template(r, with_groups):
    nodes = []
    for i in range(r.randint(1, 10)):
        kind = r.random()
        d = [j for j in range(i) if r.random() < 0.3]
        if kind < 0.45:
            nodes.append({"id": i, "t": "comp", "us": r.choice([0, 1, 2, 5, 20, 100]), "d": d})
        else:
            node = {"id": i, "t": "coll", "k": r.choice(["AR", "AG", "RS", "A2A"]), "sz": r.randint(64, 1 << 20), "d": d}
            if r.random() < 0.3:
                node["pr"] = r.randint(0, 5)
            node["group"] = with_groups and r.random() < 0.5
            nodes.append(node)
    return nodes


def of_rank(nodes, rank, parts):
    out = []
    for node in nodes:
        node = dict(node)
        if node.pop("group", False):
            node["pg"] = next(i for i, p in parts.items() if rank in p)
        out.append(node)
    return out


def add_messages(r, ranks):
    n = len(ranks)
    for tag in range(r.randint(1, 4)):
        a, b = r.sample(range(n), 2)
        size = r.randint(1, 1 << 18)
        ranks[a].append({"id": len(ranks[a]), "t": "send", "to": b, "sz": size, "tag": tag, "d": []})
        ranks[b].append({"id": len(ranks[b]), "t": "recv", "fr": a, "sz": size, "tag": tag, "d": []})


def case(seed):
    r = random.Random(seed)
    backend = r.choice("UUA")
    net, n = network(r, backend)
    out = {"be": backend, "net": net, "sys": system(r, len(net["npus"]))}
    with_groups = r.random() < 0.4
    nodes = template(r, with_groups)
    parts = groups(r, n) if with_groups else {}
    if with_groups:
        out["groups"] = parts
    ranks = [of_rank(nodes, i, parts) for i in range(n)]
    if r.random() < 0.3:
        add_messages(r, ranks)
    equal = all(x == ranks[0] for x in ranks)
    out["trace"] = {"all": ranks[0]} if equal else {"ranks": ranks}
    if r.random() < 0.3:
        out["flags"] = ["--num-queues-per-dim=%d" % r.randint(1, 4)]
    if r.random() < 0.1:
        out.setdefault("flags", []).append("--rendezvous-protocol=true")
    return out


def judge(given):
    try:
        return oracle.Sim(given).run()
    except oracle.Abort as reason:
        return {"refused": str(reason)}
    except Exception as reason:  # the oracle ends on cases that crash there
        return {"refused": repr(reason)}


def differs(given, got):
    want = judge(given)
    if want.get("refused") == "event at time 0":
        return None  # a limit of ASTRA-sim's event loop; the simulator answers (docs/simulation.md)
    if "refused" in want or "unfinished" in want:
        return None if "error" in got else "an answer instead of: %s" % want
    if "error" in got:
        return "refused: " + got["error"]
    for key in KEYS:
        if got.get(key) != want.get(key):
            return "%s: %s instead of %s" % (key, str(got.get(key))[:200], str(want.get(key))[:200])
    return None


def main():
    runner = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 1000 if "HESPAS_ALL_SETTINGS" in os.environ else 400
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    cases = [case(seed + i) for i in range(count)]
    lines = "".join(json.dumps(c) + "\n" for c in cases)
    answers = subprocess.run([runner], input=lines, capture_output=True, text=True, check=True).stdout.splitlines()
    wrong = answered = 0
    for i, (given, answer) in enumerate(zip(cases, answers)):
        got = json.loads(answer)
        answered += "error" not in got
        why = differs(given, got)
        if why is None:
            continue
        wrong += 1
        if wrong <= 5:
            print("seed %d: %s\n%s" % (seed + i, why, json.dumps(given)))
    print("%d cases, %d answered, %d mismatches" % (count, answered, wrong))
    return 1 if wrong or len(answers) != count else 0


if __name__ == "__main__":
    sys.exit(main())
