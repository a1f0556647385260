"""XLA's description of a GPU (GpuTargetConfigProto as text) from a device file, and which of its figures had to be guessed; libtpu's name of a TPU.

XLA's compiler asks no GPU, only these figures. A device file has most of them; the rest follow from the architecture (tables of the CUDA
programming guide: registers, threads, shared memory by compute capability), and what is left is guessed and listed.
"""
import json
import pathlib
import re
import sys

PREFIXES = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
# compute capability: shared memory of a multiprocessor and of one block by opt-in, f32 lanes of a multiprocessor
ARCHITECTURES = {
    "7.0": (98304, 98304, 64), "7.5": (65536, 65536, 64), "8.0": (167936, 166912, 64), "8.6": (102400, 101376, 128),
    "8.9": (102400, 101376, 128), "9.0": (233472, 232448, 128), "10.0": (233472, 232448, 128),
}
# names by which XLA's own tables know a device
NAMES = {"A100_SXM_40GB": "NVIDIA A100-SXM4-40GB", "A100_SXM_80GB": "NVIDIA A100-SXM4-80GB", "H100_80GB": "NVIDIA H100 80GB HBM3",
         "H200_141GB": "NVIDIA H200", "B200_180GB": "NVIDIA B200"}
# what the driver reports as usable of the nominal memory
DRIVER_MEMORY = {"A100_SXM_40GB": 42331013120, "H100_80GB": 84942979072}
USABLE_SHARE = 0.985
# libtpu knows its TPUs by name: (name, dimensions of the network, devices of a chip, further settings)
TPUS = {"tpu_v3": ("v3", 2, 2, {}), "tpu_v4": ("v4", 3, 1, {"chip_config_name": "megacore"}), "tpu_v5e": ("v5e", 2, 1, {}),
        "tpu_v5p": ("v5p", 3, 1, {}), "tpu_v6e": ("v6e", 2, 1, {})}


def quantity(text):
    """"1555 GB/s" as 1.555e12."""
    if isinstance(text, (int, float)):
        return float(text)
    found = re.fullmatch(r"\s*([0-9.eE+-]+)\s*(k|M|G|T|P|Ki|Mi|Gi|Ti)?(?:B|B/s|Hz|FLOP/s|W)?\s*", text)
    if not found:
        raise ValueError(f"`{text}` is no quantity")
    return float(found.group(1)) * PREFIXES[found.group(2) or ""]


def capability(device):
    found = re.fullmatch(r"sm_(\d+)(\d)a?", device.get("architecture", ""))
    if not found:
        raise ValueError(f"{device['name']} has no architecture that XLA compiles for without the device; those are sm_NN (NVIDIA) and "
                         + ", ".join(TPUS))
    return f"{found.group(1)}.{found.group(2)}"


def is_tpu(device):
    """Whether libtpu compiles for it, else XLA's GPU compiler does; ValueError where neither does."""
    if device.get("architecture") in TPUS:
        return True
    capability(device)
    return False


def tpu_topology(device, devices):
    """Arguments of JAX's get_topology_desc for the smallest slice with that many devices, as near to a square or cube as they allow."""
    name, dimensions, per_chip, settings = TPUS[device["architecture"]]
    chips, grid = -(-devices // per_chip), [1] * dimensions
    for factor in sorted(prime_factors(chips), reverse=True):
        grid[grid.index(min(grid))] *= factor
    grid.sort(key=lambda size: (size == 1, size))  # 2x2x1, 2x2x4: libtpu's own order
    host = [2 if at < 2 and size % 2 == 0 else 1 for at, size in enumerate(grid)] + [1] * (3 - dimensions)
    return {"topology_name": f"{name}:{'x'.join(map(str, grid))}", "chips_per_host_bounds": host, **settings}


def prime_factors(number):
    divisor = 2
    while number > 1:
        while number % divisor == 0:
            yield divisor
            number //= divisor
        divisor += 1


def target_config(device):
    """The text, and a list of "field: why" of guessed fields."""
    version, guessed = capability(device), []
    if version not in ARCHITECTURES:
        guessed.append(f"shared memory and lanes: no table for compute capability {version}, those of 9.0")
    shared, block_shared, lanes = ARCHITECTURES.get(version, ARCHITECTURES["9.0"])

    def figure(key, fallback, why):
        if key in device:
            return quantity(device[key])
        guessed.append(f"{key}: {why}")
        return fallback

    name = device["name"]
    memory = DRIVER_MEMORY.get(name)
    if memory is None:
        memory = round(figure("memory_capacity", 80e9, "80 GB") * USABLE_SHARE)
        guessed.append(f"device_memory_size: {USABLE_SHARE} of the nominal capacity")
    if name not in NAMES:
        guessed.append("device_description_str: the preset's name")
    if version in ("10.0",):
        guessed.append("shared memory and registers: as compute capability 9.0")
    guessed.append("dnn_version_info: cuDNN 9.10.0, as nothing tells which library will be there")
    cores = round(figure("sm_count", 108, "108"))
    clock = figure("clock", 1.5e9, "1.5 GHz") / 1e9
    major, minor = version.split(".")
    text = f"""gpu_device_info {{
  threads_per_block_limit: 1024
  threads_per_warp: 32
  shared_memory_per_block: 49152
  shared_memory_per_core: {shared}
  threads_per_core_limit: {1024 if version == "7.5" else 1536 if version in ("8.6", "8.9") else 2048}
  core_count: {cores}
  fpus_per_core: {round(device.get("lanes_per_sm", lanes))}
  block_dim_limit_x: 2147483647
  block_dim_limit_y: 65535
  block_dim_limit_z: 65535
  memory_bandwidth: {round(quantity(device["memory_bandwidth"]))}
  l2_cache_size: {round(figure("l2_capacity", 40 * 2**20, "40 MiB"))}
  clock_rate_ghz: {clock:.6g}
  device_memory_size: {memory}
  shared_memory_per_block_optin: {block_shared}
  cuda_compute_capability {{ major: {major} minor: {minor} }}
  registers_per_core_limit: 65536
  registers_per_block_limit: 65536
}}
platform_name: "CUDA"
dnn_version_info {{ major: 9 minor: 10 patch: 0 }}
device_description_str: "{NAMES.get(name, name)}"
"""
    return text, guessed


def device_file(name, data):
    """The JSON of a preset (in the folder `data`) or of a path."""
    path = pathlib.Path(name)
    if not name.endswith(".json"):
        known = {each.stem.lower(): each for each in (pathlib.Path(data) / "devices").glob("*.json")}
        if name.lower() not in known:
            raise ValueError(f"no device is called `{name}`; `hespas devices` lists them")
        path = known[name.lower()]
    return json.loads(path.read_text())


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: targets.py DATA-FOLDER DEVICE   prints the target configuration, guessed fields as comments")
    text, guessed = target_config(device_file(sys.argv[2], sys.argv[1]))
    print("".join(f"# guessed: {each}\n" for each in guessed) + text, end="")


if __name__ == "__main__":
    main()
