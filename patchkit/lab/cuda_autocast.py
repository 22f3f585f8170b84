"""Cast on a CPU under float16 autocast as CUDA's autocast does.

Each device has lists of operators that autocast gives another dtype. The CPU's differ from CUDA's:
under float16 a CPU refuses to concatenate bfloat16, and norms, softmax and sums stay in half
precision. Here the CPU gets CUDA's lists. The kernels stand where PyTorch's own do, at the
dispatcher's autocast key. So functions, methods and modules are alike, and autograd sees the casts.

docs/cuda-on-a-cpu.md has the sources, and what is left out.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

Arguments = tuple[tuple[Any, ...], dict[str, Any]]
Policy = Callable[[Any, "torch.dtype", tuple[Any, ...], dict[str, Any]], "Arguments | None"]
"""Return the arguments for an operator, from autocast's dtype and the caller's arguments.

None means that autocast leaves the operator alone.
"""

# PyTorch removes the kernels of a library that is no longer referenced.
_IN_FORCE: list[Any] = []


def install() -> Callable[[], None]:
    """Replace the CPU's lists for float16; under other dtypes they stay as they are.

    `torch.is_autocast_enabled()`, which asks about CUDA, answers for the CPU. Operators
    that the installed PyTorch does not list for CUDA are left alone.

    Returns:
        A function that gives the CPU its own lists back.
    """
    import torch

    cpu, cuda = _listed("AutocastCPU"), _listed("AutocastCUDA")
    library = torch.library.Library("aten", "IMPL")
    with warnings.catch_warnings():
        # PyTorch warns of each kernel that has one before it.
        warnings.simplefilter("ignore")
        for policy, names in _CUDA.items():
            for name in names.split():
                if name in cuda and (name not in cpu or name in _CPU):
                    own = _CPU[name] if name in cpu else _leave
                    _register(library, name, policy, own)
        for name in _UNLISTED.split():
            if name in cpu and name not in cuda:
                _register(library, name, _leave, _CPU.get(name, _float32))
    _IN_FORCE.append(library)
    is_enabled = torch.is_autocast_enabled

    def undo() -> None:
        _IN_FORCE.remove(library)
        library._destroy()
        torch.is_autocast_enabled = is_enabled

    # Without a device it asks of CUDA, and some models ask so (Nemotron).
    torch.is_autocast_enabled = lambda device_type="cpu": is_enabled(device_type)
    return undo


def _listed(key: str) -> set[str]:
    import torch

    names: Iterable[str] = torch._C._dispatch_get_registrations_for_dispatch_key(key)
    return {name.removeprefix("aten::") for name in names}


def _register(library: Any, name: str, on_cuda: Policy, on_cpu: Policy) -> None:
    import torch

    packet, _, overload = name.partition(".")
    operator: Any = getattr(getattr(torch.ops.aten, packet), overload or "default")
    key = torch._C.DispatchKey.AutocastCPU
    autocast, below = torch._C.DispatchKeySet(key), torch._C._dispatch_keyset_full_after(key)
    float16 = torch.float16

    def call(keys: Any, *args: Any, **kwargs: Any) -> Any:
        low = torch.get_autocast_dtype("cpu")
        policy = on_cuda if low is float16 else on_cpu
        if (arguments := policy(operator, low, args, kwargs)) is None:
            # The operators that it consists of are still subject to autocast.
            return operator.redispatch(keys & below, *args, **kwargs)
        args, kwargs = arguments
        with torch._C._ExcludeDispatchKeyGuard(autocast):
            return operator(*args, **kwargs)

    library.impl(name, call, "AutocastCPU", with_keyset=True)


def _cast_all(dtype: torch.dtype, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Arguments:
    return (
        tuple(_cast(value, dtype) for value in args),
        {name: _cast(value, dtype) for name, value in kwargs.items()},
    )


def _cast(value: Any, dtype: torch.dtype) -> Any:
    """Cast a tensor, or those in a list, if autocast applies to them."""
    import torch

    if isinstance(value, (list, tuple)):
        return [_cast(part, dtype) for part in value]
    # Not `value.to`: bitsandbytes' weights have one of their own.
    return torch.Tensor.to(value, dtype) if _is_eligible(value) else value


def _is_eligible(value: Any) -> bool:
    import torch

    return (
        isinstance(value, torch.Tensor)
        and value.is_floating_point()
        and value.dtype is not torch.float64
        and value.device.type == "cpu"
    )


def _leave(operator: Any, low: torch.dtype, args: Any, kwargs: Any) -> None:
    """Cast nothing."""


def _low(operator: Any, low: torch.dtype, args: Any, kwargs: Any) -> Arguments:
    """Cast to autocast's dtype."""
    return _cast_all(low, args, kwargs)


