"""What the tests of the Python package share. They run with the installed wheel, never with the source tree."""
import json
import pathlib
import subprocess
import sys
import sysconfig

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "llama3-100m-4dev.mlir.gz"
SCRIPTS = pathlib.Path(sysconfig.get_path("scripts"))

MATMUL = """module @matmul {
  func.func @main(%a: tensor<256x512xbf16>, %b: tensor<512x128xbf16>) -> tensor<256x128xbf16> {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<256x512xbf16>, tensor<512x128xbf16>) -> tensor<256x128xbf16>
    %1 = stablehlo.tanh %0 : tensor<256x128xbf16>
    return %1 : tensor<256x128xbf16>
  }
}
"""


def command(*arguments, **options):
    """Runs the `hespas` that the wheel installed."""
    return subprocess.run([str(SCRIPTS / "hespas"), *map(str, arguments)], capture_output=True, text=True, timeout=300, **options)


def command_json(*arguments):
    done = command(*arguments, "--format", "json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def in_new_process(code, *arguments, **options):
    return subprocess.run([sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, timeout=300, **options)
