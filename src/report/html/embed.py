#!/usr/bin/env python3
"""embed.py OUTPUT FILE...: a C file with each FILE as rck_page_EXTENSION, a string."""
import sys


def main(output, files):
    out = ['#include "report/html/page.h"\n']
    for path in files:
        with open(path, 'rb') as f:
            data = f.read()
        if max(data) > 127:
            sys.exit('embed.py: %s: not ASCII' % path)
        rows = [', '.join(str(b) for b in data[i:i + 20]) for i in range(0, len(data), 20)]
        out.append('\nconst char rck_page_%s[] = {\n\t%s,\n\t0,\n};\n'
                   % (path.rsplit('.', 1)[1], ',\n\t'.join(rows)))
    with open(output, 'w', encoding='ascii') as f:
        f.write(''.join(out))


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2:])
