"""Every command that the documents and the short helps show is run, in a folder with the files that they name."""
import gzip
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[up] / name) for up, name in ((1, "cli"), (2, "scripts"))]
import document_outputs  # noqa: E402
from command import BIN, LLAMA, ROOT, run  # noqa: E402

# What needs packages: run by python/tests, tests/experiments, tests/plan, tests/whole/shard_test.py and tests/external/pjrt_test.py.
# Programs that a command of the same page exports first (python.maxtext exports such).
ELSEWHERE = re.compile("hespas (export|shard|plan)|hespas sweep .*--(on|search)|hespas experiment .*--document|hespas run .*--estimator pjrt"
                       r"|hespas run [\w-]+\.partitioned\.mlir ")
DOCUMENTS = [path for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))] if path.name != "tutorial.md"]


def blocks(text):
    """Indented or fenced code, with continued lines joined."""
    return [line for block in re.findall(r"^```[a-z]*\n(.*?)^```", text, re.M | re.S)
            for line in re.sub(r"\\\n\s*", " ", block).splitlines()]


def commands(path):
    for line in blocks(path.read_text()):
        words = line.strip().removeprefix("$ ")
        if words.startswith(("hespas ", "build/release/bin/hespas ")):
            yield words.split("#")[0].strip()


def command_names():
    return re.findall(r"^  ([a-z-]+) ", run("-h").stdout.split("Commands:")[1].split("\n\n")[0], re.M)


def helps():
    for name in command_names():
        text = run(name, "-h").stdout
        if "Example:\n" in text:
            yield text.split("Example:\n")[1].splitlines()[0].strip()


class DocumentsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        (cls.folder / "examples").symlink_to(ROOT / "examples")
        (cls.folder / "tests").symlink_to(ROOT / "tests")
        (cls.folder / "data").symlink_to(ROOT / "data")
        (cls.folder / "build/release").mkdir(parents=True)
        (cls.folder / "build/release/bin").symlink_to(BIN)
        write_cluster(cls.folder / "my-cluster")
        (cls.folder / ".local/share/bash-completion/completions").mkdir(parents=True)
        (cls.folder / "program.mlir").write_bytes(gzip.decompress(LLAMA.read_bytes()))
        (cls.folder / "my-chip.json").write_text('{ "peak_flops": "312 TFLOP/s", "memory_bandwidth": "1.55 TB/s" }\n')
        shutil.copy(ROOT / "examples/custom-collective/allreduce_ring_4.xml", cls.folder / "allreduce.xml")
        write_measurements(cls.folder / "measured.csv")
        (cls.folder / "dump").mkdir()
        shutil.copy(ROOT / "tests/data/hlo/mlp_dp.after.hlo.txt", cls.folder / "dump/module_0001.jit_step.sm_8.0_gpu_after_optimizations.txt")
        cls.shell(f"hespas run {LLAMA} --device A100_SXM_40GB --system A100_SXM_40GB_4GPU --output out --cache estimates.sqlite")
        cls.shell(f"hespas trace {LLAMA} --device A100_SXM_40GB --output traces")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    @classmethod
    def shell(cls, command):
        words = command.replace("PROGRAM", "examples/llama3-100m-4dev.mlir.gz")
        return subprocess.run(["bash", "-ec", words], cwd=cls.folder, capture_output=True, text=True, timeout=120, check=False,
                              env={"PATH": f"{BIN}:/usr/bin:/bin", "HOME": str(cls.folder), "NO_COLOR": "1"})

    def check(self, command):
        with self.subTest(command):
            done = self.shell(command)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(done.stdout or ">" in command or "--output" in command)

    def test_commands_of_the_documents(self):
        found = [command for path in DOCUMENTS for command in commands(path) if not ELSEWHERE.match(command)]
        self.assertGreater(len(found), 10)
        for command in sorted(set(found)):
            self.check(command)

    def test_worked_examples_show_what_is_printed(self):
        text = (ROOT / "docs/your-own-cluster.md").read_text()
        self.assertEqual(text.count("\n$ "), 10)
        with tempfile.TemporaryDirectory() as folder:
            document_outputs.link_tree(pathlib.Path(folder))
            self.assertEqual(document_outputs.renewed(text, folder), text)

    def test_examples_of_the_short_helps(self):
        found = [command for command in helps() if not ELSEWHERE.match(command)]
        self.assertGreater(len(found), 15)
        for command in found:
            self.check(command.split(" | man")[0])

    def test_help_of_every_command_names_every_option_that_completions_offer(self):
        for shell in ("bash", "zsh", "fish"):
            script = run("completion", shell).stdout
            for word in ("run", "split", "explain", "simulate", "device", "output"):
                self.assertIn(word, script)
        self.assertEqual(run("completion", "tcsh").returncode, 2)

    def test_bash_completes_commands_options_and_words(self):
        def complete(*words):
            script = f'source <(hespas completion bash); COMP_WORDS=({shlex.join(words)}); COMP_CWORD={len(words) - 1}; _hespas; echo "${{COMPREPLY[@]}}"'
            return self.shell(script).stdout.split()
        self.assertEqual(complete("hespas", "expl"), ["explain"])
        self.assertIn("--network-backend", complete("hespas", "run", "--netw"))
        self.assertEqual(complete("hespas", "run", "x.mlir", "--format", "js"), ["json", "jsonl"])
        self.assertIn("H100_80GB", complete("hespas", "run", "--device", "H100"))

    def test_manual_pages_tell_every_option(self):
        page = run("man", "run").stdout
        self.assertTrue(page.startswith(".TH HESPAS\\-RUN 1"))
        for option in re.findall(r"^ +(?:-\w,)?(--[a-z-]+)", run("run", "--help").stdout, re.M):
            self.assertIn(option.replace("-", "\\-"), page)
        for name in command_names():
            self.assertIn(".SH OPTIONS", run("man", name).stdout)
        self.assertEqual(run("man", "nothing").returncode, 2)


def write_cluster(folder):
    """A system as a folder in ASTRA-sim's form."""
    folder.mkdir()
    preset = json.loads((ROOT / "data/systems/A100_SXM_40GB_4GPU.json").read_text())
    (folder / "system.json").write_text(json.dumps(preset["system"]))
    (folder / "network.yml").write_text("".join(f"{key}: {json.dumps(value)}\n" for key, value in preset["network"].items()))


def write_measurements(path):
    """Kernels as `hespas estimate --kernels` predicts them, for an example that fits a device to measurements."""
    rows = ["op,dtype,b,m,n,k,latency_us"]
    shapes = [(op, f"f32,{b},{m},{n},{k}") for op in ("linear", "bmm") for b, m, n, k in
              ((b, m, n, k) for b in (1, 4) for m, n, k in ((256, 256, 256), (512, 512, 512), (1024, 1024, 512), (2048, 1024, 1024),
                                                            (4096, 4096, 1024), (1536, 768, 2048), (3072, 1024, 4096)))]
    table = "op,dtype,b,m,n,k\n" + "\n".join(f"{op},{rest}" for op, rest in shapes) + "\n"
    kernels = path.with_name("kernels.csv")
    kernels.write_text(table)
    done = run("estimate", "--kernels", kernels, "--device", "A40_48GB", "--format", "csv")
    head, *body = done.stdout.splitlines()
    at = head.split(",").index("predicted_us")
    for line in body:
        cells = line.split(",")
        rows.append(",".join([*cells[:6], cells[at]]))
    path.write_text("\n".join(rows) + "\n")


if __name__ == "__main__":
    unittest.main()
