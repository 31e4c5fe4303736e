# SPDX-License-Identifier: GPL-3.0-or-later
"""pip install ./python: gsim's Makefile compiles the module, for the interpreter that installs it,
and this packs a wheel of it (PEP 517, 427). pip builds in an environment without any package, so
only Python's own library is used: neither setuptools nor a network is needed."""
import base64
import hashlib
import os
import re
import subprocess
import sys
import sysconfig
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
MODULE = "_gsim" + sysconfig.get_config_var("EXT_SUFFIX")


def _version():
    with open(os.path.join(ROOT, "sim", "app", "identity", "program.h"), encoding="utf-8") as file:
        return re.search(r'#define GSIM_VERSION "(.*)"', file.read()).group(1)


def _tag():
    python = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    platform = re.sub(r"[-.]", "_", sysconfig.get_platform())
    return f"{python}-{python}{sys.abiflags}-{platform}"


def _metadata():
    return ("Metadata-Version: 2.1\nName: gsim\n" f"Version: {_version()}\n"
            "Summary: a trace-driven simulator of how jobs share GPUs\n"
            "License: GPL-3.0-or-later\nRequires-Python: >=3.10\n")


def _files(package):
    """The files of the package and their bytes; make has the sources of the module and their flags."""
    for name in sorted(os.listdir(package)):
        if name.endswith((".py", ".pyi")) or name in ("py.typed", MODULE):
            with open(os.path.join(package, name), "rb") as file:
                yield f"gsim/{name}", file.read()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    subprocess.run(["make", "-C", ROOT, "python", f"PYTHON={sys.executable}"], check=True,
                   stdout=sys.stderr)
    info = f"gsim-{_version()}.dist-info"
    files = list(_files(os.path.join(HERE, "gsim"))) + [
        (f"{info}/METADATA", _metadata().encode()),
        (f"{info}/WHEEL", ("Wheel-Version: 1.0\nGenerator: gsim\nRoot-Is-Purelib: false\n"
                           f"Tag: {_tag()}\n").encode())]
    record = "".join("{},sha256={},{}\n".format(
        name, base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode(),
        len(data)) for name, data in files)
    files.append((f"{info}/RECORD", f"{record}{info}/RECORD,,\n".encode()))
    wheel = f"gsim-{_version()}-{_tag()}.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, wheel), "w", zipfile.ZIP_DEFLATED) as out:
        for name, data in files:
            entry = zipfile.ZipInfo(name)  # of 1980, whenever it is built
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            out.writestr(entry, data)
    return wheel


def build_sdist(sdist_directory, config_settings=None):
    raise NotImplementedError("the package is built in gsim's repository: pip install ./python")
