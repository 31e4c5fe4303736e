#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the texts on which readers begin (parts.h): those that the tests have, and files of the project.

    texts.py FOLDER

Texts are string literals of several lines in C tests, documents within shell tests, files of tests/fuzz/corpus, and what
tests/fuzz/corpus/parts has: inputs that once broke a reader, and kinds that no test shows.
"""
import glob
import os
import re
import sys

MOST = 2048  # bytes of a text; more of it shows a reader nothing new
LITERAL = r'"(?:[^"\\\n]|\\.)*"'


def of_c(text):
    for group in re.findall(rf"{LITERAL}(?:\s*{LITERAL})*", text):
        joined = "".join(part[1:-1] for part in re.findall(LITERAL, group))
        yield joined.encode().decode("unicode_escape").encode("latin-1")


def of_shell(text):
    for _, body in re.findall(r"<<-? *['\"]?(\w+)['\"]?[^\n]*\n(.*?)\n\t*\1\n", text, re.S):
        yield (body + "\n").encode()
    for words in re.findall(r"printf '((?:[^'])*)'", text):
        yield words.replace("%%", "%").encode().decode("unicode_escape", "replace").encode("latin-1", "replace")


def of_input(text):
    """The files of an input of a whole command; a name with a path is a file of the project."""
    for part in text.split("\n=== ")[1:]:
        yield part.partition("\n")[2].encode()


def texts():
    """Pairs of a name and a text."""
    for pattern, cut in (("tests/*/*.c", of_c), ("tests/*/*.sh", of_shell), ("tests/fuzz/corpus/*", of_input)):
        for path in sorted(filter(os.path.isfile, glob.glob(pattern))):
            with open(path, encoding="utf-8") as file:
                for n, text in enumerate(cut(file.read())):
                    if b"\n" in text[:-1]:
                        yield f"{os.path.basename(path)}-{n}", text
    for pattern in ("models/devices/*.ini", "models/apps/*.csv", "traces/samples/*", "traces/serving/*", "tests/golden/*.csv",
                    "tests/golden/*.ini", "tests/fuzz/corpus/parts/*"):
        for path in sorted(filter(os.path.isfile, glob.glob(pattern))):
            with open(path, "rb") as file:
                yield f"{os.path.basename(os.path.dirname(path))}-{os.path.basename(path)}", file.read()


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    known = set()
    for name, text in texts():
        text = text[:MOST]
        if len(text) > 8 and text not in known:
            known.add(text)
            with open(os.path.join(folder, name), "wb") as out:
                out.write(text)
    return not known


if __name__ == "__main__":
    sys.exit(main())
