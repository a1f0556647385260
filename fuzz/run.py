#!/usr/bin/env python3
"""usage: run.py PROGRAM TOPIC   runs one fuzzer from the seeds in fuzz/corpus/TOPIC; findings go to build/fuzzing/findings

HESPAS_FUZZ_SECONDS (default 10) counts processor time, so that a busy machine searches as long as an idle one. libFuzzer counts the
clock's: it is started again, from all that it has found, for what is missing.

One input may take ten seconds of the processor. libFuzzer's limit is a minute of the clock instead, as ten seconds of a processor take as long beside
many other programs; it keeps an input that took more than ten seconds of the clock, and than all before it (slow-unit-*). Such an input runs again alone, and is a finding if
it takes too much of the processor.
"""
import os
import pathlib
import resource
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FUZZING = ROOT / "build/fuzzing"
LONGEST = 10  # seconds of the processor that one input may take
CLOCK = 6 * LONGEST  # what that takes at most where six programs share a core


def spent():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def refuse_slow(program, topic):
    """Ends where an input that was slow by the clock is so by the processor's time, too; the others are removed."""
    for unit in sorted(FUZZING.glob(f"findings/{topic}-slow-unit-*")):
        before = spent()
        subprocess.run([program, f"-timeout={CLOCK}", "-detect_leaks=0", unit], check=True)  # a search for leaks may run it twice
        took = spent() - before
        if took > LONGEST:
            sys.exit(f"{unit}: this input takes {took:.1f} s of processor time, more than {LONGEST}")
        unit.unlink()


def main():
    program, topic = sys.argv[1:]
    seconds = float(os.environ.get("HESPAS_FUZZ_SECONDS", "10"))
    corpus = FUZZING / "corpus" / topic
    for folder in (corpus, FUZZING / "findings"):
        folder.mkdir(parents=True, exist_ok=True)
    seed = 0
    while spent() < seconds:
        seed += 1
        subprocess.run([program, f"-max_total_time={max(2, int(seconds - spent()))}", f"-timeout={CLOCK}", f"-report_slow_units={LONGEST}", "-rss_limit_mb=2048", "-malloc_limit_mb=1024",
                        f"-seed={seed}", "-verbosity=0", "-print_final_stats=1", f"-artifact_prefix={FUZZING}/findings/{topic}-",
                        corpus, ROOT / "fuzz/corpus" / topic], check=True)
        refuse_slow(program, topic)
    print(f"{topic}: {spent():.0f} s of processor time", flush=True)


if __name__ == "__main__":
    main()
