"""Processes that answer requests line by line, as many as there are cores; none outlives the one that started them.

Where they lie on a cluster (`elsewhere`), one that is lost is started again and gets its request once more.
"""
import asyncio
import contextlib
import json
import os
import signal

from environments import Refused

LONGEST_ANSWER = 1 << 28  # bytes of a line
ENDED, HELP = "the process that runs XLA's partitioner ended", "see the messages above"
RETRIES = 10  # of a request whose process was lost on a cluster, as of a sweep's chunk


class Workers:
    """An asynchronous context: `ask` waits for a free process, and cancels behind SIGINT, SIGTERM and SIGHUP."""

    def __init__(self, command, most, elsewhere=0):
        self.command, self.count, self.idle, self.all = command, max(1, min(elsewhere or os.cpu_count() or 1, most)), asyncio.Queue(), []
        self.retries = RETRIES if elsewhere else 0
        self.end = signal.SIGTERM if elsewhere else signal.SIGKILL  # which `srun` hands on
        self.starting, self.closed = asyncio.Lock(), False

    async def __aenter__(self):
        this = asyncio.current_task()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, this.cancel)
        try:
            for _ in range(self.count):
                await self.start()
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def start(self):
        async with self.starting:
            if self.closed:
                raise Refused(ENDED, HELP)
            # In a session of its own: whatever a worker has started ends with it.
            self.all.append(await asyncio.create_subprocess_exec(*self.command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
                                                                 start_new_session=True, limit=LONGEST_ANSWER))
            self.idle.put_nowait(self.all[-1])

    async def __aexit__(self, *_):
        self.closed = True  # who still asks would else start what nobody ends
        async with self.starting:
            pass
        for worker in self.all:
            if worker.returncode is None:
                os.killpg(worker.pid, self.end)
            worker.stdin.close()
        for worker in self.all:
            with contextlib.suppress(RuntimeError):  # who still waits for an answer reads it
                await worker.stdout.read()  # to its end: a pipe that is open outlives the loop, and says so
            await worker.wait()
        await asyncio.sleep(0)

    async def ask(self, request):
        for _ in range(1 + self.retries):
            worker = await self.idle.get()
            line = await answered(worker, json.dumps(request).encode() + b"\n")
            if line.endswith(b"\n"):
                self.idle.put_nowait(worker)
                return json.loads(line)
            if self.retries:
                await self.start()
        raise Refused(ENDED, HELP)


async def answered(worker, line):
    try:
        worker.stdin.write(line)
        await worker.stdin.drain()
        return await worker.stdout.readline()
    except (BrokenPipeError, ConnectionResetError):
        return b""
