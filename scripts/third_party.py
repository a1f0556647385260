#!/usr/bin/env python3
"""usage: third_party.py OUTPUT PROGRAM...    what a package carries of others: OUTPUT/licences/ and OUTPUT/hespas.spdx.json (SPDX 2.3)

Shared libraries are those that the programs load; what is compiled in has no trace in them and is listed here. A library without a
known licence is an error: whoever adds one adds its line.
"""
import datetime
import importlib.metadata
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMPILED_IN = ("libcli11-dev", "libprotozero-dev", "libssl-dev", "libxxhash-dev", "nlohmann-json3-dev")
LICENCES = {
    "libc6": None,  # not carried: every system has its own
    "libcli11-dev": "BSD-3-Clause", "libexpat1": "MIT", "libfmt9": "MIT", "libgcc-s1": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "libnlopt0": "LGPL-2.1-or-later", "libprotozero-dev": "BSD-2-Clause", "libspdlog1.10": "MIT",
    "libsqlite3-0": "blessing", "libssl-dev": "Apache-2.0", "libstdc++6": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "libxxhash-dev": "BSD-2-Clause", "libyaml-cpp0.7": "MIT", "libzstd1": "BSD-3-Clause",
    "nlohmann-json3-dev": "MIT", "zlib1g": "Zlib",
}


def answer(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def owner(library):
    """The Debian package that `library` comes from; packages name files below /usr or below /."""
    real = os.path.realpath(library)
    for path in (real, real.removeprefix("/usr")):
        found = subprocess.run(["dpkg", "-S", path], capture_output=True, text=True)
        if found.returncode == 0:
            return found.stdout.split(":")[0]
    sys.exit(f"third_party.py: no package owns {library}")


def shared(programs):
    loaded = {path for program in programs for path in re.findall(r"=> (/\S+)", answer("ldd", program))}
    return {owner(path) for path in loaded}


def debian(name):
    version, architecture = answer("dpkg-query", "-W", "-f", "${Version} ${Architecture}\n", name).splitlines()[0].split()
    return {"name": name, "version": version, "licence": LICENCES[name], "text": [f"/usr/share/doc/{name}/copyright"],
            "purl": f"pkg:deb/debian/{name}@{version}?arch={architecture}"}


def echarts():
    """The charts of report.html, where the build carries them."""
    found = subprocess.run([ROOT / "scripts/npm_env.sh", "report", "--cached"], capture_output=True, text=True)
    folder = pathlib.Path(found.stdout.strip()) / "echarts"
    if found.returncode or not folder.is_dir():
        return []
    version = json.loads((folder / "package.json").read_text())["version"]
    return [{"name": "echarts", "version": version, "licence": "Apache-2.0", "text": [folder / "LICENSE", folder / "NOTICE"],
             "purl": f"pkg:npm/echarts@{version}"}]


def bindings(programs):
    """nanobind, where a Python module is among the programs; this Python has it."""
    if not any(pathlib.Path(program).name.startswith("_core.") for program in programs):
        return []
    found = importlib.metadata.distribution("nanobind")
    texts = [found.locate_file(path) for path in found.files if "licen" in path.name.lower()]
    return [{"name": "nanobind", "version": found.version, "licence": "BSD-3-Clause AND MIT", "text": texts, "purl": f"pkg:pypi/nanobind@{found.version}"}]


def package(part):
    return {"SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", part["name"]), "name": part["name"], "versionInfo": part["version"],
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "copyrightText": "NOASSERTION",
            "licenseConcluded": part["licence"], "licenseDeclared": part["licence"],
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": part["purl"]}]}


def document(version, parts):
    # Reproducible where SOURCE_DATE_EPOCH says when.
    now = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", datetime.datetime.now().timestamp())), datetime.timezone.utc)
    own = package({"name": "hespas", "version": version, "licence": "MIT", "purl": f"pkg:generic/hespas@{version}"})
    others = [package(part) for part in parts]
    contains = [{"spdxElementId": own["SPDXID"], "relationshipType": "CONTAINS", "relatedSpdxElement": other["SPDXID"]} for other in others]
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"hespas-{version}",
            "documentNamespace": f"urn:hespas:sbom:{version}:{now:%Y%m%dT%H%M%SZ}",
            "creationInfo": {"created": f"{now:%Y-%m-%dT%H:%M:%SZ}", "creators": ["Organization: Hespas contributors"]},
            "packages": [own, *others],
            "relationships": [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": own["SPDXID"]},
                              *contains]}


def main():
    output, programs = pathlib.Path(sys.argv[1]), sys.argv[2:]
    names = sorted(shared(programs) | set(COMPILED_IN))
    unknown = [name for name in names if name not in LICENCES]
    if unknown:
        sys.exit(f"third_party.py: add the licences of {', '.join(unknown)}")
    parts = [debian(name) for name in names if LICENCES[name]] + echarts() + bindings(programs)
    shutil.rmtree(output, ignore_errors=True)
    for part in parts:
        for text in part["text"]:
            target = output / "licences" / part["name"] / pathlib.Path(text).name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(text, target)
    version = answer(programs[0], "--version").split()[1]
    (output / "hespas.spdx.json").write_text(json.dumps(document(version, parts), indent=1) + "\n")


main()
