#!/usr/bin/env python3
"""target.py FACTS-PROGRAM: target ids from e_flags against llvm-readelf -h.

A bare ELF header for every processor number, and for every state of the features, in each code
object version. We know more numbers than LLVM 22: NEWER and OLDER, and no others.
"""
import re
import struct
import subprocess
import sys

import lib

NEWER = {'gfx1310', 'gfx12-5-generic', 'gfx1170', 'gfx1171', 'gfx1172'}
OLDER = {'gfx940', 'gfx941'}


def header(version, flags):
    ident = b'\x7fELF\x02\x01\x01\x40' + bytes([version - 2]) + b'\0' * 7
    return ident + struct.pack('<HHIQQQIHHHHHH', 3, 224, 1, 0, 0, 0, flags, 64, 56, 0, 64, 0, 0)


def llvm_target(line, version):
    """The target id of readelf's line of flags, by our spelling, or None when it names none."""
    words = line.split(', ')[1:]
    names = [w for w in words if w.startswith('gfx')]
    if not names:
        return None
    target = names[0]
    for feature in ('sramecc', 'xnack'):
        for word in words:
            if word == feature + '+' or (word == feature and version < 4):
                target += ':%s+' % feature
            elif word == feature + '-':
                target += ':%s-' % feature
    return target


def main():
    program = sys.argv[1]
    tap = lib.Tap()
    readelf = lib.tool('llvm-readelf-22')
    if not readelf:
        tap.skip('targets', 'llvm-readelf-22 is not installed')
        return tap.exit()
    for version in (3, 4, 5, 6):
        flags = list(range(256)) + [0x3f | f << 8 for f in range(16)] + [0x51 | 3 << 24]
        with lib.scratch() as folder:
            paths = ['%s/%d' % (folder, i) for i in range(len(flags))]
            for path, f in zip(paths, flags):
                with open(path, 'wb') as out:
                    out.write(header(version, f))
            p = subprocess.run([readelf, '-h'] + paths, capture_output=True, text=True)
            theirs = [llvm_target(line, version)
                      for line in re.findall(r'Flags: +(0x.*)', p.stdout)]
            ours = [co['target'] for co in lib.facts(program, paths)]
        wrong, known = [], 0
        for f, a, b in zip(flags, ours, theirs):
            name = a.split(':')[0]
            if version == 3:
                a = re.sub(r':\w+-', '', a)  # LLVM prints what is on
            known += b is not None
            if b is None and name not in NEWER | OLDER and not name.startswith('gfx?'):
                wrong.append('0x%x: ours %s, LLVM none' % (f, a))
            elif b is not None and a != b:
                wrong.append('0x%x: ours %s, LLVM %s' % (f, a, b))
        if len(theirs) != len(flags) or len(ours) != len(flags) or known < 60:
            wrong.append('%d headers, LLVM read %d and named %d, we read %d' %
                         (len(flags), len(theirs), known, len(ours)))
        tap.check('V%d: %d headers, %d processors' % (version, len(flags), known), wrong)
    return tap.exit()


if __name__ == '__main__':
    sys.exit(main())
