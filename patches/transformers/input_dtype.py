"""Images and sounds in another dtype than the model stop in its first layer, without autocast.

`RuntimeError: Input type (float) and bias type (c10::BFloat16) should be the same`, or `expected m1
and m2 to have the same dtype`: a processor returns float32, and the model is in half precision.
Or the pixels are cast to float16, and the weights are float32, as full fine-tuning in fp16 needs
them. Many vision towers cast their input (CLIP, SigLIP); others do not (GOT-OCR 2, UDOP,
Pix2Struct, Whisper, Wav2Vec2 and its kin, ResNet, ConvNeXT, LFM3-VL, Qwen3-ASR, the codebooks of
Chameleon, Janus and Emu3, codecs such as DAC, EnCodec and Mimi, Perceiver, Parakeet, SpeechT5).

Where that layer is a norm (Wav2Vec2-BERT, SeamlessM4T, LFM3-VL's projector), or one follows a
packed layer, which returns the dtype of its input (Informer, decision transformers), a
CPU stops in bfloat16 autocast, too: `mixed dtype (CPU): expect parameter to have scalar type of
Float`. CUDA's runs norms in float32.

What a model makes beside its input may be float32 as well: DETR's positions have the dtype of the
pixels, the masks of time-series transformers that of the series, TimesFM's paddings, too, and
DAB-DETR's queries begin as float32 zeros. And a CPU draws no numbers of a gamma distribution in
half precision, by which those transformers generate: `"gamma_cpu" not implemented for 'BFloat16'`.

Fix: what enters the first layer gets the dtype of its weight, and those get that of what they are
for; a CPU draws in float32.
Under autocast nothing changes but for norms in bfloat16 on a CPU, batch norms, which autocast
does not know, and DAB-DETR's zeros.

Why: only a call that would have raised is changed, as with heads and norms: by one rule, and a
table of what models call that layer and its input.
"""

import ast

from patchkit.authoring import Edit, Patch, Pattern, Rewrite, Rule, insert_after, replace
from patchkit.precision.autocast import spell_out_autocast
from patchkit.precision.input_rule import layer_input_rule, looped_layers_rule, masks_rule

PLAIN = ("pixel_values", "hidden_states", "hidden_state", "inputs", "x")
LAST = ("hidden_features", "pooled_embedding")
"""What heads are given behind a first layer that is packed, and returns the dtype of its input."""
INPUTS: dict[str, tuple[str, ...]] = {
    "projection": ("pixel_values", "pixel_values_videos", "input_values", "stacked", *LAST),
    "proj": ("pixel_values", "pixel_values_videos"),
    "patch_embed": ("pixel_values",),
    "patch_embedding": ("pixel_values",),
    "patch_embeddings": ("pixel_values",),
    "patch_projection": ("flattened_patches", "pixel_values"),
    "vision_embed_tokens": ("pixel_values",),
    "dense_0": ("input_features",),
    "input_linear": ("hidden_states",),
    # The first of several convolutions, by what models call it.
    "conv": PLAIN,
    "conv1": ("input_features", "input_values", "hidden_state", "hidden_states"),
    "convolution1": ("prompt_depth",),
    "conv_a": ("hidden_states",),
    **dict.fromkeys(("convolution", "first_convolution", "convnet_1x1", "conv_in"), ()),
    **dict.fromkeys(("conv_pre", "input_conv", "mel_conv"), ()),
    # Chunks of a sound, however they are called.
    "conv2d1": (),
    # Behind a first layer that is packed, and returns the dtype of its input.
    "spatial_conv": ("frames",),
    "conv_0": ("hidden_states",),
    # Numbers of time series, and of what was done, seen and earned.
    "value_projection": ("x",),
    "patcher": ("past_values",),
    "input_embedding": ("patch_input",),
    "base_forecast_block": LAST,
    "linear": ("self.dropout(pooled_embedding)",),
    "embed_state": ("states",),
    "embed_action": ("actions",),
    "embed_return": ("returns_to_go",),
    "input_layer": ("x",),
    "residual_layer": ("x",),
    "state_proj": ("state",),
    "action_in_proj": ("noise",),
    "speaker_embeds_layer": ("inputs_embeds",),
    # What a detector found in an image, and where.
    "visn_fc": ("visual_feats",),
    "box_fc": ("visual_pos",),
    "visual_projection": ("visual_embeds",),
    "boxes_direct_project": ("boxes",),
    "boxes_pos_enc_project": ("pos_enc",),
    "bbox_projection": ("bbox_pos_emb",),
}
ROWS = {"patch_embedding": "x", "blocks": "pixel_values"}
"""First layers that stand in a row (`nn.Sequential`), and their input."""
LOOPS = (
    ("conv_layers",),
    ("downsample_layers",),
    ("layers", "Conv2d"),
    ("layers", "speech_decoder_prenet_dropout"),
)
"""Loops that begin with a first layer, and what else tells them from those over whole blocks."""
RULES = {layer: layer_input_rule(layer, given=given) for layer, given in INPUTS.items()}


