"""Names of Transformers that have no counterpart: other frameworks, tasks, agents, decoding."""

from __future__ import annotations

from collections.abc import Iterable

from ..changes import Change, Form, Gone

_PYTORCH_ALONE = "Models are PyTorch's alone; leave TF or Flax out of the name."
_TASKS = (
    "CausalLM",
    "ImageClassification",
    "MaskedLM",
    "MultipleChoice",
    "NextSentencePrediction",
    "QuestionAnswering",
    "Seq2SeqLM",
    "SequenceClassification",
    "SpeechSeq2Seq",
    "TokenClassification",
    "Vision2Seq",
)
_TENSORFLOW_TASKS = (
    "AudioClassification",
    "DocumentQuestionAnswering",
    "MaskGeneration",
    "MaskedImageModeling",
    "SemanticSegmentation",
    "TableQuestionAnswering",
    "TextEncoding",
    "ZeroShotImageClassification",
)
_FLAX_PROCESSORS = (
    "ForceTokensLogitsProcessor",
    "ForcedBOSTokenLogitsProcessor",
    "ForcedEOSTokenLogitsProcessor",
    "GenerationMixin",
    "LogitsProcessor",
    "LogitsProcessorList",
    "LogitsWarper",
    "MinLengthLogitsProcessor",
    "SuppressTokensAtBeginLogitsProcessor",
    "SuppressTokensLogitsProcessor",
    "TemperatureLogitsWarper",
    "TopKLogitsWarper",
    "TopPLogitsWarper",
)
_MAPPED = (
    "AUDIO_CLASSIFICATION",
    "CAUSAL_LM",
    "IMAGE_CLASSIFICATION",
    "MASKED_LM",
    "MULTIPLE_CHOICE",
    "NEXT_SENTENCE_PREDICTION",
    "PRETRAINING",
    "QUESTION_ANSWERING",
    "SEQUENCE_CLASSIFICATION",
    "SEQ_TO_SEQ_CAUSAL_LM",
    "SPEECH_SEQ_2_SEQ",
    "TOKEN_CLASSIFICATION",
    "VISION_2_SEQ",
)
_TENSORFLOW_MAPPED = (
    "DOCUMENT_QUESTION_ANSWERING",
    "MASKED_IMAGE_MODELING",
    "MASK_GENERATION",
    "SEMANTIC_SEGMENTATION",
    "TABLE_QUESTION_ANSWERING",
    "TEXT_ENCODING",
    "ZERO_SHOT_IMAGE_CLASSIFICATION",
)
_TENSORFLOW = (
    *(f"TFAutoModelFor{task}" for task in (*_TASKS, *_TENSORFLOW_TASKS, "PreTraining")),
    "TFAutoModel",
    "TFAutoModelWithLMHead",
    *(f"TF{name}" for name in _FLAX_PROCESSORS),
    "TFNoBadWordsLogitsProcessor",
    "TFNoRepeatNGramLogitsProcessor",
    "TFRepetitionPenaltyLogitsProcessor",
    *(f"TF_MODEL_FOR_{task}_MAPPING" for task in (*_MAPPED, *_TENSORFLOW_MAPPED)),
    "TF_MODEL_MAPPING",
    "TF_MODEL_WITH_LM_HEAD_MAPPING",
    "TFPreTrainedModel",
    "TFSequenceSummary",
    "TFSharedEmbeddings",
    "TFTrainingArguments",
    "TF2_WEIGHTS_NAME",
    "TF_WEIGHTS_NAME",
    "AdamWeightDecay",
    "GradientAccumulator",
    "KerasMetricCallback",
    "PushToHubCallback",
    "WarmUp",
    "convert_tf_weight_name_to_pt_weight_name",
    "create_optimizer",
    "is_keras_nlp_available",
    "is_tensorflow_text_available",
    *(f"load_pytorch_{what}_in_tf2_model" for what in ("checkpoint", "model", "weights")),
    *(f"load_tf2_{what}_in_pytorch_model" for what in ("checkpoint", "model", "weights")),
    "shape_list",
)
_FLAX = (
    *(f"FlaxAutoModelFor{task}" for task in (*_TASKS, "PreTraining")),
    "FlaxAutoModel",
    *(f"Flax{name}" for name in (*_FLAX_PROCESSORS, "WhisperTimeStampLogitsProcessor")),
    *(f"FLAX_MODEL_FOR_{task}_MAPPING" for task in _MAPPED),
    "FLAX_MODEL_MAPPING",
    "FlaxPreTrainedModel",
)
_WITH_TENSORFLOW = (Form("transformers 5.0.0", also="tensorflow tf-keras"),)
_WITH_FLAX = (Form("transformers 5.0.0", also="flax jax"),)

