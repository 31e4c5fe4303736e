# SPDX-License-Identifier: GPL-3.0-or-later
"""The names that each source file defines for others and that it needs of others, or calls of a library, in the lines
in which nm prints those of objects: FILE.o: T NAME, FILE.o: U NAME. Files of a room are compiled as one, so that no
object tells them apart. What a header defines in place (a macro, an inline function) is part of each file that names it.

names.py [FOLDER]: the sources of FOLDER/{sim,models,policies,traces}, with the headers there and in FOLDER/include"""
import os
import re
import sys

NOISE = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*', re.S)
# Tags of types and members are names of another kind.
WORD = re.compile(r'(?<!\.)(?<!->)(?<!struct )(?<!union )(?<!enum )\b[A-Za-z_]\w*')
CALL = re.compile(r'(?<!\.)(?<!->)\b(?:[A-Za-z_]\w*(?=\()|std(?:in|out|err)\b)')
DIRECTIVE = re.compile(r'^#(?:[^\n]*\\\n)*[^\n]*', re.M)


def outside(code):
    """Yields each definition and declaration as its head, up to its first brace, and its whole text."""
    depth, whole, head = 0, '', ''
    for piece in re.split(r'(?<=[{};])', code):
        end = piece[-1:]
        whole += piece
        if depth == 0:
            head += piece
        depth += (end == '{') - (end == '}')
        # A type goes on behind its brace with the name of a variable.
        if depth == 0 and (end == ';' or end == '}' and re.search(r'[)=] ?(?:\[.*\] ?)?\{$', ' '.join(head.split()))):
            yield ' '.join(head.split()), whole
            whole = head = ''
        elif depth == 0 and end == '}':
            head += ' }'


def defined(head):
    """Returns the name that a file defines for others by what has this head, or None."""
    head = re.sub(r'__attribute__ ?\(\(.*?\)\)\)?', '', head).strip()
    is_own = re.match(r'(?:GSIM_\w+ )*(?:static|typedef|extern|_Static_assert|static_assert)\b', head)
    if is_own or (head.endswith(';') and '=' not in head):
        return None
    found = re.search(r'(\w+) ?[(\[=]', head)
    return found and found[1]


def pasted(text):
    """Returns the names that a file's macros make of the entries of lists."""
    for macro, _, prefix in re.findall(r'^#define (\w+)\((\w+)\b[^)]*\)[^\n]*?(\w+)##\2\b', text, re.M):
        for path in set(re.findall(r'^#include "([^"]*\.def)"', text, re.M)):
            with open(path if os.path.exists(path) else 'include/' + path, encoding='utf-8') as file:
                yield from (prefix + entry for entry in re.findall(rf'^{macro}\((\w+)', file.read(), re.M))


def parts(path):
    """Returns a file's text without comments and strings, and that without directives."""
    with open(path, encoding='utf-8') as file:
        whole = file.read()
    text = NOISE.sub(lambda m: ' ' if m[0][0] == '/' else '""', whole)
    return ' '.join([text, *pasted(whole)]), DIRECTIVE.sub('', text)


def paths(ending, *rooms):
    return sorted(os.path.join(at, name) for room in rooms for at, _, names in os.walk(room)
                  for name in names if name.endswith(ending))


def in_place():
    """Returns the words behind each macro and inline function of a header."""
    meant = {}
    for path in paths('.h', 'include', 'sim', 'models', 'policies', 'traces'):
        text, code = parts(path)
        for name, body in re.findall(r'^#define (\w+)((?:[^\n]*\\\n)*[^\n]*)', text, re.M):
            meant.setdefault(name, set()).update(WORD.findall(body))
        for head, whole in outside(code):
            name = re.match(r'static\b[^;=]*?(\w+)\(', head)
            if name:
                meant.setdefault(name[1], set()).update(WORD.findall(whole))
    return meant


def named(text, meant):
    """Returns the words of a text, and those that they stand for."""
    words, new = set(), set(WORD.findall(text))
    while new:
        words |= new
        new = set().union(*(meant.get(word, ()) for word in new)) - words
    return words


def main():
    os.chdir(sys.argv[1] if len(sys.argv) > 1 else '.')
    meant, owner, words, called = in_place(), {}, {}, {}
    for path in paths('.c', 'sim', 'models', 'policies', 'traces'):
        text, code = parts(path)
        words[path] = named(text, meant)
        called[path] = set(CALL.findall(text))
        for name in filter(None, (defined(head) for head, _ in outside(code))):
            owner[name] = path
            print(f'{path[:-1]}o: T {name}')
    for path, of_file in words.items():
        for name in sorted(of_file):
            if owner.get(name, path) != path:
                print(f'{path[:-1]}o: U {name}')
        for name in sorted(called[path] - owner.keys()):
            print(f'{path[:-1]}o: U {name}')


if __name__ == '__main__':
    main()
