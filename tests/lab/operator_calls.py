"""A call of each operator on a list of autocast, with tensors of two dtypes.

`t` and `u` make tensors of a shape. An operator with one tensor takes `t`'s.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional

Make = Callable[..., Any]
ATEN: Any = torch.ops.aten


def labels(t: Make, *shape: int) -> torch.Tensor:
    return torch.zeros(shape or (4,), dtype=torch.long, device=t(1).device)


def cell(name: str, gates: int) -> Callable[[Make, Make], Any]:
    def call(t: Make, u: Make) -> Any:
        state = [t(2, 4), t(2, 4)] if name == "lstm_cell" else t(2, 4)
        weights = u(gates * 4, 3), u(gates * 4, 4), u(gates * 4), u(gates * 4)
        return getattr(ATEN, name)(t(2, 3), state, *weights)

    return call


def of_one(function: Callable[..., Any], *shape: int) -> Callable[[Make, Make], Any]:
    return lambda t, u: function(t(*shape or (4, 4)))


def of_two(function: Callable[..., Any], *shape: int) -> Callable[[Make, Make], Any]:
    return lambda t, u: function(t(*shape or (4, 4)), u(*shape or (4, 4)))


def of_three(function: Callable[..., Any], *shape: int) -> Callable[[Make, Make], Any]:
    return lambda t, u: function(*(make(*shape or (4, 4)) for make in (t, u, t)))


def convolution(dimensions: int) -> Callable[[Make, Make], Any]:
    function = getattr(functional, f"conv{dimensions}d")
    size = (5,) * dimensions
    return lambda t, u: function(t(1, 2, *size), u(3, 2, *size), u(3))


def transposed(dimensions: int) -> Callable[[Make, Make], Any]:
    function = getattr(functional, f"conv_transpose{dimensions}d")
    size = (5,) * dimensions
    return lambda t, u: function(t(1, 2, *size), u(2, 3, *size))


def resized(name: str) -> Callable[[Make, Make], Any]:
    dimensions = int(name.removesuffix("_aa")[-2])
    more = [] if "nearest" in name else [False]
    size = (4,) * dimensions
    return lambda t, u: getattr(ATEN, name)(t(1, 2, *size), [8] * dimensions, *more)


def padded(mode: str, dimensions: int) -> Callable[[Make, Make], Any]:
    sides, size = (1, 1) * dimensions, (4,) * dimensions
    return lambda t, u: functional.pad(t(1, 2, *size), sides, mode=mode)


CONVOLUTION: tuple[Any, ...] = ([1], [0], [1], False, [0], 1)
ONE = "acos asin cosh erfinv exp expm1 log log10 log1p log2 reciprocal rsqrt sinh tan"
LOSSES = """
    binary_cross_entropy binary_cross_entropy_with_logits huber_loss l1_loss mse_loss
    smooth_l1_loss soft_margin_loss
"""
RESIZED = """
    upsample_bicubic2d upsample_bilinear2d upsample_linear1d upsample_nearest1d upsample_nearest2d
    upsample_nearest3d upsample_trilinear3d _upsample_bicubic2d_aa _upsample_bilinear2d_aa
    _upsample_nearest_exact1d _upsample_nearest_exact2d _upsample_nearest_exact3d