_SMOLAGENTS = "The package smolagents takes its place."
_EVALUATE = "Load data with the package datasets; compute metrics with the package evaluate."
_OWN_DATASET = "Load the data with the package datasets, and map it with a function of your own."
_GENERATE = 'pipeline("text-generation") with a chat model does it, or generate() of the model.'
_BEAMS = "generate(num_beams=…) needs no scorer."
_CONSTRAINTS = "generate(custom_generate=…) takes decoding methods that are not built in."
_STATIC = "StaticCache(config=…, max_cache_len=…) has a layer of the right kind for each of these."
_OFFLOADED = "DynamicCache(offloading=True) and StaticCache(…, offloading=True) take its place."
_QUANTIZED = "QuantizedCache(backend=…, config=…) takes its place."
_BY_NAME = 'generate(cache_implementation="quantized", cache_config={…}) takes a plain dictionary.'
_OWN = "Nothing in Transformers takes its place."
_CARD = "ModelCard of huggingface_hub takes its place."
_MIXED_IN = "PreTrainedTokenizerBase has its methods."
_DEVICE = "torch.accelerator.current_accelerator() tells which device there is."
_SEARCH = "optuna, ray and wandb search for hyperparameters."
_CHAT = "A list of messages takes its place: apply_chat_template(messages)."
_VISION = 'pipeline("image-text-to-text") takes its place.'
_GROUPS = 'generate(custom_generate="transformers-community/group-beam-search") does it.'
_BENCHMARKS = "The package optimum-benchmark takes its place."
_FORCED = "generate(decoder_input_ids=…) begins with tokens of your choice."
_ARCHIVES = "It listed checkpoints of a model; list those on the model's page."


def _gone(
    release: str, instead: str, *names: str, forms: tuple[Form, ...] = ()
) -> Iterable[Change]:
    """Return a row for each name of the top level."""
    for name in names:
        yield Gone(
            name=f"transformers.{name}",
            instead=instead,
            forms=forms,
            gone=f"transformers {release}",
        )