def given_paddings(node: ast.AST) -> bool:
    """`layer(hidden_states, paddings=patched_padding)`, of TimesFM."""
    match node:
        case ast.keyword(arg="paddings", value=ast.Name("patched_padding")):
            return True
    return False


def pad_in_dtype_of_states(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.keyword)
    autocast = spell_out_autocast("hidden_states")
    cast = f"patched_padding if {autocast} else patched_padding.to(hidden_states.dtype)"
    return [replace(node.value, cast)]


def positions_like_pixels(node: ast.AST) -> bool:
    """`self.position_embedding(shape=features.shape, dtype=pixel_values.dtype)`, of DETR."""
    match node:
        case ast.Call(func=ast.Attribute(attr="position_embedding"), keywords=keywords):
            given = {word.arg: word.value for word in keywords}
            return "shape" in given and PIXELS_DTYPE(given.get("dtype", node))
    return False


def positions_like_features(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.Call)
    given = {word.arg: word.value for word in node.keywords}
    features = ast.unparse(given["shape"]).removesuffix(".shape")
    autocast = spell_out_autocast(features)
    return [replace(given["dtype"], f"(pixel_values if {autocast} else {features}).dtype")]


def drawn_of_params(node: ast.AST) -> bool:
    """`self.output_distribution(params, …)`, of time-series transformers that generate."""
    match node:
        case ast.Call(func=ast.Attribute(attr="output_distribution"), args=[ast.Name("params")]):
            return True
    return False


def draw_in_float32_on_cpu(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.Call)
    wide = "tuple(part.float() if part.is_cpu else part for part in params)"
    return [replace(node.args[0], wide)]


def queries_like_anchors(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.Call)
    return [insert_after(node.args[-1], ", dtype=self.query_refpoint_embeddings.weight.dtype")]


def boxes_like_queries(node: ast.AST) -> list[Edit]:
    assert isinstance(node, ast.Call)
    autocast = spell_out_autocast("bbox_pos_emb")
    same = f"bbox_pos_emb if {autocast} else bbox_pos_emb.to(query_layer.dtype)"
    return [replace(node.args[1], f"(query_layer, {same})")]


PIXELS_DTYPE = Pattern("pixel_values.dtype")
BOXES = Rule(
    Pattern("torch.einsum(X, (query_layer, bbox_pos_emb))"),
    boxes_like_queries,
    ("einsum", "permute"),
    ("torch",),
)
SPECTRA = {
    "proj": layer_input_rule("proj", given=("hidden_states", "global_hidden_states")),
    "mel_conv2d": layer_input_rule("mel_conv2d", given=("local_hidden_states",)),
}
"""First layers behind a norm, which hands half precision on beside weights in float32."""
NO_QUERIES = Pattern("torch.zeros(N, M, self.hidden_size, device=device)")
POSITIONS = Rule(
    positions_like_pixels, positions_like_features, ("position_embedding", "shape"), ("torch",)
)
DRAWN = Rule(drawn_of_params, draw_in_float32_on_cpu, ("output_distribution", "sample"))
QUERIES = Rule(NO_QUERIES, queries_like_anchors, ("query_refpoint_embeddings", "zeros"))
DISTRIBUTED = looped_layers_rule("proj")
PADDINGS = Rule(given_paddings, pad_in_dtype_of_states, ("input_ff_layer",), ("torch",))

