#!/usr/bin/env python3
"""An estimator of one's own: every matmul takes the longer of arithmetic at half the peak and memory traffic.

usage: hespas run PROGRAM --estimator exec:examples/estimators/bandwidth.py
The protocol (docs/estimators.md): greet with one line of JSON, then answer each line with one line.
"""
import json
import sys

GREETING = {"ready": True, "name": "bandwidth", "version": "1", "costs": ["dot_general", "dot", "convolution"]}


def cost(request):
    device = request["device"]
    arithmetic = request["flops"] / (0.5 * device["peak_flops"])
    traffic = request["bytes"] / device["memory_bandwidth"]
    return max(arithmetic, traffic)


def main():
    print(json.dumps(GREETING), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = {"id": request["id"], "ok": True, "seconds": cost(request)}
        except (KeyError, ZeroDivisionError) as error:
            answer = {"id": request["id"], "ok": False, "message": repr(error)}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