"""

#: Calls by the operators' names in `torch.ops.aten`.
CALLS: dict[str, Callable[[Make, Make], Any]] = {
    "_convolution": lambda t, u: ATEN._convolution(
        t(1, 2, 5), u(3, 2, 3), u(3), *CONVOLUTION, False, False, True, True
    ),
    "_convolution.deprecated": lambda t, u: ATEN._convolution.deprecated(
        t(1, 2, 5), u(3, 2, 3), u(3), *CONVOLUTION, False, False, True
    ),
    "convolution": lambda t, u: ATEN.convolution(t(1, 2, 5), u(3, 2, 3), u(3), *CONVOLUTION),
    "conv1d": convolution(1),
    "conv2d": convolution(2),
    "conv3d": convolution(3),
    "conv_tbc": lambda t, u: torch.conv_tbc(t(5, 1, 2), u(3, 2, 3), u(3)),
    "conv_transpose1d": transposed(1),
    "conv_transpose2d.input": transposed(2),
    "conv_transpose3d.input": transposed(3),
    "prelu": lambda t, u: functional.prelu(t(4, 4), u(1)),
    "addmm": of_three(torch.addmm),
    "addmv": lambda t, u: torch.addmv(t(4), u(4, 4), t(4)),
    "addr": lambda t, u: torch.addr(t(4, 4), u(4), t(4)),
    "matmul": of_two(torch.matmul),
    "einsum": of_two(lambda x, y: torch.einsum("ij,jk->ik", x, y)),
    "mm": of_two(torch.mm),
    "mv": lambda t, u: torch.mv(t(4, 4), u(4)),
    "linalg_vecdot": of_two(torch.linalg.vecdot),
    "linear": lambda t, u: functional.linear(t(4, 4), u(4, 4), u(4)),
    "addbmm": lambda t, u: torch.addbmm(t(4, 4), u(2, 4, 4), t(2, 4, 4)),
    "baddbmm": of_three(torch.baddbmm, 2, 4, 4),
    "bmm": of_two(torch.bmm, 2, 4, 4),
    "chain_matmul": of_three(torch.chain_matmul),
    "linalg_multi_dot": of_three(lambda *matrices: torch.linalg.multi_dot(matrices)),
    "lstm_cell": cell("lstm_cell", 4),
    "gru_cell": cell("gru_cell", 3),
    "rnn_tanh_cell": cell("rnn_tanh_cell", 1),
    "rnn_relu_cell": cell("rnn_relu_cell", 1),
    "scaled_dot_product_attention": of_three(functional.scaled_dot_product_attention, 1, 2, 4, 8),
    **{name: of_one(getattr(torch, name)) for name in ONE.split()},
    "pow.Tensor_Scalar": of_one(lambda x: x**2),
    "pow.Tensor_Tensor": of_two(torch.pow),
    "pow.Scalar": of_one(lambda x: 2**x),
    "softplus": of_one(functional.softplus),
    "layer_norm": lambda t, u: functional.layer_norm(t(4, 4), (4,), u(4), u(4)),
    "native_layer_norm": lambda t, u: torch.native_layer_norm(t(4, 4), (4,), u(4), u(4), 1e-5),
    "rms_norm": lambda t, u: functional.rms_norm(t(4, 4), (4,), u(4)),
    "group_norm": lambda t, u: functional.group_norm(t(4, 4), 2, u(4), u(4)),
    "frobenius_norm.dim": of_one(lambda x: ATEN.frobenius_norm.dim(x, [0, 1])),
    "nuclear_norm": of_one(ATEN.nuclear_norm.default),
    "nuclear_norm.dim": of_one(lambda x: ATEN.nuclear_norm.dim(x, [0, 1])),
    "norm.Scalar": of_one(ATEN.norm.Scalar),
    "norm.ScalarOpt_dim": of_one(lambda x: ATEN.norm.ScalarOpt_dim(x, 2, [1])),
    "linalg_vector_norm": of_one(torch.linalg.vector_norm),
    "linalg_matrix_norm": of_one(lambda x: torch.linalg.matrix_norm(x, 2.0)),
    "linalg_matrix_norm.str_ord": of_one(torch.linalg.matrix_norm),
    "cosine_similarity": of_two(functional.cosine_similarity),
    **{name: of_two(getattr(functional, name)) for name in LOSSES.split()},
    "poisson_nll_loss": of_two(functional.poisson_nll_loss),
    "cosine_embedding_loss": lambda t, u: functional.cosine_embedding_loss(t(4, 4), u(4, 4), u(4)),
    "nll_loss": lambda t, u: functional.nll_loss(t(4, 4), labels(t)),
    "nll_loss2d": lambda t, u: functional.nll_loss(t(4, 4, 2, 2), labels(t, 4, 2, 2)),
    "hinge_embedding_loss": of_two(functional.hinge_embedding_loss),
    "kl_div": of_two(lambda x, y: functional.kl_div(x, y, reduction="batchmean")),
    "margin_ranking_loss": of_three(functional.margin_ranking_loss, 4),
    "multilabel_margin_loss": lambda t, u: functional.multilabel_margin_loss(
        t(4, 4), labels(t, 4, 4)
    ),
    "triplet_margin_loss": of_three(functional.triplet_margin_loss),
    "multi_margin_loss": lambda t, u: functional.multi_margin_loss(t(4, 4), labels(t)),
    "dist": of_two(torch.dist),
    "pdist": of_one(torch.pdist),
    "cdist": of_two(torch.cdist),
    "renorm": of_one(lambda x: torch.renorm(x, 2, 0, 1.0)),
    "logsumexp": of_one(lambda x: torch.logsumexp(x, 1)),
    **{name: resized(name) for name in RESIZED.split()},
    "prod": of_one(torch.prod),
    "prod.dim_int": of_one(lambda x: torch.prod(x, 1)),
    "softmax.int": of_one(lambda x: torch.softmax(x, -1)),
    "log_softmax.int": of_one(lambda x: torch.log_softmax(x, -1)),
    "cumprod": of_one(lambda x: torch.cumprod(x, 0)),
    "cumsum": of_one(lambda x: torch.cumsum(x, 0)),
    "sum": of_one(torch.sum),
    "sum.dim_IntList": of_one(lambda x: torch.sum(x, 1)),
    "addcdiv": of_three(torch.addcdiv),
    "addcmul": of_three(torch.addcmul),
    "atan2": of_two(torch.atan2),
    "bilinear": lambda t, u: functional.bilinear(t(4, 2), t(4, 3), u(5, 2, 3)),
    "cross": of_two(lambda x, y: torch.cross(x, y, dim=1), 4, 3),
    "dot": of_two(torch.dot, 4),
    "vdot": of_two(torch.vdot, 4),
    "grid_sampler": lambda t, u: functional.grid_sample(
        t(1, 2, 4, 4), u(1, 3, 3, 2), align_corners=False
    ),
    "index_put": lambda t, u: torch.index_put(t(4), [labels(t)], u(4)),
    "tensordot": of_two(lambda x, y: torch.tensordot(x, y, 1)),
    "scatter_add": lambda t, u: torch.scatter_add(t(4), 0, labels(t), u(4)),
    "cat": of_two(lambda *parts: torch.cat(parts)),
    "stack": of_two(lambda *parts: torch.stack(parts)),
    "index_copy": lambda t, u: torch.index_copy(t(4, 4), 0, labels(t, 1), t(1, 4)),
    "adaptive_avg_pool3d": of_one(lambda x: functional.adaptive_avg_pool3d(x, 2), 1, 2, 4, 4, 4),
    "adaptive_max_pool3d": of_one(lambda x: functional.adaptive_max_pool3d(x, 2), 1, 2, 4, 4, 4),
    "max_pool3d": of_one(lambda x: functional.max_pool3d(x, 2), 1, 2, 4, 4, 4),
    "fractional_max_pool2d": of_one(
        lambda x: functional.fractional_max_pool2d(x, 2, output_size=3), 1, 2, 8, 8
    ),
    "fractional_max_pool3d": of_one(
        lambda x: functional.fractional_max_pool3d(x, 2, output_size=3), 1, 2, 8, 8, 8
    ),
    "max_unpool2d": lambda t, u: functional.max_unpool2d(t(1, 1, 2, 2), labels(t, 1, 1, 2, 2), 2),
    "max_unpool3d": lambda t, u: functional.max_unpool3d(
        t(1, 1, 2, 2, 2), labels(t, 1, 1, 2, 2, 2), 2
    ),
    "reflection_pad1d": padded("reflect", 1),
    "reflection_pad2d": padded("reflect", 2),
    "replication_pad1d": padded("replicate", 1),
    "replication_pad2d": padded("replicate", 2),
    "replication_pad3d": padded("replicate", 3),
    "quantile": lambda t, u: torch.quantile(t(4), t(1)),
    "quantile.scalar": of_one(lambda x: torch.quantile(x, 0.5)),
    "nanquantile": lambda t, u: torch.nanquantile(t(4), t(1)),
    "nanquantile.scalar": of_one(lambda x: torch.nanquantile(x, 0.5)),
    "trace": of_one(torch.trace),
    "view_as_complex": of_one(torch.view_as_complex, 4, 2),
}
