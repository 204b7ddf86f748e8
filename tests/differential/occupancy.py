#!/usr/bin/env python3
"""occupancy.py FACTS-PROGRAM: our occupancy against clang's kernel-resource-usage remark.

Kernels with chosen registers, LDS and work-group sizes are compiled for every target of LLVM 22;
clang says 'Occupancy [waves/SIMD]' for each and we read the object. LLVM 15 reckons LDS and
work-group sizes otherwise (it lets each SIMD have all of a CU's LDS), so it is held to registers.
"""
import re
import subprocess
import sys

import lib

SIZES = [(1, 64), (1, 256), (1, 1024), (64, 64), (256, 256), (1024, 1024), (33, 33), (320, 320)]
LDS = [0, 1024, 8192, 20000, 32768]
LDS_LARGE = [33000, 65536]
VGPRS = [23, 24, 31, 32, 36, 40, 64, 72, 84, 96, 127, 128, 168, 255]
SGPRS = [40, 60, 79, 81, 87, 97, 101]
WAVES = ['1,2', '2,4', '4,4']

GFX10_UP = ['gfx1010', 'gfx1011', 'gfx1012', 'gfx1013', 'gfx1030', 'gfx1031', 'gfx1032', 'gfx1033',
            'gfx1034', 'gfx1035', 'gfx1036', 'gfx1100', 'gfx1101', 'gfx1102', 'gfx1103', 'gfx1150',
            'gfx1151', 'gfx1152', 'gfx1153', 'gfx1200', 'gfx1201', 'gfx10-1-generic',
            'gfx10-3-generic', 'gfx11-generic', 'gfx12-generic']
WAVE64_ONLY = ['gfx600', 'gfx601', 'gfx602', 'gfx700', 'gfx701', 'gfx702', 'gfx703', 'gfx704',
               'gfx705', 'gfx801', 'gfx802', 'gfx803', 'gfx805', 'gfx810', 'gfx900', 'gfx902',
               'gfx904', 'gfx906', 'gfx908', 'gfx909', 'gfx90a', 'gfx90c', 'gfx942', 'gfx950',
               'gfx9-generic', 'gfx9-4-generic']
LLVM_15 = ['gfx600', 'gfx700', 'gfx803', 'gfx900', 'gfx906', 'gfx908', 'gfx90a', 'gfx1010', 'gfx1030']
FEW_SGPRS = {'gfx802', 'gfx803', 'gfx805'}  # 96 a wave, always: a defect of the hardware
AGPR = {'gfx908', 'gfx90a', 'gfx942', 'gfx950', 'gfx9-4-generic'}


class Source:
    def __init__(self):
        self.text = []
        self.what = {}

    def kernel(self, size, lds=0, clobbers=(), waves=None):
        name = 'k%d' % len(self.what)
        attributes = ['reqd_work_group_size(%d,1,1)' % size[0] if size[0] == size[1] else
                      'amdgpu_flat_work_group_size(%d,%d)' % size]
        if waves:
            attributes.append('amdgpu_waves_per_eu(%s)' % waves)
        body = ''
        if lds:
            body += ('local char lds[%d]; lds[__builtin_amdgcn_workitem_id_x()] = p[1]; '
                     '__builtin_amdgcn_s_barrier(); p[0] = lds[5]; ' % lds)
        for register in clobbers:
            body += '__asm__ volatile("" ::: "%s"); ' % register
        self.text.append('__attribute__((%s)) kernel void %s(global int *p) { %sp[2] = 3; }' %
                         (', '.join(attributes), name, body))
        self.what[name] = (size, lds, clobbers, waves)


def kernels(target, registers_only):
    s = Source()
    if not registers_only:
        lds = LDS + ([] if target.startswith('gfx6') else LDS_LARGE)
        for size in SIZES:
            for n in lds:
                s.kernel(size, n)
    for v in VGPRS:
        s.kernel((1, 64), 0, ['v%d' % v])
        if v < 127:
            s.kernel((1, 1024), 0, ['v%d' % v])
        if target in AGPR and v < 100:
            s.kernel((1, 256), 0, ['v%d' % v, 'a%d' % (v // 2)])
    for n in SGPRS:
        if n > 90 and target in FEW_SGPRS:
            continue
        s.kernel((1, 256), 0, ['s%d' % n])
    for w in WAVES:
        s.kernel((1, 256), 0, [], w)
    return s


def remarks(text):
    found, name = {}, None
    for line in text.splitlines():
        m = re.search(r'remark:\s+(Function Name|Occupancy \[waves/SIMD\]): (\S+)', line)
        if m and m.group(1) == 'Function Name':
            name = m.group(2)
        elif m:
            found[name] = int(m.group(2))
    return found


def compare(program, clang, target, options, registers_only):
    """(lines of what differs, kernels compared)"""
    s = kernels(target, registers_only)
    with lib.scratch() as folder:
        with open(folder + '/k.cl', 'w', encoding='utf-8') as f:
            f.write('\n'.join(s.text))
        p = subprocess.run(
            [clang, '-x', 'cl', '-cl-std=CL2.0', '-target', 'amdgcn-amd-amdhsa', '-mcpu=' + target,
             '-nogpulib', '-O2', '-c', folder + '/k.cl', '-o', folder + '/k.o',
             '-Rpass-analysis=kernel-resource-usage'] + options, capture_output=True, text=True)
        if p.returncode:
            return [line for line in p.stderr.splitlines() if 'error' in line], 0
        theirs = remarks(p.stderr)
        ours = {k['name']: k for co in lib.facts(program, [folder + '/k.o']) for k in co['kernels']}
    wrong = []
    if set(ours) != set(s.what) or set(theirs) != set(s.what):
        return ['%d kernels, clang %d, we %d' % (len(s.what), len(theirs), len(ours))], 0
    limits = set()
    for name, what in s.what.items():
        k = ours[name]
        limits.add(k['occupancy_limit'])
        if k['occupancy'] != theirs[name]:
            wrong.append('%s %r: ours %r (%s), clang %d' %
                         (name, what, k['occupancy'], k['occupancy_limit'], theirs[name]))
        if what[1] >= 32768 and what[0] == (64, 64) and k['occupancy_limit'] != 'lds':
            wrong.append('%s %r: limited by %s, not lds' % (name, what, k['occupancy_limit']))
        if 'v255' in what[2] and k['occupancy_limit'] != 'vgpr':
            wrong.append('%s %r: limited by %s, not vgpr' % (name, what, k['occupancy_limit']))
    if not limits >= {'vgpr', 'sgpr' if target in FEW_SGPRS else 'none'}:
        wrong.append('limits seen: %s' % ', '.join(sorted(limits)))
    return wrong, len(theirs)


def main():
    program = sys.argv[1]
    tap = lib.Tap()
    for clang, targets in (('clang-22', WAVE64_ONLY + GFX10_UP + ['gfx1250', 'gfx1251']),
                           ('clang-15', LLVM_15)):
        runs = [(t, []) for t in targets]
        runs += [(t, o) for t in targets if t in GFX10_UP
                 for o in (['-mwavefrontsize64'], ['-mcumode'])]
        if not lib.tool(clang):
            tap.skip(clang, clang + ' is not installed')
            continue
        for target, options in runs:
            wrong, n = compare(program, clang, target, options, clang == 'clang-15')
            tap.check(' '.join([clang, target] + options + ['(%d kernels)' % n]), wrong)
    return tap.exit()


if __name__ == '__main__':
    sys.exit(main())
