#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a command whose standard error is a terminal of COLUMNS x ROWS, and prints what the terminal
showed: the largest number of rows and columns in use, the last of the fullest pages, and how many
rows were left at the end. It knows the sequences that gsim uses, and stops at any other."""
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios

PIECE = re.compile(r"\x1b\[(\d*)([AJK])|\r\n|\r|\n|[^\x1b\r\n]+")


class Screen:
    """A terminal that does not scroll: rows below the last one would be lost, and are counted."""

    def __init__(self):
        self.rows, self.at, self.column = [""], 0, 0

    def line_feed(self):
        self.at, self.column = self.at + 1, 0
        while len(self.rows) <= self.at:
            self.rows.append("")

    def put(self, text):
        row = self.rows[self.at].ljust(self.column)
        self.rows[self.at] = row[: self.column] + text + row[self.column + len(text):]
        self.column += len(text)

    def obey(self, number, what):
        if what == "A":
            self.at = max(0, self.at - int(number or 1))
        elif what == "K":
            self.rows[self.at] = self.rows[self.at][: self.column]
        else:
            self.rows = self.rows[: self.at] + [self.rows[self.at][: self.column]]

    def take(self, text):
        end = 0
        for piece in PIECE.finditer(text):
            assert piece.start() == end, repr(text[end:end + 20])
            end = piece.end()
            if piece.group(2):
                self.obey(piece.group(1), piece.group(2))
            elif piece.group() == "\r":
                self.column = 0
            elif piece.group().endswith("\n"):
                self.line_feed()
            else:
                self.put(piece.group())
        assert end == len(text), repr(text[end:])

    def used(self):
        return [row.rstrip() for row in self.rows if row.strip()]


def read(terminal):
    try:
        return os.read(terminal, 1 << 20)
    except OSError:  # the last process that had it open has ended
        return b""


def main():
    columns, rows, out = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    terminal, end = pty.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    with open(out, "wb") as file:
        child = subprocess.Popen(sys.argv[4:], stdout=file, stderr=end)
    os.close(end)
    written = b""
    while piece := read(terminal):
        written += piece
    child.wait()
    screen, most_rows, most_columns, fullest = Screen(), 0, 0, []
    *pages, rest = re.split(r"(?=\x1b\[\d+A)", written.decode())
    for page in pages:
        screen.take(page)
        most_rows = max(most_rows, len(screen.rows))
        most_columns = max([most_columns] + [len(row) for row in screen.rows])
        if len(screen.used()) >= len(fullest):
            fullest = screen.used()
    screen.take(rest)
    print("rows", most_rows)
    print("columns", most_columns)
    print("exit", child.returncode)
    print("left", len(screen.used()))
    for row in fullest:
        print("|" + row)


main()
