#!/usr/bin/env python3
"""notes.py FACTS-PROGRAM [FILE...]: what we read of every kernel against llvm-readelf --notes.

Without files: real packages, fetched from their suites into the build folder, and the shared corpus.
"""
import os
import re
import subprocess
import sys

import lib

# our key: LLVM's in V3 and later, LLVM's in V2
NUMBERS = {
    'sgpr_count': ('.sgpr_count', 'NumSGPRs'),
    'vgpr_count': ('.vgpr_count', 'NumVGPRs'),
    'agpr_count': ('.agpr_count', None),
    'sgpr_spills': ('.sgpr_spill_count', 'NumSpilledSGPRs'),
    'vgpr_spills': ('.vgpr_spill_count', 'NumSpilledVGPRs'),
    'scratch': ('.private_segment_fixed_size', 'PrivateSegmentFixedSize'),
    'lds': ('.group_segment_fixed_size', 'GroupSegmentFixedSize'),
    'kernarg_size': ('.kernarg_segment_size', 'KernargSegmentSize'),
    'kernarg_align': ('.kernarg_segment_align', 'KernargSegmentAlign'),
    'wavefront_size': ('.wavefront_size', 'WavefrontSize'),
    'max_workgroup': ('.max_flat_workgroup_size', 'MaxFlatWorkGroupSize'),
}
# suite, package
PACKAGES = [('bookworm', 'librocrand1'), ('trixie', 'libspfft1'), ('sid', 'libspfft1')]


def snake(kind):
    return re.sub(r'(?<!^)(?=[A-Z])', '_', kind.replace('MultiGrid', 'Multigrid')).lower()


def compare_kernel(ours, theirs):
    """Lines of what differs."""
    v2 = 'Name' in theirs
    name = theirs['Name' if v2 else '.name']
    wrong = []

    def same(what, a, b):
        if a != b:
            wrong.append('%s: %s: ours %r, LLVM %r' % (name, what, a, b))

    same('name', ours['name'], str(name))
    same('symbol', ours['symbol'], str(name if v2 else theirs['.symbol']))
    for key, llvm in NUMBERS.items():
        if llvm[v2] in theirs:
            same(key, ours[key], theirs[llvm[v2]])
        elif key not in ('lds', 'scratch', 'kernarg_size', 'wavefront_size'):
            same(key, ours[key], None)
    kinds = [snake(a['ValueKind']) if v2 else a['.value_kind'] for a in theirs['args']]
    same('arguments', [a[0] for a in ours['args']], kinds)
    if not v2:
        same('offsets', [a[1:3] for a in ours['args']],
             [[a['.offset'], a['.size']] for a in theirs['args']])
        same('argument names', [a[3] for a in ours['args']],
             [None if '.name' not in a else str(a['.name']) for a in theirs['args']])
    same('hostcall', ours['declares_hostcall'], 'hidden_hostcall_buffer' in kinds)
    same('heap', ours['declares_heap'], 'hidden_heap_v1' in kinds)
    # the descriptor may say yes where the metadata is silent
    stack = theirs.get('IsDynamicCallStack' if v2 else '.uses_dynamic_stack')
    if stack in (1, 'true'):
        same('dynamic stack', ours['dynamic_stack'], True)
    elif stack in (0, 'false'):
        same('dynamic stack', ours['dynamic_stack'], False)
    return wrong


def compare_file(program, readelf, path):
    """(lines of what differs, kernels compared)"""
    wrong, n = [], 0
    with lib.scratch() as folder:
        objects = lib.facts(program, [path], folder)
        if not objects:
            return ['no code object found'], 0
        for co in objects:
            theirs = lib.llvm_notes(readelf, '%s/%d' % (folder, co['number']))
            if len(theirs) != len(co['kernels']):
                wrong.append('%s: %d kernels, LLVM %d' %
                             (co['where'], len(co['kernels']), len(theirs)))
                continue
            for a, b in zip(co['kernels'], theirs):
                wrong += [co['where'] + ': ' + w for w in compare_kernel(a, b)]
            n += len(theirs)
    return wrong, n


def fetch(suite, package):
    """The package's library, or the reason why there is none."""
    top, build = os.environ['RCK_SOURCE_DIR'], os.environ['RCK_BUILD_DIR']
    folder = os.path.join(build, 'packages', '%s-%s' % (suite, package))
    p = subprocess.run([os.path.join(top, 'scripts', 'fetch-rocm'), '--suite', suite,
                        '--alone', package, folder], capture_output=True, text=True)
    found = []
    for root, _, names in os.walk(os.path.join(folder, 'usr', 'lib')):
        found += [os.path.join(root, f) for f in names
                  if '.so' in f and not os.path.islink(os.path.join(root, f))]
    if found:
        return sorted(found), p.stdout.strip() or 'fetched earlier'
    return None, (p.stderr.strip().splitlines() or ['nothing fetched'])[-1]


def main():
    program, files = sys.argv[1], sys.argv[2:]
    tap = lib.Tap()
    readelf = lib.tool('llvm-readelf-22')

    def run(name, path):
        if not readelf:
            return tap.skip(name, 'llvm-readelf-22 is not installed')
        try:
            wrong, n = compare_file(program, readelf, path)
        except RuntimeError as e:
            wrong, n = [str(e)], 0
        return tap.check('%s: %d kernels as LLVM reads them' % (name, n), wrong)

    for path in files:
        run(os.path.basename(path), path)
    if files:
        return tap.exit()
    for suite, package in PACKAGES:
        found, what = fetch(suite, package)
        if not found:
            tap.skip('%s of %s' % (package, suite), what)
            continue
        for path in found:
            run('%s of %s (%s)' % (os.path.basename(path), suite, what), path)
    if lib.shared():
        corpus = os.path.join(lib.shared(), 'corpus')
        for name in sorted(os.listdir(corpus)):
            if not name.endswith('.md'):
                run(name, os.path.join(corpus, name))
    else:
        tap.skip('shared corpus', 'no ../shared beside the clone')
    return tap.exit()


if __name__ == '__main__':
    sys.exit(main())