OTHER_RULES = (
    *(layer_input_rule(layer, given=(given,), in_a_row=True) for layer, given in ROWS.items()),
    *(looped_layers_rule(*names) for names in LOOPS),
    masks_rule("inputs_embeds", "value_embedding", "layernorm_embedding"),
    BOXES,
    PADDINGS,
    POSITIONS,
    QUERIES,
)

FIRST_NORM = {
    given: layer_input_rule("layer_norm", given=(given,), norm=True)
    for given in ("hidden_states", "image_features", "x")
}
FIRST_NORMS = {
    "seamless_m4t.modeling_seamless_m4t:SeamlessM4TConformerFeatureProjection": "hidden_states",
    "wav2vec2_bert.modeling_wav2vec2_bert:Wav2Vec2BertFeatureProjection": "hidden_states",
    "lfm3_vl.modeling_lfm3_vl:Lfm3VlMultiModalProjector": "image_features",
    "timesfm.modeling_timesfm:TimesFmMLP": "x",
}
SINCE = {"lfm3_vl": ">=5.23", "timesfm": ">=4.52"}
"""The releases that have a module; all for none."""
NORMS = {
    layer: layer_input_rule(layer, given=given, norm=True)
    for layer, given in {
        "norm": ("pixel_values", "inputs", "gate1 * second_residual + gate2 * hidden_states"),
        "patch_ln1": ("pixel_values",),
        "layernorm2": ("inputs",),
        # Behind a first layer: a packed one returns the dtype of its input.
        "layernorm_embedding": ("hidden_states + embed_pos",),
        "embed_ln": ("stacked_inputs",),
        "visn_layer_norm": ("x",),
        "box_layer_norm": ("y",),
        # Words that were given as vectors (`inputs_embeds`), and images beside them.
        "LayerNorm": ("embeddings",),
    }.items()
}
"""Norms at the beginning, and their input."""
DEFORMABLE_NORMS = {
    layer: layer_input_rule(layer, given=("hidden_states",), norm=True)
    for layer in ("self_attn_layer_norm", "encoder_attn_layer_norm")
}
"""Norms behind deformable attention, which looks its values up in float32 under autocast."""
BATCH_NORMS = {
    layer: layer_input_rule(layer, given=(given,), norm=True, autocasts=False)
    for layer, given in {"batch_norm": "input_features", "batchnorm": "output"}.items()
}

OWN_NORMS = (
    *("*Layer*", "*Encoder*", "*Decoder*", "*Model*", "*Block", "*Stage", "*Module"),
    *("*Attention*", "*MLP*", "*FeedForward", "*Head*", "*Transform*", "*Transition"),
    *("*Embedding*", "*Reduction", "*Resampler", "*Detection", "*ScaleProjector"),
    *("Data2VecAudioFeatureProjection", "HubertFeatureProjection", "SpeechT5FeatureProjection"),
    *("UniSpeechFeatureProjection", "UniSpeechSatFeatureProjection", "WavLMFeatureProjection"),
    *("Wav2Vec2FeatureProjection", "Wav2Vec2ConformerFeatureProjection"),
    *("AriaProjector", "InternVLMultiModalProjector", "Lfm2VlMultiModalProjector"),
    *("QianfanOCRMultiModalProjector", "NemotronH_Omni_Reasoning_V3MultiModalProjector"),
    "GraniteDoclingDeepStackMerger",
)
"""Classes that normalize what a model has computed itself, in its own dtype.

Projections of features and projectors are named one by one: what such a class of a new model
normalizes may be its input."""

OWN_PROJECTIONS = (
    *("Wav*Adapter", "Data2VecAudioAdapter", "*VariancePredictor", "VJEPA2Predictor"),
    *("*TextRouter", "ClvpGatedLinearUnit", "*FlowLossWeighting"),
)

