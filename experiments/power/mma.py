# SPDX-License-Identifier: GPL-3.0-or-later
# The two instructions of power.cu, whose operands are 128 registers.
D=", ".join("+f(d[%d])"%i for i in range(128))
regs=", ".join("%%%d"%i for i in range(128))
for name,sign in (("plus",1),("minus",-1)):
    print('__device__ __forceinline__ void mma_%s(float (&d)[128], uint64_t a, uint64_t b) {'%name)
    outs=", ".join('"+f"(d[%d])'%i for i in range(128))
    print('  asm volatile("{ .reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {%s}, %%128, %%129, p, %d, 1, 0, 0; }" : %s : "l"(a), "l"(b));'%(regs,sign,outs))
    print('}')
