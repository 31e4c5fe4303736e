# SPDX-License-Identifier: GPL-3.0-or-later
"""python_page.py PAGE FOLDER: prints the page with what its blocks of Python print, one after the other
as one program run in the folder, in a block of text below each."""
import contextlib
import io
import os
import re
import sys
import warnings

BLOCK = re.compile(r"```python\n(.*?)```\n(?:\n```text\n.*?```\n)?", re.S)


def main(page, folder):
    with open(page, encoding="utf-8") as file:
        text = file.read()
    os.chdir(folder)
    warnings.simplefilter("ignore")
    names = {"__name__": "page"}

    def shown(match):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(match.group(1), os.path.basename(page), "exec"), names)
        block = f"```python\n{match.group(1)}```\n"
        return block + (f"\n```text\n{out.getvalue()}```\n" if out.getvalue() else "")

    sys.stdout.write(BLOCK.sub(shown, text))


main(*sys.argv[1:3])
