#!/usr/bin/env python3
"""embed.py OUTPUT FILE...: a C file with the bytes of each FILE, named by its last part."""
import os
import sys


def c_array(name, data):
    rows = [', '.join(str(b) for b in data[i:i + 20]) for i in range(0, len(data), 20)]
    return 'static const char %s[] = {\n\t%s,\n\t0,\n};\n' % (name, ',\n\t'.join(rows))


def main(output, files):
    out = ['#include "kernels/table.h"\n\n#include <string.h>\n\n']
    table = []
    for i, path in enumerate(files):
        with open(path, 'rb') as f:
            data = f.read()
        if max(data) > 127:
            sys.exit('embed.py: %s: not ASCII' % path)
        out.append(c_array('file_%d' % i, data))
        table.append('\t{"%s", file_%d, %d},\n' % (os.path.basename(path), i, len(data)))
    out.append('\nconst struct rck_embedded rck_embedded_files[] = {\n%s\t{0},\n};\n'
               % ''.join(table))
    out.append('''
const struct rck_embedded *rck_embedded_find(const char *name)
{
	for (const struct rck_embedded *f = rck_embedded_files; f->name; f++)
		if (!strcmp(f->name, name))
			return f;
	return NULL;
}
''')
    with open(output, 'w', encoding='ascii') as f:
        f.write(''.join(out))


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2:])
