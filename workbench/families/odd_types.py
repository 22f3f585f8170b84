"""List what single model types need in a tiny configuration.

A type that is a part of others has its row here, too. Nested mappings belong to parts.
"""

from __future__ import annotations

from typing import Any

_NO_ROTATION = {"rope_type": "default", "rope_theta": 10000.0}
_TWO_HYBRID_LAYERS = {
    "num_hidden_layers": 4,
    "layers_block_type": ["linear_attention", "hybrid", "linear_attention", "hybrid"],
    "attention_hidden_size": 128,
    "attention_head_dim": 32,
    "num_key_value_heads": 4,
}
_BY_POSITION = {"vision_start_token_id": 40, "vision_end_token_id": 41}
_ONE_TILE = {"image_grid_pinpoints": [[32, 32]]}
_FOUR_STAGES = {"hidden_sizes": [32, 32, 64, 64], "depths": [1, 1, 1, 1]}
_WINDOWS = {
    "image_size": 32,
    "patch_size": 4,
    "embed_dim": 32,
    "depths": [1, 1],
    "num_heads": [2, 4],
    "window_size": 4,
}
_STAGES = ["stage1", "stage2", "stage3", "stage4"]
_TINY_RESNET = {
    "model_type": "resnet",
    "embedding_size": 32,
    **_FOUR_STAGES,
    "layer_type": "basic",
    "out_features": ["stage2", "stage3", "stage4"],
}
_TINY_SWIN = {
    "model_type": "swin",
    **_WINDOWS,
    "depths": [1] * 4,
    "num_heads": [2] * 4,
    "embed_dim": 16,
    "out_features": _STAGES,
}
_FEW_QUERIES = {"num_queries": 8}
_FEW_POINTS = {**_FEW_QUERIES, "train_num_points": 64}
_OF_ONE_STAGE = {**_FEW_QUERIES, "backbone_config": {**_TINY_RESNET, "out_features": ["stage4"]}}
_OF_STAGES = {
    **_FEW_QUERIES,
    "backbone_config": _TINY_RESNET,
    "encoder_in_channels": [32, 64, 64],
    "encoder_hidden_dim": 64,
    "decoder_in_channels": [64] * 3,
    "num_denoising": 2,
}
_WAVES = {"conv_dim": [32] * 7}
_OF_NEMOTRON_SPEECH = (
    "nemotron3_5_transcribe_asr_audio",
    "nemotron3_5_transcribe_word_timestamp",
    "nemotron3_diarization_audio",
)
_WAVES_WITHOUT_NOISE = {
    "num_filters": 8,
    "downsampling_ratios": [8, 8, 10],
    "depths": [1] * 4,
    "layer_scale_init_value": 0.1,
    "vae_std": 0.0,
}
ODD_TYPES: dict[str, dict[str, Any]] = {
    **dict.fromkeys(("conditional_detr", "dab-detr", "table-transformer"), _OF_ONE_STAGE),
    "detr": {
        **_FEW_QUERIES,
        "backbone_config": {**_TINY_RESNET, "out_features": _STAGES},
        **dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads"), 8),
    },
    "deformable_detr": {**_FEW_QUERIES, "backbone_config": _TINY_RESNET, "num_feature_levels": 3},
    **dict.fromkeys(("d_fine", "rt_detr", "rt_detr_v2"), _OF_STAGES),
    **dict.fromkeys(("eomt", "eomt_dinov3"), _FEW_POINTS),
    "mask2former": {
        **_FEW_POINTS,
        "backbone_config": _TINY_SWIN,
        **dict.fromkeys(("feature_size", "mask_feature_size", "hidden_dim"), 64),
        "encoder_layers": 1,
        "decoder_layers": 2,
        "num_attention_heads": 4,
    },
    "maskformer": {
        "backbone_config": _TINY_SWIN,
        **dict.fromkeys(("fpn_feature_size", "mask_feature_size"), 64),
        "decoder_config": {"model_type": "detr", **_OF_ONE_STAGE},
    },
    "oneformer": {
        **_FEW_POINTS,
        "backbone_config": _TINY_SWIN,
        "is_training": True,
        **dict.fromkeys(("hidden_dim", "mask_dim", "conv_dim", "text_encoder_width"), 64),
        "encoder_layers": 1,
        "decoder_layers": 2,
        "num_attention_heads": 4,
        "task_seq_len": 12,
        "text_encoder_context_length": 12,
        "text_encoder_n_ctx": 2,
    },
    "upernet": {
        "backbone_config": {"model_type": "convnext", **_FOUR_STAGES, "out_features": _STAGES},
        "auxiliary_in_channels": 64,
    },
    "yolos": {"image_size": [32, 32], "num_detection_tokens": 8},
    "aria": {"projector_patch_to_query_dict": {"16": 4}},
    "bamba": {"attn_layer_indices": [1]},
    "beit": {"num_hidden_layers": 4, "out_indices": [1, 2, 3, 4]},
    "blip-2": {"image_token_index": 40},
    "blt": {"num_hidden_layers": 2},
    "chameleon": {"vocabulary_map": {"<image>": 40}, "image_token_id": 40},
    "cohere_compass_text": {
        "rope_parameters": dict.fromkeys(("full_attention", "sliding_attention"), _NO_ROTATION)
    },
    **dict.fromkeys(("convnext", "convnextv2", "regnet"), _FOUR_STAGES),
    "dbrx": {"attn_config": {"rope_theta": 10000.0, "kv_n_heads": 2, "clip_qkv": 8.0}},
    "deepseek_v2": {"num_key_value_heads": 4, "num_experts_per_tok": 2},
    "deepseek_ocr2_text": {"mlp_layer_types": ["dense", "sparse"], "num_key_value_heads": 4},
    "dots3_note_audio_encoder": {"adapter_input_size": 64},
    "dots3_note_text": {
        "num_hidden_layers": 2,
        "layer_types": ["indexed_attention", "sliding_attention"],
        "mlp_layer_types": ["dense", "sparse"],
        "num_key_value_heads": 4,
        "head_dim": 64,
        "per_layer_config": {
            "1": {
                "num_attention_heads": 4,
                "num_key_value_heads": 4,
                "q_lora_rank": 64,
                "kv_lora_rank": 64,
                "head_dim": 64,
                "qk_nope_head_dim": 32,
                "qk_rope_head_dim": 32,
                "v_head_dim": 32,
            }
        },
    },
    "dpt": {
        "backbone_out_indices": [0, 1, 2, 3],
        "num_hidden_layers": 4,
        "neck_hidden_sizes": [16, 16, 32, 32],
        "fusion_hidden_size": 32,
        "pooler_output_size": 64,
    },
    "emu3": {"vocabulary_map": {"<image>": 40, "<|extra_200|>": 41}, "image_token_id": 40},
    "encoder-decoder": {"pad_token_id": 0, "decoder_start_token_id": 1},
    "ernie4_5_vl_moe_text": {
        "rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [3, 3, 2]}
    },
    "esm": {"vocab_size": 160, "pad_token_id": 1, "mask_token_id": 2},
    "falcon_h1": {"mamba_d_ssm": 128},
    "florence_vision": {"patch_size": [7, 3, 3, 3]},
    "fun_asr_nano": {"adaptor_config": {"intermediate_size": 16}},
    "gemma4": {"vision_config": {"model_type": "gemma4_vision"}},
    "gemma4_assistant": {
        "text_config": dict.fromkeys(
            ("hidden_size_per_layer_input", "vocab_size_per_layer_input"), 0
        )
    },
    "glm5_next_text": {
        "num_key_value_heads": 4,
        "index_kpool": 4,
        "qk_rope_head_dim": 0,
        "head_dim": 0,
    },
    "granite4_vision": {
        **_ONE_TILE,
        "downsample_rate": "1/2",
        "deepstack_layer_map": [[0, 0], [1, 1]],
    },
    **{key: {"downsample_rate": 4} for key in ("granite_speech", "granite_speech_plus")},
    "granite_speech_encoder": {"hidden_dim": 64},
    "granite_speech_plus_encoder": {"hidden_dim": 64},
    "granitemoehybrid": {"layer_types": ["mamba", "attention"]},
    "hgnet_v2": {
        "hidden_sizes": [32, 32, 64, 64],
        "stem_channels": [3, 8, 16],
        "stage_in_channels": [16, 32, 32, 64],
        "stage_mid_channels": [16] * 4,
        "stage_out_channels": [32, 32, 64, 64],
        "stage_num_blocks": [1] * 4,
        "stage_numb_of_layers": [2] * 4,
    },
    "instructblip": {"image_token_index": 40},
    "instructblipvideo": {"video_token_index": 40},
    "kyutai_speech_to_text": {"num_codebooks": 4, "codebook_vocab_size": 65},
    "layoutlmv3": {"coordinate_size": 8, "shape_size": 16},
    "led": {"attention_window": 8},
    "lfm2_moe": {"layer_types": ["conv", "full_attention"], "num_dense_layers": 1},
    "lilt": {"hidden_size": 96},
    "llama4_vision_model": {"intermediate_size": 256},
    "llava_next": _ONE_TILE,
    "llava_next_video": _ONE_TILE,
    "llava_onevision": _ONE_TILE,
    "mamba2": {"num_heads": 8},
    "mimi": {"num_filters": 8, "upsample_groups": 64, "codebook_dim": 16},
    "moonshine_streaming": {"num_key_value_heads": 4},
    "moonshine_streaming_encoder": {"sliding_windows": [[16, 4], [16, 0]]},
    **{key: {"num_key_value_heads": 4} for key in _OF_NEMOTRON_SPEECH},
    "perceiver": {"max_position_embeddings": 12},
    "pop2piano": {"composer_vocab_size": 1},
    "qwen2_5_omni_thinker": _BY_POSITION,
    "qwen3_omni_moe_thinker": _BY_POSITION,
    "reformer": {"is_decoder": True, "axial_pos_embds": False},
    **{key: {"image_token_id": 40} for key in ("minicpm_ocr", "minicpmv4_6", "minicpmv4_7")},
    "muse_spark_audio": {"hidden_sizes": [32] * 4, "depths": [1] * 4},
    "resnet": {**_FOUR_STAGES, "embedding_size": 32},
    "step3p5": {"sliding_window": 8},
    **dict.fromkeys(("donut-swin", "swin", "swinv2"), _WINDOWS),
    "t5": {"decoder_start_token_id": 0},
    "udop": {"decoder_start_token_id": 0},
    "vibevoice_acoustic_tokenizer": _WAVES_WITHOUT_NOISE,
    "vibevoice_acoustic_tokenizer_encoder": _WAVES_WITHOUT_NOISE,
    "vjepa2": {
        "crop_size": 32,
        "frames_per_clip": 4,
        "num_pooler_layers": 1,
        "pred_hidden_size": 64,
        "pred_num_attention_heads": 4,
        "pred_num_hidden_layers": 2,
    },
    "voxtral": {"audio_token_id": 40},
    "xlstm": {"qk_dim_factor": 1.0, "mode": "train", "chunk_size": 12},
    "xmod": {"default_language": "en_XX"},
    "zamba": {**_TWO_HYBRID_LAYERS, "n_mamba_heads": 2},
    "zamba2": {**_TWO_HYBRID_LAYERS, "mamba_headdim": 16, "hybrid_layer_ids": [1, 3]},
    "zaya": {"num_experts_per_tok": 1},
    **dict.fromkeys(
        (
            "data2vec-audio",
            "hubert",
            "unispeech",
            "unispeech-sat",
            "wav2vec2",
            "wav2vec2-conformer",
            "wavlm",
        ),
        _WAVES,
    ),
    **{key: {"conv_dim": [32] * 13} for key in ("sew", "sew-d")},
}
GENERATION: dict[str, dict[str, Any]] = {
    "pop2piano": {"composer_to_feature_token": {"composer1": 60}}
}
"""What the generation of single types reads of the configuration for it."""
