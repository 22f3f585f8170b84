"""A model writes numbers of one dtype into a tensor of another, and PyTorch refuses.

`Index put requires the source and destination dtypes match, got Float for the destination and Half
for the source` (X-MOD), `index_add_(): self (Half) and source (Float) must have the same scalar
type` (DBRX), `masked_scatter_: expected self and source to have same dtypes but got BFloat16 and
Float` (VibeVoice). Autocast gives half precision after a linear layer and float32 after a norm or a
softmax. Most operators take both together. Those that write into a tensor do not.

Fix: what is written gets the dtype of the tensor that it is written into.

Why: only those writes raise that choose their place by a tensor: a slice takes any dtype and casts,
which is what all of them do now. One structural rule finds them, since they stand in every mixture
of experts and wherever images or sounds are put among words. Most models cast what they write. A
write whose source is seen to be cast is no site. Where dtypes agree, `Tensor.to` returns the tensor
itself.
"""

import ast
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from patchkit.authoring import Edit, Patch, Rewrite, Rule, insert_after, replace, span, walk

SOURCES = {
    "masked_scatter": 1,
    "masked_scatter_": 1,
    "index_add": 2,
    "index_add_": 2,
    "scatter": 2,
    "scatter_": 2,
    "scatter_reduce": 2,
}
"""Methods of a tensor that write, and which argument is written."""

KEYWORDS = ("source", "src")
MAY_BE_NUMBERS = ("scatter", "scatter_")

MAKERS = ("zeros_like", "new_zeros", "zeros", "clone")
"""Functions that make the tensors that `x[chosen] = y` writes into."""

WHOLE_NUMBERS = re.compile(r"ids\b|labels\b|mask\b|\bint\d*\b|\blong\b|\bbool\b")
"""Names of tensors of whole numbers, and of dtypes that have nothing else."""


class Write(NamedTuple):
    """Something that is written into a tensor.

    Args:
        source: what is written.
        dtype: the code for the dtype of the tensor.
        may_be_number: whether it may also be a number, which is no tensor.
    """

    source: ast.expr
    dtype: str
    may_be_number: bool

    def cast(self) -> list[Edit]:
        source = ast.unparse(self.source)
        if self.may_be_number:
            cast = f"{source}.to({self.dtype}) if isinstance({source}, torch.Tensor) else {source}"
            return [replace(self.source, f"({cast})")]
        if isinstance(self.source, ast.BinOp):
            start, _ = span(self.source)
            return [Edit(start, start, "("), insert_after(self.source, f").to({self.dtype})")]
        return [insert_after(self.source, f".to({self.dtype})")]


def write_by_method(node: ast.AST, method: str) -> Write | None:
    """Return what a call of a method writes."""
    match node:
        case ast.Call(func=ast.Attribute(value=tensor, attr=name), args=args) if name == method:
            named = [word.value for word in node.keywords if word.arg in KEYWORDS]
            source = next(iter([*args[SOURCES[method] :], *named]), None)
            dtype = dtype_of(tensor)
            if source is not None and dtype and is_computed(source):
                is_number = method in MAY_BE_NUMBERS and isinstance(source, ast.Name)
                return Write(source, dtype, is_number)
    return None


def dtype_of(tensor: ast.expr) -> str:
    """Return the code for the dtype of a tensor, or nothing.

    It is nothing where it would compute the tensor again, and where that has whole numbers.
    """
    match tensor:
        case ast.Name(id=name) if name != "torch" and not WHOLE_NUMBERS.search(name):
            return f"{name}.dtype"
        case ast.Call(func=ast.Attribute(value=moved, attr="to"), args=[to]) if is_device(to):
            return dtype_of(moved)
    return ""


def is_computed(source: ast.expr) -> bool:
    """Tell whether something may be a tensor: no literal, and nothing like `float("inf")`."""
    match source:
        case ast.Call(func=called):
            return isinstance(called, ast.Attribute)
    return isinstance(source, ast.Name | ast.Attribute | ast.Subscript | ast.BinOp)


def is_device(node: ast.expr) -> bool:
    return ast.unparse(node).endswith("device")


def write_by_item(node: ast.AST, made: set[str], counted: set[str]) -> Write | None:
    """Return what is written by `x[chosen] = y` or `x[chosen] += y`.

    Args:
        node: any node.
        made: the variables with tensors of the function's own.
        counted: the variables that count, such as that of a loop over `range`.
    """
    match node:
        case (
            ast.Assign(targets=[ast.Subscript(ast.Name(name), chosen)], value=source)
            | ast.AugAssign(target=ast.Subscript(ast.Name(name), chosen), value=source)
        ) if name in made and chooses_by_tensor(chosen, counted):
            if is_computed(source) and not isinstance(source, ast.Attribute):
                return Write(source, f"{name}.dtype", isinstance(source, ast.Name))
    return None


def chooses_by_tensor(chosen: ast.expr, counted: set[str]) -> bool:
    """Tell whether an index may be a tensor; by numbers and slices, any dtype may be written."""
    match chosen:
        case ast.Constant() | ast.Slice() | ast.JoinedStr():
            return False
        case ast.Tuple(elts=parts):
            return any(chooses_by_tensor(part, counted) for part in parts)
        case ast.UnaryOp(operand=inner) | ast.BinOp(left=inner):
            return chooses_by_tensor(inner, counted)
        case ast.Name(id=name):
            return name not in counted
    return True


