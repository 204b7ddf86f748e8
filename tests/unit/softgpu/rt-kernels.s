	.amdgcn_target "amdgcn-amd-amdhsa--gfx1030"
	.text
	.protected store
	.globl store
	.p2align 8
	.type store,@function
store:
	s_endpgm
	.size store, .-store
	.rodata
	.p2align 6
	.amdhsa_kernel store
		.amdhsa_next_free_vgpr 4
		.amdhsa_next_free_sgpr 8
		.amdhsa_group_segment_fixed_size 128
		.amdhsa_private_segment_fixed_size 16
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
	.end_amdhsa_kernel
	.protected answer
	.globl answer
	.type answer,@object
	.p2align 2
answer:	.long 42
	.size answer, 4
	.data
	.protected pointer
	.globl pointer
	.type pointer,@object
	.p2align 3
pointer: .quad answer
	.size pointer, 8
	.globl outside_pointer
	.type outside_pointer,@object
outside_pointer: .quad outside+16
	.size outside_pointer, 8
	.bss
	.protected zeros
	.globl zeros
	.type zeros,@object
	.p2align 4
zeros:	.zero 8192
	.size zeros, 8192
