# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints each source file that names a function, macro or constant of a header which it does not include, itself or by
another header, or that does not include its own header. Files of a room are compiled as one, where the includes of one file are there for the next.

included.py [FOLDER]: the sources and headers of FOLDER/{include,sim,models,policies,traces}"""
import os
import re
import sys

from names import CALL, WORD, outside, parts, paths

ROOMS = ('sim', 'models', 'policies', 'traces')


def declared(text, code):
    """Returns the functions, macros and constants of a header."""
    found = set(re.findall(r'^ *# *define (\w+)', text, re.M))
    for head, whole in outside(code):
        found.update(re.findall(r'(\w+)\(', re.sub(r'__attribute__ ?\(\(.*?\)\)\)?', '', head))[:1])
        for constants in re.findall(r'\benum(?: \w+)? \{([^}]*)\}', whole):
            found.update(re.findall(r'(?:^|,)\s*(\w+)', constants))
    return found


def main():
    os.chdir(sys.argv[1] if len(sys.argv) > 1 else '.')
    includes, of_header, where = {}, {}, {}
    files = paths('.c', *ROOMS) + paths('.h', 'include', *ROOMS) + paths('.def', 'include', *ROOMS)
    for path in files:
        with open(path, encoding='utf-8') as file:
            named = re.findall(r'^ *# *include "([^"]*)"', file.read(), re.M)
        beside = os.path.dirname(path) + '/'
        includes[path] = [next((at + name for at in ('', beside) if os.path.exists(at + name)), 'include/' + name) for name in named]
        if not path.endswith('.c'):
            of_header[path] = declared(*parts(path))
            for name in of_header[path]:
                where.setdefault(name, path)
    for path in paths('.c', *ROOMS):
        reached, new = set(), {path}
        while new:
            reached |= new
            new = {name for at in new for name in includes.get(at, ())} - reached
        text, code = parts(path)
        there = declared(text, code).union(*(of_header.get(name, ()) for name in reached))
        there.update(re.findall(r'\bconst \w+ (\w+)', text))
        used = set(CALL.findall(text)) | {word for word in WORD.findall(text) if word.isupper()}
        for name in sorted((used & where.keys()) - there):
            print(f'{path} names {name} without {where[name]}')
        own = path[:-1] + 'h'
        if os.path.exists(own) and own not in reached:
            print(f'{path} is without its own {own}')


main()
