"""DeepSeek-V4 in float16 stops at its first compressor, where no autocast is on.

`RuntimeError: expected m1 and m2 to have the same dtype, but got: c10::Half != float`: a float16
model keeps the projections of its compressors and indexers in float32 (`_keep_in_fp32_modules`),
and they are given the float16 hidden states. 4-bit and 8-bit models and LoRA stop there, too. In
bfloat16 nothing is kept, and nothing stops.

Fix: these projections get their input in their own dtype, and so the compressor computes in
float32. What comes out of it is cast as it joins the keys and values of the other tokens.
"""

import ast
from typing import Any

from patchkit.authoring import Edit, Patch, Rewrite, Rule, replace
from patchkit.precision.autocast import spell_out_autocast
from patchkit.precision.input_rule import layer_input_rule

MODULE = "transformers.models.deepseek_v4.modeling_deepseek_v4"
COMPRESSORS = ("DeepseekV4HCACompressor", "DeepseekV4CSACompressor", "DeepseekV4Indexer")
PROJECTIONS = {
    "kv_proj": COMPRESSORS,
    "gate_proj": COMPRESSORS,
    "weights_proj": ("DeepseekV4IndexerScorer",),
}
RULES = {name: layer_input_rule(name) for name in PROJECTIONS}


def joins_two(node: ast.AST) -> bool:
    """`torch.cat([keys, compressed], dim=2)`."""
    match node:
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id="torch"), attr="cat"),
            args=[ast.List(elts=[ast.Name(), ast.Name()])],
        ):
            return True
    return False


def join_in_dtype_of_first(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.Call)
    assert isinstance(node.args[0], ast.List)
    first, second = (ast.unparse(tensor) for tensor in node.args[0].elts)
    same = f"{second}.dtype is {first}.dtype or {spell_out_autocast(second)}"
    return [replace(node.args[0].elts[1], f"({second} if {same} else {second}.to({first}.dtype))")]


JOIN = Rule(joins_two, join_in_dtype_of_first, names=("compressor", "cat"), needs=("torch",))

PATCH = Patch(
    id="transformers-deepseek-v4-compressor-dtype",
    title="DeepSeek-V4 compresses in float32 where it keeps the projections in float32",
    affects={"transformers": ">=5.10.1"},
    changes=(
        *(
            Rewrite(f"{MODULE}:{kind}.forward", RULES[name], sites=None)
            for name, kinds in PROJECTIONS.items()
            for kind in kinds
        ),
        Rewrite(f"{MODULE}:DeepseekV4Attention.forward", JOIN, sites=None),
    ),
    harmless={
        f"{MODULE}:*.*": "<5.10.1",  # nothing of the model is kept in float32 there
        # Projections of the same names outside of compressors, which are not kept in float32.
        f"{MODULE}:DeepseekV4Attention.forward": "",
        f"{MODULE}:DeepseekV4MLP.forward": "",
        # It joins what the same projections gave in an earlier call.
        f"{MODULE}:DeepseekV4HCACache.store_compression_weights": "",
    },
    upstream=(
        "https://github.com/huggingface/transformers/pull/45643",
        "https://github.com/huggingface/transformers/pull/45892",
    ),
    symptom="have the same dtype, but got",
    messages=(
        "expected m1 and m2 to have the same dtype, but got: c10::Half != float",
        "mat1 and mat2 must have the same dtype, but got Half and Float",
    ),
)

TINY: dict[str, Any] = {
    "vocab_size": 64,
    "hidden_size": 64,
    "moe_intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "head_dim": 32,
    "q_lora_rank": 64,
    "o_groups": 2,
    "o_lora_rank": 32,
    "n_routed_experts": 4,
    "num_local_experts": 4,
    "num_experts_per_tok": 2,
    "index_n_heads": 4,
    "index_head_dim": 32,
    "index_topk": 2,
    "hc_mult": 2,
    "num_hash_layers": 0,
    "compress_rates": {"compressed_sparse_attention": 2, "heavily_compressed_attention": 4},
    "layer_types": ["compressed_sparse_attention", "heavily_compressed_attention"],
}
"""A small configuration with a layer of each compressor."""


def reproduce() -> None:
    """Load a tiny DeepSeek-V4 in float16, and run it."""
    import torch
    import transformers

    from patchkit.lab import quantized, shapes

    config = transformers.DeepseekV4Config(**TINY)
    torch.manual_seed(0)
    model = quantized.reload(transformers.DeepseekV4ForCausalLM(config), dtype="float16")
    # Float32 norms of early releases stop it before: `transformers-norm-output-dtype`.
    for module in model.modules():
        if type(module).__name__ == "DeepseekV4RMSNorm":
            module.half()
    logits = shapes.forward(model)
    assert torch.isfinite(logits).all()