ROWS: tuple[Change, ...] = (
    *_gone("4.39.0", _PYTORCH_ALONE, "tf_top_k_top_p_filtering"),
    *_gone("4.41.0", _SMOLAGENTS, "AzureOpenAiAgent", "HfAgent", "LocalAgent", "OpenAiAgent"),
    *_gone("4.41.0", _SMOLAGENTS, "RemoteTool", "tools"),
    *_gone("4.41.0", _ARCHIVES, "ALL_PRETRAINED_CONFIG_ARCHIVE_MAP"),
    *_gone("4.42.0", _CHAT, "Conversation", "ConversationalPipeline"),
    *_gone("4.45.0", _SMOLAGENTS, "HfEngine"),
    *_gone("4.45.0", _FORCED, "ForceTokensLogitsProcessor"),
    *_gone("4.46.0", _OWN, "is_decord_available"),
    *_gone("4.49.0", _BENCHMARKS, "PyTorchBenchmark", "PyTorchBenchmarkArguments"),
    *_gone("4.49.0", _BENCHMARKS, "TensorFlowBenchmark", "TensorFlowBenchmarkArguments"),
    *_gone("4.52.0", _OWN, "model_addition_debugger"),
    *_gone(
        "4.52.0",
        _SMOLAGENTS,
        "Agent",
        "CodeAgent",
        "HfApiEngine",
        "ManagedAgent",
        "PipelineTool",
        "ReactAgent",
        "ReactCodeAgent",
        "ReactJsonAgent",
        "Tool",
        "ToolCollection",
        "Toolbox",
        "TransformersEngine",
        "agents",
        "launch_gradio_demo",
        "load_tool",
        "stream_to_gradio",
        "tool",
    ),
    *_gone("4.56.0", _BY_NAME, "CacheConfig", "QuantizedCacheConfig"),
    *_gone("4.56.0", _OWN, "CacheProcessor", "OffloadedCacheProcessor", "QuantizedCacheProcessor"),
    *_gone("4.56.0", _OWN, "HQQQuantizedCacheProcessor", "QuantoQuantizedCacheProcessor"),
    *_gone("4.57.0", _GROUPS, "HammingDiversityLogitsProcessor"),
    *_gone("4.57.0", _BEAMS, "BeamSearchScorer"),
    *_gone("5.0.0", _PYTORCH_ALONE, *_TENSORFLOW, forms=_WITH_TENSORFLOW),
    *_gone("5.0.0", _PYTORCH_ALONE, *_FLAX, forms=_WITH_FLAX),
    *_gone("5.0.0", _GENERATE, "SummarizationPipeline", "Text2TextGenerationPipeline"),
    *_gone("5.0.0", _GENERATE, "TranslationPipeline"),
    *_gone("5.0.0", _VISION, "ImageToTextPipeline"),
    *_gone("5.0.0", _BEAMS, "BeamScorer"),
    *_gone("5.0.0", _CONSTRAINTS, "ConstrainedBeamSearchScorer", "Constraint"),
    *_gone("5.0.0", _CONSTRAINTS, "ConstraintListState", "DisjunctiveConstraint"),
    *_gone("5.0.0", _CONSTRAINTS, "PhrasalConstraint", "SinkCache"),
    *_gone("5.0.0", _STATIC, "HybridCache", "HybridChunkedCache", "SlidingWindowCache"),
    *_gone("5.0.0", _STATIC, "ChunkedSlidingLayer", "SlidingWindowLayer"),
    *_gone("5.0.0", _OFFLOADED, "OffloadedCache", "OffloadedStaticCache"),
    *_gone("5.0.0", _QUANTIZED, "HQQQuantizedCache", "QuantoQuantizedCache"),
    *_gone("5.0.0", _OWN_DATASET, "LineByLineWithRefDataset", "LineByLineWithSOPTextDataset"),
    *_gone("5.0.0", _OWN_DATASET, "TextDatasetForNextSentencePrediction"),
    *_gone("5.0.0", _CARD, "ModelCard"),
    *_gone("5.0.0", _MIXED_IN, "SpecialTokensMixin"),
    *_gone("5.0.0", _DEVICE, "infer_device"),
    *_gone("5.0.0", _SEARCH, "is_sigopt_available"),
    *_gone("5.0.0", _OWN, "MODEL_WITH_LM_HEAD_MAPPING", "prune_layer"),
    *_gone("5.3.0", _OWN, "ImageToImagePipeline", "QuestionAnsweringPipeline"),
    *_gone("5.3.0", _VISION, "VisualQuestionAnsweringPipeline"),
    *_gone("5.5.0", "A model makes its own cache.", "MambaCache"),
    *_gone("5.6.0", _OWN, "MODEL_NAMES_MAPPING"),
    *_gone(
        "5.20.0",
        _EVALUATE,
        "DataCollatorForSOP",
        "DataProcessor",
        "GlueDataTrainingArguments",
        "GlueDataset",
        "InputExample",
        "InputFeatures",
        "SingleSentenceClassificationProcessor",
        "SquadDataTrainingArguments",
        "SquadDataset",
        "SquadExample",
        "SquadFeatures",
        "SquadV1Processor",
        "SquadV2Processor",
        "glue_compute_metrics",
        "glue_convert_examples_to_features",
        "glue_output_modes",
        "glue_processors",
        "glue_tasks_num_labels",
        "squad_convert_examples_to_features",
        "xnli_compute_metrics",
        "xnli_output_modes",
        "xnli_processors",
        "xnli_tasks_num_labels",
    ),
)
