#!/usr/bin/env python3
"""many-kernels.py DIR COUNT: ten code objects, one a target, that declare COUNT kernels together:
ELF headers and metadata notes alone, all that a lister reads."""
import os
import struct
import sys

TARGETS = {'gfx900': 0x2c, 'gfx906': 0x2f, 'gfx908': 0x30, 'gfx90a': 0x3f, 'gfx942': 0x4c,
           'gfx1010': 0x33, 'gfx1030': 0x36, 'gfx1100': 0x41, 'gfx1101': 0x46, 'gfx1201': 0x4e}


def pack(v):
    if isinstance(v, bool):
        return b'\xc3' if v else b'\xc2'
    if isinstance(v, int):
        return struct.pack('>BI', 0xce, v)
    if isinstance(v, str):
        return struct.pack('>BH', 0xda, len(v)) + v.encode()
    if isinstance(v, list):
        return struct.pack('>BI', 0xdd, len(v)) + b''.join(map(pack, v))
    return struct.pack('>BI', 0xdf, len(v)) + b''.join(pack(k) + pack(x) for k, x in v.items())


def kernel(i):
    name = 'tensile_contraction_batch_%05d_tile_%dx%d_unroll_%d' % (i, 16 << i % 4, 32 << i % 3, i % 7)
    mangled = '_ZN3lib%d%sIfEEvPKfPfi' % (len(name), name)
    args = [{'.offset': 0, '.size': 8, '.value_kind': 'global_buffer'}]
    if i % 20 == 0:
        args.append({'.offset': 88, '.size': 8, '.value_kind': 'hidden_hostcall_buffer'})
    return {'.name': mangled, '.symbol': mangled + '.kd', '.args': args,
            '.kernarg_segment_size': 280, '.kernarg_segment_align': 8, '.wavefront_size': 64,
            '.group_segment_fixed_size': 1024 * (i % 33), '.private_segment_fixed_size': 16 * (i % 9),
            '.sgpr_count': 20 + i % 80, '.vgpr_count': 16 + i * 7 % 240, '.max_flat_workgroup_size': 256,
            '.sgpr_spill_count': i % 5, '.vgpr_spill_count': 0}


def main(folder, count):
    os.makedirs(folder, exist_ok=True)
    for target, mach in TARGETS.items():
        desc = pack({'amdhsa.version': [1, 2], 'amdhsa.target': 'amdgcn-amd-amdhsa--' + target,
                     'amdhsa.kernels': [kernel(i) for i in range(count // len(TARGETS))]})
        note = struct.pack('<III', 7, len(desc), 32) + b'AMDGPU\0\0' + desc
        note += bytes(-len(note) % 4)
        head = b'\x7fELF\x02\x01\x01\x40\x04' + bytes(7)
        head += struct.pack('<HHIQQQIHHHHHH', 3, 224, 1, 0, 64, 0, mach, 64, 56, 1, 0, 0, 0)
        head += struct.pack('<IIQQQQQQ', 4, 4, 120, 0, 0, len(note), len(note), 4)
        with open(os.path.join(folder, target + '.co'), 'wb') as f:
            f.write(head + note)


if __name__ == '__main__':
    main(sys.argv[1], int(sys.argv[2]))
