"""Processes that answer line by line: a lost one is started again with the same line, and none is left behind an answer that nobody can read."""
import asyncio
import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(os.environ["HESPAS_ROOT"]).resolve() / "python/export"))

from workers import Workers  # noqa: E402

# Answers 1, is lost once (there is a file then), never answers, or says what is no JSON and takes its time to end.
PROCESS = """
import os, signal, sys, time
for line in sys.stdin:
    word = line.strip().strip('"')
    if word == "lost" and not os.path.exists(sys.argv[1]):
        open(sys.argv[1], "w").close()
        sys.exit()
    if word == "unreadable":
        signal.signal(signal.SIGTERM, lambda *_: (time.sleep(1), sys.exit()))
    time.sleep(1000 if word == "slow" else 0)
    print("no answer" if word == "unreadable" else 1, flush=True)
"""


class WorkersTest(unittest.TestCase):
    def asked(self, *requests):
        async def ask():
            async with Workers([sys.executable, "-c", PROCESS, lost], 2, elsewhere=2) as self.workers:
                return await asyncio.gather(*map(self.workers.ask, requests))
        with tempfile.TemporaryDirectory() as folder:
            lost = os.path.join(folder, "lost")
            return asyncio.run(asyncio.wait_for(ask(), 60))

    def test_a_lost_process_is_asked_again(self):
        self.assertEqual(self.asked("fine", "lost", "fine"), [1, 1, 1])
        self.assertEqual(len(self.workers.all), 3)

    def test_an_unreadable_answer_leaves_no_process(self):
        with self.assertRaises(ValueError):
            self.asked("slow", "unreadable")
        for worker in self.workers.all:
            self.assertIsNotNone(worker.returncode)


if __name__ == "__main__":
    unittest.main()
