"""A device that computes on the CPU and is as strict as a GPU about where its tensors are.

Its tensors say that they are on PyTorch's `meta` device and hold their values in CPU memory. An
operation that mixes them with tensors of the CPU raises an error where CUDA would, and NumPy cannot
read them. The random numbers are those of the CPU. Code for GPUs thus runs on a machine without
one, and gives the bits of the CPU wherever both run the same operations.
"""

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map_only

DEVICE = torch.device("meta")
aten = torch.ops.aten

# CUDA lets these read tensors of the CPU: lengths, batch sizes, indices, and sources of copies.
_MIXES = {
    aten._pack_padded_sequence.default,
    aten._pack_padded_sequence_backward.default,
    aten._pad_packed_sequence.default,
    aten.index.Tensor,
    aten.index_put_.default,
    aten.index_put.default,
    aten._index_put_impl_.default,
    aten.copy_.default,
}
# Their second result stays on the CPU: batch sizes, lengths.
_HALF = {aten._pack_padded_sequence.default, aten._pad_packed_sequence.default}


class OnFakeGPU(Tensor):
    """A tensor that claims to be on the GPU; its values, `content`, are in CPU memory."""

    @staticmethod
    def __new__(cls, content: Tensor) -> "OnFakeGPU":
        layout = {"strides": content.stride(), "storage_offset": content.storage_offset()}
        tensor = Tensor._make_wrapper_subclass(
            cls, content.shape, dtype=content.dtype, device=DEVICE, **layout
        )
        tensor.content = content
        return tensor

    __torch_function__ = torch._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        raise AssertionError(f"{function} outside of FakeGPU")


class FakeGPU(TorchDispatchMode):
    """While it is active, `torch.device("meta")` is the fake GPU."""

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        tensors = [tensor for tensor in tree_leaves((args, kwargs)) if isinstance(tensor, Tensor)]
        if any(tensor.device == DEVICE and not isinstance(tensor, OnFakeGPU) for tensor in tensors):
            # PyTorch makes such a tensor, without values, from a list used as an index.
            raise RuntimeError(f"{function}: a tensor that was not made on the fake GPU")
        on_gpu = [tensor for tensor in tensors if isinstance(tensor, OnFakeGPU)]
        target = kwargs.get("device")
        to_gpu = bool(on_gpu) if target is None else torch.device(target) == DEVICE
        strays = (tensor for tensor in tensors if not isinstance(tensor, OnFakeGPU))
        if on_gpu and function not in _MIXES and any(tensor.dim() for tensor in strays):
            raise RuntimeError(f"{function}: tensors of the fake GPU and of the CPU")
        if target is not None:
            kwargs["device"] = torch.device("cpu")
            if function is aten._to_copy.default and to_gpu != bool(on_gpu):
                kwargs["non_blocking"] = False
        args, kwargs = tree_map_only(OnFakeGPU, lambda x: x.content, (args, kwargs))
        result = function(*args, **kwargs)
        if not to_gpu:
            return result
        if function in _HALF:
            return OnFakeGPU(result[0]), result[1]
        # A result written in place, or into `out`, stays the same tensor object.
        originals = {id(tensor.content): tensor for tensor in on_gpu}
        return tree_map_only(
            Tensor, lambda x: originals[id(x)] if id(x) in originals else OnFakeGPU(x), result
        )


def to_cpu(value: object) -> object:
    """Return a state with its tensors on the CPU, as saving one on a GPU does."""
    return tree_map_only(OnFakeGPU, lambda x: x.detach().cpu(), value)


def moved(value: object, device: torch.device) -> object:
    """Return a state with its tensors on a device, as loading one does."""
    return tree_map_only(Tensor, lambda x: x.to(device), value)
