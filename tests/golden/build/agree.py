"""agree.py BUILD.json INSPECT.json: the facts of every kernel, file by file, are the same."""
import json
import sys

with open(sys.argv[1]) as f:
    build = {o['file']: o['kernels'] for o in json.load(f)['objects']}
with open(sys.argv[2]) as f:
    inspect = {f['file']: f['code_objects'][0]['kernels'] for f in json.load(f)['files']}
if sorted(build) != sorted(inspect):
    sys.exit('the files differ: %s, %s' % (sorted(build), sorted(inspect)))
facts = 0
for path, kernels in build.items():
    if len(kernels) != len(inspect[path]):
        sys.exit('%s: %d kernels, %d' % (path, len(kernels), len(inspect[path])))
    for a, b in zip(kernels, inspect[path]):
        for key in set(a) - {'bundled', 'cases'}:
            if a[key] != b[key]:
                sys.exit('%s: %s: %s: %s, %s' % (path, a['name'], key, a[key], b[key]))
            facts += 1
print('%d files, %d facts: the same' % (len(build), facts))
