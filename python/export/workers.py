"""Processes that answer requests line by line, as many as there are cores; none outlives the one that started them."""
import asyncio
import json
import os
import signal

from environments import Refused

LONGEST_ANSWER = 1 << 28  # bytes of a line


class Workers:
    """An asynchronous context: `ask` waits for a free process, and cancels behind SIGINT, SIGTERM and SIGHUP."""

    def __init__(self, command, most):
        self.command, self.count, self.idle, self.all = command, max(1, min(os.cpu_count() or 1, most)), asyncio.Queue(), []

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
        # In a session of its own: whatever a worker has started ends with it.
        self.all.append(await asyncio.create_subprocess_exec(*self.command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
                                                             start_new_session=True, limit=LONGEST_ANSWER))
        self.idle.put_nowait(self.all[-1])

    async def __aexit__(self, *_):
        for worker in self.all:
            if worker.returncode is None:
                os.killpg(worker.pid, signal.SIGKILL)
            worker.stdin.close()
        for worker in self.all:
            await worker.stdout.read()  # to its end: a pipe that is open outlives the loop, and says so
            await worker.wait()
        await asyncio.sleep(0)

    async def ask(self, request):
        worker = await self.idle.get()
        worker.stdin.write(json.dumps(request).encode() + b"\n")
        line = await worker.stdout.readline()
        if not line:
            raise Refused("the process that runs XLA's partitioner ended", "see the messages above")
        self.idle.put_nowait(worker)
        return json.loads(line)
