#!/usr/bin/env python3
"""A process that answers line by line, as an actor of a Ray cluster; its lines come from stdin, its answers go to stdout.

    lines_on_ray.py ADDRESS COMMAND...      called by `hespas plan --on ray`; no address: a local cluster

Ray starts a lost actor again, on another node where need be, and asks it again.
"""
import os
import pathlib
import subprocess
import sys

import ray

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "export"))

from on_ray import RETRIES  # noqa: E402


@ray.remote(num_cpus=1, max_restarts=RETRIES, max_task_retries=RETRIES)
class Answering:
    def __init__(self, command, folder):
        self.process = subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def answer(self, line):
        self.process.stdin.write(line)
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            os._exit(1)  # as if the node were lost
        return answer


def own_output():
    """Stdout for answers alone: what Ray says of lost actors, which it prints there, goes to stderr."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return answers


def main(address, *command):
    answers = own_output()
    ray.init(address=address or None, log_to_driver=False, include_dashboard=False, logging_level="error")
    actor = Answering.remote(list(command), os.getcwd())
    for line in sys.stdin:
        print(ray.get(actor.answer.remote(line)), end="", file=answers, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
