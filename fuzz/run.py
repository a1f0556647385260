#!/usr/bin/env python3
"""usage: run.py PROGRAM TOPIC   runs one fuzzer from the seeds in fuzz/corpus/TOPIC; findings go to build/fuzzing/findings

HESPAS_FUZZ_SECONDS (default 10) counts processor time, so that a busy machine searches as long as an idle one. libFuzzer counts the
clock's: it is started again, from all that it has found, for what is missing, and an input has a minute of it.
"""
import os
import pathlib
import resource
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FUZZING = ROOT / "build/fuzzing"


def spent():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main():
    program, topic = sys.argv[1:]
    seconds = float(os.environ.get("HESPAS_FUZZ_SECONDS", "10"))
    corpus = FUZZING / "corpus" / topic
    for folder in (corpus, FUZZING / "findings"):
        folder.mkdir(parents=True, exist_ok=True)
    seed = 0
    while spent() < seconds:
        seed += 1
        subprocess.run([program, f"-max_total_time={max(2, int(seconds - spent()))}", "-timeout=60", "-rss_limit_mb=2048", "-malloc_limit_mb=1024",
                        f"-seed={seed}", "-verbosity=0", "-print_final_stats=1", f"-artifact_prefix={FUZZING}/findings/{topic}-",
                        corpus, ROOT / "fuzz/corpus" / topic], check=True)
    print(f"{topic}: {spent():.0f} s of processor time", flush=True)


if __name__ == "__main__":
    main()
