"""A GRU over packed sentences with max pooling, fast on one CPU thread.

On the CPU, `nn.GRU` spends most of its time outside matrix products, because each step of the
backward pass updates gradients as large as the whole batch. Here, a step is one matrix product and
a few operations on its own rows, and the weight gradients are computed once, over all tokens.

The equations are those of `nn.GRU` (Cho et al. 2014, with the reset gate after the product):

    r = sigmoid(W_ir x + b_ir + W_hr h + b_hr)      reset gate
    z = sigmoid(W_iz x + b_iz + W_hz h + b_hz)      update gate
    m = W_hn h + b_hn
    n = tanh(W_in x + b_in + r * m)                 candidate state
    h' = (1 - z) * n + z * h

Arrays are packed as in `torch.nn.utils.rnn.PackedSequence`: longest sentences first, and their N
tokens step by step. `sizes` is the number of sentences that reach each step.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

# A private operator of PyTorch, so check that it exists.
_USE_ONEDNN = (
    torch.backends.cpu.get_cpu_capability() == "AVX512"
    and torch.backends.mkldnn.is_available()
    and hasattr(torch.ops.mkldnn, "_linear_pointwise")
)


def reversed_rows(sizes: Tensor) -> Tensor:
    """Return the rows [N] of packed sentences in reverse, for the backward direction."""
    step = torch.arange(len(sizes)).repeat_interleave(sizes)
    starts = sizes.cumsum(0) - sizes
    sentence = torch.arange(len(step)) - starts[step]
    lengths = sentence.bincount()
    return starts[lengths[sentence] - 1 - step] + sentence


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return x weight^T + bias without a gradient, faster than `F.linear`.

    With a bfloat16 weight, x is rounded to bfloat16 for the product. The result has the type of x.

    PyTorch multiplies float32 matrices with MKL, which does not use AVX-512 on AMD processors and
    then takes twice the time of oneDNN. Without AVX-512, MKL is faster. `torch.compile` emits the
    same operator.
    """
    if weight.dtype == torch.bfloat16:
        product = F.linear(x.bfloat16(), weight).to(x.dtype)
        return product if bias is None else product.add_(bias)
    if x.dtype == torch.float32 and _USE_ONEDNN:
        return torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")
    return F.linear(x, weight, bias)


def by_step(sizes: list[int], *arrays: Tensor) -> Iterator[tuple[Tensor, ...]]:
    """Yield the rows of packed arrays step by step."""
    return zip(*(array.split(sizes) for array in arrays), strict=True)


class GRUMax(torch.autograd.Function):
    """Max pooling over the states of one direction of a GRU, on the CPU.

    `GRUMax.apply(x, rows, weight_ih, weight_hh, bias_ih, bias_hh, sizes)` reads the packed tokens
    x[rows], so that repeated tokens need only one row of x [W, d], or x itself if `rows` is None.
    Parameters have the names and shapes of `nn.GRU`. The result is [n, h], longest sentence first.
    If states tie for the maximum, the last one gets the gradient. With `in_bfloat16`, the factors
    of matrix products are rounded to bfloat16, and everything else stays as it is.
    """

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        rows: Tensor | None,
        weight_ih: Tensor,
        weight_hh: Tensor,
        bias_ih: Tensor,
        bias_hh: Tensor,
        sizes: list[int],
        in_bfloat16: bool = False,
    ) -> Tensor:
        size = weight_hh.shape[1]
        if in_bfloat16:
            weight_ih, weight_hh = weight_ih.bfloat16(), weight_hh.bfloat16()
        # Each step overwrites its rows of the gates with r, z and n.
        gates = linear(x, weight_ih, bias_ih)
        if rows is not None:
            gates = gates.index_select(0, rows)
        recurrent = gates.new_empty(len(gates), size)  # m
        states = gates.new_empty(sizes[0] + len(gates), size)  # the zero states come first
        h = states[: sizes[0]].zero_()
        maximum = torch.full_like(h, -torch.inf)
        r, z, n = gates.split(size, dim=1)
        parts = (gates[:, : 2 * size], r, z, n, recurrent, states[sizes[0] :])
        for rz_step, r_step, z_step, n_step, m, state in by_step(sizes, *parts):
            count = len(state)
            before = h[:count]
            hidden_rz, hidden_n = linear(before, weight_hh, bias_hh).split((2 * size, size), 1)
            rz_step.add_(hidden_rz).sigmoid_()
            m.copy_(hidden_n)
            n_step.addcmul_(r_step, m).tanh_()
            h = torch.lerp(n_step, before, z_step, out=state)
            highest = maximum[:count]
            torch.maximum(highest, h, out=highest)
        ctx.sizes = sizes
        ctx.save_for_backward(x, rows, weight_ih, weight_hh, gates, recurrent, states, maximum)
        return maximum

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_maximum: Tensor) -> tuple[Tensor | None, ...]:
        x, rows, weight_ih, weight_hh, gates, recurrent, states, maximum = ctx.saved_tensors
        sizes, size = ctx.sizes, weight_hh.shape[1]
        h = states[sizes[0] :]
        r, z, n = gates.split(size, dim=1)

        # Derivatives of h' by the arguments of r and z, by m, and by the argument of n. Each step
        # multiplies its rows by the gradient of h'.
        grads = gates.new_empty(len(gates), 3, size)
        grad_n = torch.ops.aten.tanh_backward(1 - z, n)
        torch.mul(torch.ops.aten.sigmoid_backward(recurrent, r), grad_n, out=grads[:, 0])
        torch.mul(h - n, 1 - z, out=grads[:, 1])  # h' - n = z (h - n)
        torch.mul(grad_n, r, out=grads[:, 2])
        pending = maximum.clone()  # set to NaN, which equals nothing, once the state is found
        grad_h = torch.zeros_like(maximum)
        steps = list(by_step(sizes, h, z, grads, grads.flatten(1), grad_n))
        transposed = weight_hh.t()
        for state, z_step, grads_step, flat_step, grad_n_step in reversed(steps):
            count = len(state)
            grad, still_pending = grad_h[:count], pending[:count]
            is_maximum = state == still_pending
            still_pending.masked_fill_(is_maximum, torch.nan)
            grad.addcmul_(grad_maximum[:count], is_maximum)
            grads_step.mul_(grad[:, None])
            grad_n_step.mul_(grad)
            grad.mul_(z_step).add_(linear(flat_step, transposed))

        grads = grads.flatten(1)
        blocks = pairwise(states.split([sizes[0], *sizes]))
        previous = torch.cat([before[: len(state)] for before, state in blocks])
        grad_weight_hh = linear(previous.t(), grads.t().to(weight_hh.dtype)).t()
        grad_bias_hh = grads.sum(0)
        grads[:, 2 * size :] = grad_n  # for the input, replace the gradient of m
        by_word = grads
        if rows is not None:
            by_word = grads.new_zeros(len(x), 3 * size).index_add_(0, rows, grads)
        grad_weight_ih = linear(x.t(), by_word.t().to(weight_ih.dtype)).t()
        grad_bias_ih = by_word.sum(0)
        grad_x = linear(by_word, weight_ih.t()) if ctx.needs_input_grad[0] else None
        weights = (grad_weight_ih, grad_weight_hh, grad_bias_ih, grad_bias_hh)
        return grad_x, None, *weights, None, None
