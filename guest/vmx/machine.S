/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code of the virtual machine: a loop of CALL, CPUID, MOV to CR3 and VMCALL. R12 is the number
 * of indirect jumps in each iteration, which produce trace.
 */
	.section .text.vmx, "ax", @progbits
	.globl	vm_entry_ip, vm_cpuid_ip, vm_cpuid_next, vm_cr3_ip, vm_call_ip, vm_call_next
	.globl	vm_hlt_ip, vm_wrmsr_ip
vm_entry_ip:
	call	leaf
	xor	%eax, %eax
vm_cpuid_ip:
	cpuid
vm_cpuid_next:
	mov	%r12, %rbx
	lea	again(%rip), %rdx
1:	test	%rbx, %rbx
	jz	2f
	dec	%rbx
	jmp	*%rdx
again:	jmp	1b
2:	mov	%cr3, %rax
vm_cr3_ip:
	mov	%rax, %cr3
	call	leaf
vm_call_ip:
	vmcall
vm_call_next:
	jmp	vm_entry_ip

vm_hlt_ip:
	hlt
	jmp	vm_hlt_ip

/* Execute WRMSR with the register values from the VMM. */
vm_wrmsr_ip:
	wrmsr
	vmcall
	jmp	vm_wrmsr_ip

leaf:	nop
	ret

	.section .note.GNU-stack, "", @progbits