def _float32(operator: Any, low: torch.dtype, args: Any, kwargs: Any) -> Arguments:
    """Cast to float32."""
    import torch

    return _cast_all(torch.float32, args, kwargs)


def _float32_result(operator: Any, low: torch.dtype, args: Any, kwargs: Any) -> Arguments:
    """Ask for a float32 result, unless the caller asks for a dtype."""
    import torch

    place = [argument.name for argument in operator._schema.arguments].index("dtype")
    asked = kwargs.get("dtype", args[place] if place < len(args) else None)
    if asked is None and _is_eligible(args[0]):
        return args[:place], {**kwargs, "dtype": torch.float32}
    return args, kwargs


def _widest(operator: Any, low: torch.dtype, args: Any, kwargs: Any) -> Arguments:
    """Cast to float32 if a tensor has it, else to autocast's dtype; no other is accepted.

    Raises:
        RuntimeError: a tensor has another half-precision dtype, and comes before any float32.
    """
    import torch

    widest = low
    for value in (*args, *kwargs.values()):
        for tensor in value if isinstance(value, (list, tuple)) else [value]:
            if not _is_eligible(tensor) or widest is torch.float32:
                continue
            if tensor.dtype not in (low, torch.float32):
                message = "Unexpected floating ScalarType in at::autocast::prioritize"
                raise RuntimeError(message)
            widest = tensor.dtype
    return _cast_all(widest, args, kwargs)


def _refuse(operator: Any, low: torch.dtype, args: Any, kwargs: Any) -> None:
    """Refuse `binary_cross_entropy`, whose gradients float16 cannot hold."""
    raise RuntimeError(
        "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast."
    )


# Operators of CUDA's lists that the CPU's lack or cast differently.
_CUDA: dict[Policy, str] = {
    _low: """
        _convolution convolution addmv addr chain_matmul einsum linalg_multi_dot mv
        gru_cell lstm_cell rnn_relu_cell rnn_tanh_cell
    """,
    _float32: """
        acos asin cosh cosine_similarity dist erfinv exp expm1 frobenius_norm.dim group_norm
        layer_norm log log10 log1p log2 logsumexp native_layer_norm norm.Scalar
        norm.ScalarOpt_dim nuclear_norm nuclear_norm.dim pdist pow.Scalar pow.Tensor_Scalar
        pow.Tensor_Tensor reciprocal renorm rms_norm rsqrt sinh softplus tan
        upsample_bicubic2d upsample_bilinear2d upsample_linear1d upsample_nearest1d
        upsample_nearest2d upsample_nearest3d upsample_trilinear3d _upsample_bicubic2d_aa
        _upsample_bilinear2d_aa _upsample_nearest_exact1d _upsample_nearest_exact2d
        _upsample_nearest_exact3d
    """,
    _float32_result: """
        cumprod cumsum linalg_matrix_norm linalg_matrix_norm.str_ord linalg_vector_norm
        log_softmax.int softmax.int sum sum.dim_IntList
    """,
    _widest: """
        addcdiv addcmul atan2 bilinear cross dot grid_sampler index_put scatter_add tensordot vdot
    """,
    _refuse: "binary_cross_entropy",
}
# Operators of the CPU's lists that CUDA's lack.
_UNLISTED = """
    cat index_copy stack
    adaptive_avg_pool3d adaptive_max_pool3d fractional_max_pool2d fractional_max_pool3d max_pool3d
    max_unpool2d max_unpool3d reflection_pad1d reflection_pad2d replication_pad1d replication_pad2d
    replication_pad3d
    nanquantile nanquantile.scalar quantile quantile.scalar trace view_as_complex
"""
# How the CPU casts those of these operators that it lists.
_CPU: dict[str, Policy] = {
    **dict.fromkeys(("cat", "index_copy", "stack"), _widest),
    **dict.fromkeys(("binary_cross_entropy", "grid_sampler"), _float32),
}
