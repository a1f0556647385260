"""What Megatron-LM runs on the residual stream: one fused kernel for bias, dropout and sum behind a block (`bias_dropout_add`), and apex's layer norm.

The backward pass needs the mask of the first. So a layer that is computed again runs this kernel, too, and before it the last matmul and its sum over
tensor devices, as PyTorch's checkpoint runs a whole layer again (XLA would leave them out).
"""
import jax
import jax.numpy as jnp

from models.attention_kernels import kernel_of


def placed(split, kernel, *parts):
    """A kernel on each device's part; `parts`: how its operands lie on the mesh, and last its result."""
    return jax.shard_map(kernel, mesh=split.mesh, in_specs=parts[:-1], out_specs=parts[-1], check_vma=False)


def dropped_and_added(split, x, bias, residual, logical):
    """`x` and `residual` have the logical axes, the bias the last of them."""
    whole, last = split.spec(*logical), split.spec(logical[-1])

    def forward(x, bias, residual):
        def kernel(x, bias, residual):
            return kernel_of("bias_dropout_add", (jax.typeof(x), jax.ShapeDtypeStruct(x.shape, jnp.uint8)), x, bias, residual)
        return placed(split, kernel, whole, last, whole, (whole, whole))(x, bias, residual)

    def backward(mask, gradient):
        own = placed(split, lambda gradient, mask: kernel_of("masked_scale", jax.typeof(gradient), gradient, mask), whole, whole, whole)(gradient, mask)
        return own, jnp.sum(own, axis=(0, 1)), gradient

    joined = jax.custom_vjp(lambda *operands: forward(*operands)[0])
    joined.defvjp(forward, backward)
    return joined(x, bias, residual)


def layer_norm(split, x, scale, bias, logical):
    """The kernels of apex (csrc/layer_norm_cuda_kernel.cu): one forward, which keeps mean and deviation of each row; backward one for the gradients of
    scale and bias and one for that of the input, each of which reads the input and the gradient. Scale and bias have the last logical axis."""
    whole, rows, last = split.spec(*logical), split.spec(*logical[:-1]), split.spec(logical[-1])

    def forward(x, scale, bias):
        def kernel(x, scale, bias):
            row = jax.ShapeDtypeStruct(x.shape[:-1], jnp.float32)
            return kernel_of("layer_norm", (jax.typeof(x), row, row), x, scale, bias)
        out, mean, deviation = placed(split, kernel, whole, last, last, (whole, rows, rows))(x, scale, bias)
        return out, (x, mean, deviation, scale)

    def backward(kept, gradient):
        def of_input(x, mean, deviation, scale, gradient):
            return kernel_of("layer_norm_backward", jax.typeof(x), gradient, x, mean, deviation, scale)

        def of_weights(x, mean, deviation, gradient):
            part = jax.ShapeDtypeStruct((1, 1, x.shape[-1]), x.dtype)  # of the device's rows
            return kernel_of("layer_norm_backward_weights", (part, part), gradient, x, mean, deviation)
        x, mean, deviation, scale = kept
        own = placed(split, of_input, whole, rows, rows, last, whole, whole)(x, mean, deviation, scale, gradient)
        parts = placed(split, of_weights, whole, rows, rows, whole, (whole, whole))(x, mean, deviation, gradient)
        return own, *(jnp.sum(part, axis=(0, 1)) for part in parts)

    normal = jax.custom_vjp(lambda *operands: forward(*operands)[0])
    normal.defvjp(forward, backward)
    return normal(x, scale, bias)
