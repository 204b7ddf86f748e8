; Defects that no compiler makes: a load used before its wait, a register never written.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1030"
	.text
	.globl	nowait
	.p2align 8
	.type	nowait,@function
nowait:
	s_load_dwordx4 s[0:3], s[4:5], 0x0
	v_lshlrev_b32 v0, 2, v0
	s_waitcnt lgkmcnt(0)
	global_load_dword v1, v0, s[0:1]
	global_load_dword v2, v0, s[0:1] offset:4
	s_waitcnt vmcnt(1)
	v_add_nc_u32 v1, v1, 1
	v_add_nc_u32 v1, v1, v2
	global_store_dword v0, v1, s[2:3]
	s_endpgm
	.globl	unset
	.p2align 8
	.type	unset,@function
unset:
	s_load_dwordx4 s[0:3], s[4:5], 0x0
	v_lshlrev_b32 v0, 2, v0
	s_waitcnt lgkmcnt(0)
	v_add_nc_u32 v1, v9, 1
	global_store_dword v0, v1, s[2:3]
	s_endpgm
	; A function that lies before its kernel: the place of its fault is told by a negative offset.
	.p2align 8
before:
	v_mov_b32 v0, 0
	v_mov_b32 v1, 0
	global_store_dword v[0:1], v0, off
	s_setpc_b64 s[8:9]
	.globl	calls
	.p2align 8
	.type	calls,@function
calls:
	s_getpc_b64 s[10:11]
	s_add_u32 s10, s10, before@rel32@lo+4
	s_addc_u32 s11, s11, before@rel32@hi+12
	s_swappc_b64 s[8:9], s[10:11]
	s_endpgm

	.rodata
	.macro	descriptor name
	.p2align 6
	.amdhsa_kernel \name
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_ptr 1
		.amdhsa_user_sgpr_queue_ptr 1
		.amdhsa_next_free_vgpr 16
		.amdhsa_next_free_sgpr 16
		.amdhsa_wavefront_size32 1
	.end_amdhsa_kernel
	.endm
	descriptor nowait
	descriptor unset
	descriptor calls
