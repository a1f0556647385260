#!/usr/bin/env python3
"""usage: serving.py   CPU time of `hespas serve`: a closed run, a day's trace of a million requests, a search (see bench/results.md)"""
import pathlib
import random
import resource
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
HESPAS = ROOT / "build/release/bin/hespas"
LOAD = ["--isl", 1024, "--osl", 1024]


def cpu(*words):
    """Seconds, and the largest memory so far in MB."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([str(word) for word in (HESPAS, "serve", *words)], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, after.ru_maxrss / 1024


def trace(path):
    """A day at 11.6 requests a second with the lengths of short chats."""
    numbers = random.Random(1)
    now = 0.0
    with path.open("w") as file:
        file.write("arrival_s,input_tokens,output_tokens\n")
        for _ in range(1_000_000):
            now += numbers.expovariate(1_000_000 / 86_400)
            file.write(f"{now:.3f},{numbers.randint(100, 1000)},{numbers.randint(20, 300)}\n")


def main():
    rows = [("64 clients, 640 requests, 1k/1k", ["llama3-8b", "--device", "H100_80GB", *LOAD, "--concurrency", 64, "--requests", 640])]
    with tempfile.TemporaryDirectory() as folder:
        day = pathlib.Path(folder, "day.csv")
        trace(day)
        rows += [("a day's trace, 1,000,000 requests, 4 x 2 devices",
                  ["llama3-70b", "--device", "H100_80GB", "--devices", 8, "--tp", 2, "--weights", "fp8", "--trace", day]),
                 ("search, 3 devices x 3 formats x layouts of 8",
                  ["llama3-70b", "--device", "H100_80GB,H200_141GB,B200_180GB", "--devices", 8, "--weights", "fp8,bf16,nvfp4", *LOAD, "--search",
                   "--slo", "ttft=1s,tpot=40ms"])]
        for name, words in rows:
            seconds, megabytes = cpu(*words)
            print(f"| {name} | {seconds:.2f} s | {megabytes:.0f} MB |", flush=True)


if __name__ == "__main__":
    main()