def tensors_made(function: ast.FunctionDef, maker: str) -> Iterator[str]:
    """Yield the variables that are bound to new tensors, of no whole numbers."""
    for node in walk(function):
        match node:
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Call(func=ast.Attribute(attr=attr)) as call
            ) if attr == maker:
                if not WHOLE_NUMBERS.search(f"{name} {ast.unparse(call)}"):
                    yield name


def counters(function: ast.FunctionDef) -> Iterator[str]:
    for node in walk(function):
        match node:
            case ast.For(
                target=ast.Name(id=name) | ast.Tuple(elts=[ast.Name(id=name), *_]),
                iter=ast.Call(func=ast.Name(id="range" | "enumerate")),
            ):
                yield name


def is_cast(value: ast.expr | None, function: ast.FunctionDef, before: int) -> bool:
    """Tell whether a value is seen to be cast, here or where its variable was bound last.

    Args:
        value: such as `y.to(x.dtype).flatten()`.
        function: the function around.
        before: the line that uses it.
    """
    match value:
        case ast.Call(func=ast.Attribute(attr="to"), args=args, keywords=keywords) if (
            keywords or not all(map(is_device, args))
        ):
            return True
        case ast.Call(func=ast.Attribute(attr="type" | "type_as" | "long" | "int" | "bool")):
            return True
        case (
            ast.Call(func=ast.Attribute(value=inner))
            | ast.Subscript(value=inner)
            | ast.Attribute(value=inner)
        ):
            return is_cast(inner, function, before)
        case ast.Name(id=name):
            bound = [
                node
                for node in walk(function)
                if isinstance(node, ast.Assign)
                and node.lineno < before
                and name in map(ast.unparse, node.targets)
            ]
            last = max(bound, key=lambda node: node.lineno, default=None)
            return last is not None and is_cast(last.value, function, last.lineno)
    return False


def writing_rule(name: str, find: Callable[[ast.FunctionDef], Iterator[Write | None]]) -> Rule:
    """Make a rule for functions that write what is not seen to be cast.

    Args:
        name: the name that such a function mentions.
        find: yields what a function writes.
    """

    def writes(function: ast.FunctionDef) -> list[Write]:
        found = (write for write in find(function) if write is not None)
        return [
            write for write in found if not is_cast(write.source, function, write.source.lineno)
        ]

    def site(node: ast.AST) -> bool:
        return isinstance(node, ast.FunctionDef) and bool(writes(node))

    def cast(node: ast.AST) -> list[Edit]:
        assert isinstance(node, ast.FunctionDef)
        return [edit for write in writes(node) for edit in write.cast()]

    return Rule(site, cast, names=(name,), needs=("torch",))


def method_rule(method: str) -> Rule:
    return writing_rule(
        method, lambda function: (write_by_method(node, method) for node in walk(function))
    )


def item_rule(maker: str) -> Rule:
    def find(function: ast.FunctionDef) -> Iterator[Write | None]:
        made, counted = set(tensors_made(function, maker)), set(counters(function))
        return (write_by_item(node, made, counted) for node in walk(function))

    return writing_rule(maker, find)


RULES = {
    **{method: method_rule(method) for method in SOURCES},
    **{maker: item_rule(maker) for maker in MAKERS},
}

PATCH = Patch(
    id="transformers-mixed-dtype-writes",
    title="What is written into a tensor has the tensor's dtype",
    affects={"transformers": ">=4.46.3"},
    changes=tuple(
        Rewrite(f"transformers.models.*.modeling_*:{functions}", rule, sites=None)
        for functions in ("*.*", "*")
        for rule in RULES.values()
    ),
    upstream=(
        "https://github.com/huggingface/transformers/issues/47672",
        "https://github.com/huggingface/transformers/issues/27219",
    ),
    symptom="source and destination dtypes match|must have the same scalar type|have same dtypes"
    "|equal to src.dtype",
    messages=(
        "Index put requires the source and destination dtypes match",
        "index_add_(): self (Half) and source (Float) must have the same scalar type",
        "masked_scatter_: expected self and source to have same dtypes but got",
        "scatter(): Expected self.dtype to be equal to src.dtype",
    ),
)


def reproduce() -> None:
    """Give a tiny float32 Qwen2-Audio a sound under autocast: its projector is a linear layer."""
    import torch
    import transformers

    from patchkit.authoring import device

    sound = {
        "num_mel_bins": 8,
        "d_model": 16,
        "encoder_layers": 1,
        "encoder_attention_heads": 2,
        "encoder_ffn_dim": 16,
        "max_source_positions": 8,
    }
    words = {
        "model_type": "qwen2",
        "vocab_size": 64,
        "hidden_size": 16,
        "intermediate_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
        "pad_token_id": 0,
    }
    config = transformers.Qwen2AudioConfig(
        audio_config=sound, text_config=words, audio_token_index=63, pad_token_id=0
    )
    torch.manual_seed(0)
    model = transformers.Qwen2AudioForConditionalGeneration(config).to(device())
    inputs = {
        "input_ids": torch.tensor([[3, 4, 63, 5]]),
        "attention_mask": torch.ones(1, 4, dtype=torch.long),
        "input_features": torch.ones(1, 8, 16),
        "feature_attention_mask": torch.ones(1, 16, dtype=torch.long),
    }
    with torch.no_grad(), torch.autocast(device(), torch.bfloat16):
        logits = model(**{name: value.to(device()) for name, value in inputs.items()}).logits
    assert logits.isfinite().all()
