"""Chunks of a sweep as tasks of a Ray cluster.

Ray runs the tasks of a lost worker or node again. Where nothing waits any more, chunks that take much longer than the others are started a
second time; the first answer counts.
"""
import os
import statistics
import subprocess
import sys
import time

import ray

from environments import Refused

PATIENCE = 3      # times the median, before a chunk is started a second time
RETRIES = 10      # of a task whose worker died


@ray.remote(num_cpus=1, max_retries=RETRIES)
def rows_of(command, folder):
    """What the command prints in `folder`, which every node has: a sweep's file names programs relative to it."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return done.stdout


class Runner:
    def __init__(self, sweep):
        self.sweep = sweep
        self.waiting = sweep.missing()
        self.chunk_of = {}   # task -> chunk
        self.started = {}    # task -> when
        self.took = []
        self.twice = set()   # chunks that were started a second time

    def start(self, chunk):
        task = rows_of.remote(self.sweep.command(chunk), os.getcwd())
        self.chunk_of[task], self.started[task] = chunk, time.monotonic()

    def finish(self, task):
        chunk = self.chunk_of.pop(task)
        try:
            rows = ray.get(task)
        except ray.exceptions.RayTaskError as error:
            raise Refused(f"chunk {chunk} failed: {error.cause}") from error
        self.took.append(time.monotonic() - self.started[task])
        self.sweep.keep(chunk, rows)

    def speculate(self):
        if not self.took or self.waiting:
            return
        limit = PATIENCE * statistics.median(self.took) + 1
        for task, chunk in list(self.chunk_of.items()):
            if chunk not in self.twice and time.monotonic() - self.started[task] > limit:
                self.twice.add(chunk)
                self.start(chunk)

    def run(self):
        total, done = len(self.waiting), set()
        at_a_time = max(2, 2 * int(ray.cluster_resources().get("CPU", 1)))
        while len(done) < total:
            while self.waiting and len(self.chunk_of) < at_a_time:
                self.start(self.waiting.pop(0))
            ready, _ = ray.wait(list(self.chunk_of), num_returns=1, timeout=1)
            for task in ready:
                chunk = self.chunk_of[task]
                self.finish(task)
                done.add(chunk)
            for task, chunk in list(self.chunk_of.items()):
                if chunk in done:  # its twin was faster
                    ray.cancel(task, force=True)
                    del self.chunk_of[task]
            self.speculate()
            if sys.stderr.isatty():
                print(f"\rchunks {len(done)}/{total}", end="", file=sys.stderr)


def run(sweep, address):
    if not sweep.missing():
        return
    try:
        ray.init(address=address or None, log_to_driver=False, include_dashboard=False, logging_level="error")
    except ConnectionError as error:
        raise Refused(f"there is no Ray cluster at `{address}`", "ray start --head makes one; without an address a local one is started") from error
    try:
        Runner(sweep).run()
    finally:
        ray.shutdown()
