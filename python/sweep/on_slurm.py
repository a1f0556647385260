"""Chunks of a sweep as a Slurm job array: one task a chunk, submitted again where it did not end well.

A task writes its rows under a name of its own and renames them, so that one that was killed leaves no half chunk. The job's number is kept in the
folder: a sweep that is started again waits for the job that still runs.
"""
import os
import shlex
import subprocess
import sys
import time

from environments import Refused

ROUNDS = 5      # submissions of what is missing
PAUSE = 1       # seconds between two looks at the queue
AT_ONCE = 1000  # tasks of one array

SCRIPT = """#!/bin/sh
#SBATCH --job-name=hespas-sweep
#SBATCH --output=/dev/null
#SBATCH --ntasks=1
set -e
cd {folder}
chunk=$SLURM_ARRAY_TASK_ID
rows={parts}/$(printf %06d "$chunk").jsonl
[ -e "$rows" ] && exit 0
first=$((chunk * {size}))
last=$((first + {size} - 1))
[ "$last" -lt {points} ] || last=$(({points} - 1))
{command} --points "$first-$last" >"$rows.$SLURM_JOB_ID.tmp"
mv "$rows.$SLURM_JOB_ID.tmp" "$rows"
"""


def slurm(*words, **more):
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False, **more)
    except FileNotFoundError as error:
        raise Refused(f"`{words[0]}` is not installed", "apt install slurm-client, or run where Slurm is") from error
    if done.returncode != 0:
        raise Refused(f"`{words[0]}` failed: {done.stderr.strip()}")
    return done.stdout.strip()


def running(job):
    """Whether tasks of the job are in the queue; a job that Slurm has forgotten is not."""
    try:
        return bool(slurm("squeue", "--noheader", "--jobs", job))
    except Refused as refused:
        if "Invalid job id" in str(refused):
            return False
        raise


def script(sweep, folder):
    command = sweep.command(0)
    command = command[:command.index("--points")]
    text = SCRIPT.format(folder=shlex.quote(folder), parts=shlex.quote(str(sweep.parts)), size=sweep.size, points=sweep.points,
                         command=shlex.join(command))
    path = sweep.parts / "job.sh"
    path.write_text(text, encoding="utf-8")
    return path


def wait(sweep, job, total):
    while running(job):
        time.sleep(PAUSE)
        if sys.stderr.isatty():
            print(f"\rchunks {total - len(sweep.missing())}/{total}", end="", file=sys.stderr)


def run(sweep, options):
    path = script(sweep, os.getcwd())
    record = sweep.parts / "job"
    total = -(-sweep.points // sweep.size)
    if record.exists():
        wait(sweep, record.read_text(encoding="utf-8"), total)
    for _ in range(ROUNDS):
        missing = sweep.missing()[:AT_ONCE] if total > AT_ONCE else sweep.missing()
        while missing:
            array = ",".join(map(str, missing))
            job = slurm("sbatch", "--parsable", f"--array={array}", *options, str(path)).split(";")[0]
            record.write_text(job, encoding="utf-8")
            print(f"Slurm job {job}: {len(missing)} chunks", file=sys.stderr)
            wait(sweep, job, total)
            left = sweep.missing()
            missing = [chunk for chunk in left if chunk > missing[-1]][:AT_ONCE]  # of a sweep with more chunks than one array takes
        if not sweep.missing():
            return
        print(f"{len(sweep.missing())} chunks failed and are submitted again", file=sys.stderr)
