# SPDX-License-Identifier: GPL-3.0-or-later
"""pip install ./python: gsim's Makefile compiles the module, for the interpreter that installs it."""
import os
import re
import shutil
import subprocess
import sys
import sysconfig

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)


def version():
    with open(os.path.join(ROOT, "sim", "app", "identity", "program.h"), encoding="utf-8") as file:
        return re.search(r'#define GSIM_VERSION "(.*)"', file.read()).group(1)


class Make(build_ext):
    """Runs make in the repository, which knows the sources and their flags."""

    def build_extension(self, extension):
        subprocess.run(["make", "-C", ROOT, "python", f"PYTHON={sys.executable}"], check=True,
                       stdout=sys.stderr)
        made = os.path.join(HERE, "gsim", "_gsim" + sysconfig.get_config_var("EXT_SUFFIX"))
        to = self.get_ext_fullpath(extension.name)
        os.makedirs(os.path.dirname(to), exist_ok=True)
        if os.path.abspath(to) != made:
            shutil.copyfile(made, to)


setup(
    name="gsim",
    version=version(),
    description="a trace-driven simulator of how jobs share GPUs",
    license="GPL-3.0-or-later",
    python_requires=">=3.10",
    packages=["gsim"],
    package_data={"gsim": ["py.typed", "*.pyi"]},
    ext_modules=[Extension("gsim._gsim", sources=[])],
    cmdclass={"build_ext": Make},
    zip_safe=False,
)
