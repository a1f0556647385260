"""What Megatron-LM joins a block's output to the residual stream with: one fused kernel for bias, dropout and sum (`bias_dropout_add`).

The backward pass needs its mask. So a layer that is computed again runs this kernel, too, and before it the last matmul and its sum over tensor
devices, as PyTorch's checkpoint runs a whole layer again (XLA would leave them out).
"""
import jax
import jax.numpy as jnp

from models.attention_kernels import kernel_of


def dropped_and_added(split, x, bias, residual, logical):
    """`x` and `residual` have the logical axes, the bias the last of them."""
    whole, last = split.spec(*logical), split.spec(logical[-1])

    def placed(kernel, *parts):
        return jax.shard_map(kernel, mesh=split.mesh, in_specs=parts[:-1], out_specs=parts[-1], check_vma=False)

    def forward(x, bias, residual):
        def kernel(x, bias, residual):
            return kernel_of("bias_dropout_add", (jax.typeof(x), jax.ShapeDtypeStruct(x.shape, jnp.uint8)), x, bias, residual)
        return placed(kernel, whole, last, whole, (whole, whole))(x, bias, residual)

    def backward(mask, gradient):
        own = placed(lambda gradient, mask: kernel_of("masked_scale", jax.typeof(gradient), gradient, mask), whole, whole, whole)(gradient, mask)
        return own, jnp.sum(own, axis=(0, 1)), gradient

    joined = jax.custom_vjp(lambda *operands: forward(*operands)[0])
    joined.defvjp(forward, backward)
    return joined(x, bias, residual)