SOURCE = "src/transformers/models/whisper/modeling_whisper.py"

TINY_WHISPER = {
    "vocab_size": 64,
    "num_mel_bins": 8,
    "d_model": 16,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 16,
    "decoder_ffn_dim": 16,
    "max_source_positions": 8,
    "max_target_positions": 8,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "decoder_start_token_id": 1,
}

PATCH = Patch(
    id="transformers-input-dtype",
    title="Images and sounds enter a model in the dtype of its first layer",
    affects={"transformers": ">=4.46.3"},
    changes=(
        *(
            Rewrite("transformers.models.*.modeling_*:*.forward", rule, sites=None)
            for rule in (*RULES.values(), *OTHER_RULES, *NORMS.values(), *BATCH_NORMS.values())
        ),
        *(
            Rewrite(f"transformers.models.{place}Layer.forward", rule, sites=None)
            for place in ("*detr*.modeling_*:*", "*former.modeling_*:*PixelDecoderEncoder")
            for rule in DEFORMABLE_NORMS.values()
        ),
        *(
            Rewrite("transformers.models.*.modeling_*:*PatchEmbed.forward", rule, sites=None)
            for rule in SPECTRA.values()
        ),
        Rewrite("transformers.models.*.modeling_*:*.masked_conv", RULES["projection"], sites=None),
        Rewrite("transformers.models.*.modeling_*:*.get_codebook_*", OTHER_RULES[1], sites=None),
        Rewrite("transformers.models.*.modeling_*:*.generate", DRAWN, sites=None),
        Rewrite(
            "transformers.models.*.modeling_*:*.get_image_features",
            RULES["vision_embed_tokens"],
            sites=None,
        ),
        *(
            Rewrite("transformers.models.*.modeling_*:*._encode_boxes", RULES[layer], sites=None)
            for layer in ("boxes_direct_project", "boxes_pos_enc_project")
        ),
        Rewrite("transformers.time_series_utils:ParameterProjection.forward", DISTRIBUTED),
        *(
            Rewrite(
                f"transformers.models.{place}.forward",
                FIRST_NORM[given],
                affects=SINCE.get(place.partition(".")[0], ""),
            )
            for place, given in FIRST_NORMS.items()
        ),
    ),
    harmless={
        # It hands the pixels to a module whose `forward` is fixed.
        "transformers.models.layoutlmv3.modeling_layoutlmv3:LayoutLMv3Model.forward_image": "",
        # Modeling files are generated from these, and nothing imports them.
        "transformers.models.*.modular_*:*.*": "",
        "transformers.models.deprecated.*:*.*": "",
        **dict.fromkeys((f"transformers.models.*.*:{name}.*" for name in OWN_NORMS), ""),
        # They project what the model has computed itself.
        **dict.fromkeys(
            (f"transformers.models.*.*:{name}.forward" for name in OWN_PROJECTIONS), ""
        ),
    },
    upstream=("https://github.com/huggingface/transformers/blob/v5.23.0/" + SOURCE,),
    symptom="should be the same|have the same dtype, but got|mixed dtype|not implemented for",
    messages=(
        "Input type (float) and bias type (c10::Half) should be the same",
        "Input type (float) and bias type (c10::BFloat16) should be the same",
        "Input type (c10::Half) and bias type (float) should be the same",
        "Input type (c10::BFloat16) and bias type (float) should be the same",
        "mixed dtype (CPU): expect parameter to have scalar type of Float",
    ),
)


def reproduce() -> None:
    """Give a tiny bfloat16 Whisper float32 sounds, as its feature extractor returns them."""
    import torch
    import transformers

    from patchkit.authoring import device

    config = transformers.WhisperConfig(**TINY_WHISPER)
    torch.manual_seed(0)
    model = transformers.WhisperForConditionalGeneration(config).bfloat16().to(device()).eval()
    sounds = torch.ones(1, 8, 16, device=device())
    words = torch.tensor([[3, 4]], device=device())
    with torch.no_grad():
        logits = model(input_features=sounds, decoder_input_ids=words).logits
    assert logits.dtype == torch.bfloat16
