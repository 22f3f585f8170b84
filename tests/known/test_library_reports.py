"""Errors that many people reported of Transformers and what stands beside it, by how often they are."""

from __future__ import annotations

import re

import pytest

from patchkit.known.answering import answered
from patchkit.known.reading import read
from tests.known.test_reports import NEWEST, said

_LINE = '  File "/x/site-packages/{}", line 7, in {}\n'


def raised_in(place: str, function: str, message: str) -> str:
    return _LINE.format(place, function) + message


# Report to: the text, and what the answer must say.
REPORTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "a class that Unsloth patched": (
        raised_in(
            "unsloth/models/llama.py",
            "LlamaModel_fast_forward",
            "AttributeError: 'LlamaModel' object has no attribute 'model'",
        ),
        ("Unsloth did not prepare", "FastLanguageModel"),
    ),
    "a name that a worker of map() lacks": (
        raised_in(
            "datasets/arrow_dataset.py",
            "apply_function_on_filtered_inputs",
            "NameError: name 'tokenizer' is not defined",
        ),
        ("given to map", 'fn_kwargs=\\{"tokenizer": tokenizer\\}'),
    ),
    "a cell that was not run": (
        "Cell In[2], line 1\n----> 1 trainer.train()\n\nNameError: name 'trainer' is not defined",
        ("the cell", "trainer"),
    ),
    "one reward for all completions": (
        "    rewards_per_func[:, i] = torch.tensor(output_reward_func, device=device)\n"
        "RuntimeError: The expanded size of the tensor (8) must match the existing size (1) at "
        "non-singleton dimension 0",
        ("returned 1 rewards for 8 completions",),
    ),
    "a refusal is quoted whole": (
        raised_in(
            "transformers/generation/utils.py",
            "generate",
            "ValueError: `streamer` cannot be used with beam search (yet!). Make sure that "
            "`num_beams` is set to 1.",
        ),
        ("Make sure that `num_beams` is set to 1",),
    ),
    "a package that an error names": (
        "ImportError: Please pip install zstandard",
        ("python -m pip install -U zstandard",),
    ),
    "huggingface/transformers#18024": (
        "OSError: Tried to clone https://huggingface.co/me/model into an unrelated git repository.",
        ("pushes by git", "hf upload"),
    ),
    "unslothai/unsloth#2746": (
        raised_in(
            "trl/trainer/sft_trainer.py",
            "_prepare_dataset",
            "AttributeError: 'CustomDataset' object has no attribute 'map'",
        ),
        ("datasets\\.Dataset", "skip_prepare_dataset"),
    ),
    "huggingface/datasets#2116": (
        raised_in(
            "datasets/arrow_dataset.py",
            "num_rows",
            "AttributeError: 'MyDataset' object has no attribute '_data'",
        ),
        ("without calling its __init__", "from_list"),
    ),
    "huggingface/datasets#6851": (
        raised_in(
            "datasets/load.py",
            "dataset_module_factory",
            "UnicodeDecodeError: 'utf-8' codec can't decode byte 0x8b in position 1: invalid start byte",
        ),
        ("gzip", "pip install -U datasets"),
    ),
    "a column indexed by NumPy": (
        raised_in(
            "datasets/formatting/formatting.py",
            "_raise_bad_key_type",
            "TypeError: Wrong key type: '5' of type '<class 'numpy.int64'>'. Expected one of int, "
            "slice, range, str or Iterable.",
        ),
        ("list\\(dataset",),
    ),
    "a sentence that is NaN": (
        raised_in(
            "sentence_transformers/SentenceTransformer.py",
            "encode",
            "TypeError: 'float' object is not subscriptable",
        ),
        ("NaN", "astype\\(str\\)"),
    ),
    "a learning rate that YAML reads as text": (
        raised_in(
            "torch/optim/adamw.py",
            "__init__",
            "TypeError: '<=' not supported between instances of 'float' and 'str'",
        ),
        ("YAML", "1\\.0e-5"),
    ),
    "meta-llama/llama-cookbook#709": (
        "TypeError: 'dict' object is not callable\n    peft_config = model.peft_config()",
        ("without brackets",),
    ),
    "a pipeline of an adapter": (
        "The model 'PeftModelForCausalLM' is not supported for text-generation. Supported models "
        "are ['BartForCausalLM', 'BertLMHeadModel'",
        ("A notice",),
    ),
    "tloen/alpaca-lora#600": (
        "TypeError: LoraConfig.__init__() got an unexpected keyword argument 'enable_lora'",
        ("adapter_config\\.json", "Delete"),
    ),
    "huggingface/datasets#6567": (
        raised_in(
            "transformers/trainer.py",
            "_move_model_to_device",
            "AttributeError: 'str' object has no attribute 'to'",
        ),
        ("given as a text", "from_pretrained"),
    ),
    "jianzhnie/LLamaTuner#97": (
        raised_in(
            "peft/config.py",
            "from_pretrained",
            "TypeError: LoraConfig.__init__() got an unexpected keyword argument 'loftq_config'",
        ),
        ("newer PEFT", "pip install -U peft"),
    ),
    "NielsRogge/Transformers-Tutorials#381": (
        "ValueError: You passed a `DataCollatorForCompletionOnlyLM` to the SFTTrainer. This is not "
        "compatible with the `packing` argument.",
        ("packing=False",),
    ),
    "huggingface/open-r1#366": (
        "    shift_logits = outputs.logits[..., :-1, :].contiguous()\n"
        "TypeError: 'NoneType' object is not subscriptable",
        ("Liger", "Upgrade TRL", "use_liger_kernel=False"),
    ),
    "huggingface/course#1005": (
        '    prompt_ids = inputs["prompt_ids"]\n'
        "TypeError: list indices must be integers or slices, not str",
        ("0\\.15", "pip install -U trl"),
    ),
    "princeton-nlp/SimCSE#42": (
        raised_in(
            "transformers/models/gpt2/tokenization_gpt2.py",
            "__init__",
            "TypeError: expected str, bytes or os.PathLike object, not NoneType",
        ),
        ("merges\\.txt", "use_fast=True"),
    ),
    "ymcui/Chinese-LLaMA-Alpaca#141": (
        "AttributeError: 'PeftModelForCausalLM' object has no attribute 'merge_and_unload'",
        ("too old", "0\\.3", "pip install -U peft"),
    ),
    "OpenCSGs/csghub-sdk#89": (
        "ValueError: BuilderConfig ParquetConfig(name='mrpc', version=0.0.0) doesn't have a "
        "'use_auth_token' key.",
        ("use_auth_token", "token="),
    ),
    "huggingface/datasets#6183": (
        "SchemaInferenceError: Please pass `features` or at least one example when writing data",
        ("no rows", "path"),
    ),
    "unslothai/unsloth#3293": (
        raised_in("unsloth/models/rl.py", "patch_functions", "IndexError: list index out of range"),
        ("rewrites the source", "unsloth_compiled_cache", "unsloth_zoo"),
    ),
    "hiyouga/LlamaFactory#7232": (
        "AttributeError: Can't get local object 'AutoModelForCausalLMWithValueHead.post_init."
        "<locals>.set_device_hook'",
        ("pickled", "dataloader_num_workers=0"),
    ),
    "modelscope/ms-swift#3207": (
        "AttributeError: 'OSError' object has no attribute 'choices'",
        ("OSError above", "pip install -U ms-swift"),
    ),
    "clovaai/donut#155": (
        "TypeError: prepare_inputs_for_inference() got an unexpected keyword argument "
        "'past_key_values'",
        ("4\\.25", "kwargs"),
    ),
    "huggingface/datasets#7793": (
        "pyarrow.lib.ArrowNotImplementedError: Nested data conversions not implemented for chunked "
        "array outputs",
        ("2 GiB", "row_group_size"),
    ),
    "modelscope/ms-swift#4754": (
        "MaxLengthError: Current length of row(7756) is larger than the max_length(4096).",
        ("7756", "4096", "truncation_strategy"),
    ),
    "huggingface/transformers#37713": (
        'SafetensorError: Error while serializing: IoError(Os { code: 1224, message: "The requested '
        'operation cannot be performed on a file with a user-mapped section open." })',
        ("loaded from", "another folder"),
    ),
    "hiyouga/LlamaFactory#7959": (
        "ValueError: Processor was not found, please check and update your model file.",
        ("preprocessor_config\\.json", "-hf"),
    ),
    "huggingface/transformers#27546": (
        raised_in(
            "transformers/generation/utils.py",
            "generate",
            "RuntimeError: The size of tensor a (12) must match the size of tensor b (31) at "
            "non-singleton dimension 3",
        ),
        ("attention_mask", "past_key_values"),
    ),
    "liyaxuanliyaxuan/TinyVLA#17": (
        "ValueError: The checkpoint you are trying to load has model type `llava_pythia` but "
        "Transformers does not recognize this architecture.",
        ("or never", "import the project's package", "trust_remote_code"),
    ),
    "MaartenGr/BERTopic#2364": (
        "ImportError: cannot import name 'PreTrainedModel' from 'transformers' (/x/__init__.py)",
        ("every release", "PyTorch", "--force-reinstall"),
    ),
    "huggingface/sentence-transformers#3341": (
        "TypeError: SentenceTransformerTrainingArguments.__init__() got an unexpected keyword "
        "argument 'dispatch_batches'",
        ("accelerator_config",),
    ),
    "a data set of files with other columns": (
        "datasets.exceptions.DatasetGenerationCastError: An error occurred while generating the "
        "dataset\n\nAll the data files must have the same columns, but at some point there are 1 "
        "new columns ({'system'})",
        ("different columns",),
    ),
    "a project of before 4.35": (
        "ImportError: cannot import name '_expand_mask' from "
        "'transformers.models.clip.modeling_clip' (/x/modeling_clip.py)",
        ("4\\.35",),
    ),
    "a tokenizer's folder without files": (
        "OSError: Can't load tokenizer for 'openai/clip-vit-large-patch14'. If you were trying to "
        "load it from 'https://huggingface.co/models', make sure",
        ("under openai/clip-vit-large-patch14:",),
    ),
    "huggingface/datasets#2795": (
        "TypeError: TextInputSequence must be str",
        ("None", "filter"),
    ),
    "hiyouga/LlamaFactory#6743": (
        raised_in(
            "llamafactory/data/mm_plugin.py",
            "process_messages",
            "TypeError: argument of type 'NoneType' is not iterable",
        ),
        ("null", "filter"),
    ),
    "a model of 2025 beside an old PyTorch": (
        "    if v not in ALL_PARALLEL_STYLES:\n"
        + raised_in(
            "transformers/modeling_utils.py",
            "post_init",
            "TypeError: argument of type 'NoneType' is not iterable",
        ),
        ("PyTorch", "torch>=2\\.5"),
    ),
    "a video processor without torchvision": (
        raised_in(
            "transformers/models/auto/video_processing_auto.py",
            "video_processor_class_from_name",
            "TypeError: argument of type 'NoneType' is not iterable",
        ),
        ("torchvision",),
    ),
    "unslothai/unsloth#1440": (
        raised_in("unsloth/models/dpo.py", "on_log", "KeyError: 'rewards/accuracies'"),
        ("PatchDPOTrainer", "Upgrade Unsloth"),
    ),
    "huggingface/trl#2340": (
        "AttributeError: 'AutoModelForCausalLMWithValueHead' object has no attribute "
        "'generation_config'",
        ("trl<0\\.12", "SequenceClassification"),
    ),
    "a plain model for PPO": (
        "AttributeError: 'LlamaForCausalLM' object has no attribute 'is_peft_model'",
        ("AutoModelForCausalLMWithValueHead",),
    ),
    "huggingface/trl#1031": (
        "UserWarning: The average ratio of batch (12.4) exceeds threshold 10.00. Skipping batch.",
        ("learning_rate", "too large"),
    ),
    "hiyouga/LlamaFactory#2176": (
        "ValueError: Freeze/Full PPO training needs `reward_model_type=full`.",
        ("reward_model_type: full",),
    ),
    "modelscope/ms-swift#4975": ("KeyError: 'LOCAL_RANK'", ("torchrun", "launcher")),
    "modelscope/ms-swift#5019": (
        "ValueError: remaining_argv: ['--mcore_adapters', 'megatron_output/v1']",
        ("another", "backslash", "--help"),
    ),
    "modelscope/ms-swift#4513": (
        "ValueError: Please set --model <model_id_or_path>`, model: None",
        ("--model FOLDER", "backslash"),
    ),
    "modelscope/ms-swift#595": (
        "ValueError: int4 model is not supported",
        ("unquantized", "infer_backend pt"),
    ),
    "huggingface/huggingface_hub#4915": (
        raised_in(
            "huggingface_hub/file_download.py",
            "_create_symlink",
            "OSError: [WinError 1314] A required privilege is not held by the client: 'blobs'",
        ),
        ("developer mode", "--local-dir"),
    ),
    "huggingface/deep-rl-class#190": (
        "HTTPError: 403 Client Error: Forbidden for url: https://huggingface.co/api/repos/create",
        ("read token",),
    ),
    "huggingface/huggingface_hub#937": (
        "remote: DENIED update refs/heads/main: forbidden\n"
        " ! [remote rejected] main -> main (pre-receive hook declined)",
        ("token that may write",),
    ),
    "huggingface/datasets#5833": (
        "TypeError: push_to_hub() got an unexpected keyword argument 'create_pr'",
        ("huggingface_hub", "pip install -U"),
    ),
    "axolotl-ai-cloud/axolotl#73": (
        "AssertionError: EarlyStoppingCallback requires load_best_model_at_end = True",
        ("load_best_model_at_end=True", "eval_strategy"),
    ),
    "a tokenizer of tiktoken": (
        "ValueError: Converting from SentencePiece and Tiktoken failed, if a converter for",
        ("tiktoken", "pip install"),
    ),
    "a configuration with a dict inside": (
        raised_in(
            "transformers/configuration_utils.py",
            "to_dict",
            "AttributeError: 'dict' object has no attribute 'to_dict'",
        ),
        ("configuration object", "pip install -U transformers"),
    ),
    "a data file that is not there": (
        "FileNotFoundError: Unable to find '/home/someone/data/train.jsonl' at /home/someone",
        ("data_files",),
    ),
    "axolotl's sharegpt": (
        "ValueError: unhandled prompt tokenization strategy: sharegpt.load",
        ("chat_template",),
    ),
    "axolotl's packed evaluation": (
        "ValueError: eval dataset split is too small for sample_packing. You should set",
        ("eval_sample_packing: false",),
    ),
    "a clone without git-lfs": (
        "OSError: You seem to have cloned a repository without having git-lfs installed.",
        ("git lfs pull",),
    ),
    "keys of another command": (
        "ValueError: Some keys are not used by the HfArgumentParser: ['booster', 'template']",
        ("message lists",),
    ),
    "Seq2SeqTrainer with plain arguments": (
        "AttributeError: 'TrainingArguments' object has no attribute 'generation_max_length'",
        ("Seq2SeqTrainingArguments",),
    ),
    "decode of a batch": (
        "TypeError: argument 'ids': 'list' object cannot be interpreted as an integer",
        ("batch_decode",),
    ),
    "a metric's packages": (
        "ImportError: To be able to use evaluate-metric/rouge, you need to install the following "
        "dependencies['rouge_score']",
        ("rouge_score",),
    ),
    "a metric without a network": (
        "FileNotFoundError: Couldn't find a module script at /home/x/accuracy/accuracy.py.",
        ("network", "local copy"),
    ),
    "sentence-transformers with a plain model": (
        "No sentence-transformers model found with name bert-base-uncased. Creating a new one with "
        "mean pooling.",
        ("notice", "modules\\.json"),
    ),
    "a pickled SentenceTransformer": (
        "AttributeError: 'SentenceTransformer' object has no attribute '_target_device'",
        ("another release", "save_pretrained"),
    ),
    "parts of an output by unpacking": (
        raised_in(
            "torch/nn/functional.py",
            "dropout",
            "TypeError: dropout(): argument 'input' (position 1) must be Tensor, not str",
        ),
        ("return_dict=False", "pooler_output"),
    ),
    "unslothai/unsloth#2646": (
        "AttributeError: 'UnslothGRPOConfig' object has no attribute 'loss_type'",
        ("unsloth_compiled_cache", "unsloth_zoo"),
    ),
    "unslothai/unsloth#988": (
        "AttributeError: module 'unsloth.models._utils' has no attribute 'accelerate_old_send'",
        ("unsloth_zoo",),
    ),
    "a model that Unsloth did not prepare": (
        raised_in(
            "unsloth/models/llama.py",
            "LlamaAttention_fast_forward",
            "AttributeError: 'LlamaAttention' object has no attribute 'apply_qkv'",
        ),
        ("did not prepare", "FastLanguageModel"),
    ),
    "steps of accumulation that are None": (
        raised_in(
            "transformers/trainer.py",
            "training_step",
            "TypeError: unsupported operand type(s) for /: 'Tensor' and 'NoneType'",
        ),
        ("num_items_in_batch", "unsloth_zoo"),
    ),
    "vasistalodagala/whisper-finetune#5": (
        "TypeError: __init__() got multiple values for argument 'model'",
        ("by place", "by name"),
    ),
}


@pytest.mark.parametrize("installed", [{}, NEWEST], ids=["nothing installed", "newest"])
@pytest.mark.parametrize("report", REPORTS)
def test_a_report_of_a_library(report: str, installed: dict[str, str]) -> None:
    text, substance = REPORTS[report]
    answer = said(text, installed)
    for part in substance:
        assert re.search(part, answer), f"{part} is missing in: {answer}"


# What people paste without its traceback, to what the answer must say.
MESSAGES: dict[str, tuple[str, ...]] = {
    _LINE.format("huggingface_hub/file_download.py", "http_get")
    + "httpx.ReadTimeout: The read operation timed out": (
        "longer than huggingface_hub waits",
        "HF_HUB_DOWNLOAD_TIMEOUT",
    ),
    "INFO - llamafactory.data.template - Cannot add this chat template to tokenizer.": (
        "notice",
        "Go on",
    ),
    "KeyError: 'input_ids_j'": ("evaluation set", "remove_unused_columns=False"),
    _LINE.format("trl/trainer/callbacks.py", "on_step_end") + "KeyError: 'tokenizer'": (
        "processing_class",
        "upgrade TRL",
    ),
    "pyarrow.lib.ArrowInvalid: Could not convert Abc with type str: converting to null type": (
        "different types",
        "alike",
    ),
    "ValueError: A custom logits processor of type <class "
    "'transformers.generation.logits_process.ForceTokensLogitsProcessor'> with values [[1, 50259]] "
    "has been passed to `.generate()`": ("forced_decoder_ids", "language="),
    "ValueError: You have explicitly specified `forced_decoder_ids`. Please remove it.": (
        "two ways",
        "forced_decoder_ids = None",
    ),
    "KeyError: 'token_type_ids'": ("RoBERTa", "return_token_type_ids=True"),
    "Both `max_new_tokens` (=64) and `max_length`(=20) seem to have been set. `max_new_tokens` "
    "will take precedence.": ("notice", "max_length"),
    "RuntimeError: Failed to import transformers.trainer because of the following error (look up "
    "to see its traceback):\ncannot import name 'TypedDict' from 'huggingface_hub.utils._typing'": (
        "huggingface_hub",
        "pip install -U",
    ),
    "RuntimeError: Failed to import transformers.pipelines because of the following error (look up "
    "to see its traceback):\ncannot import name 'PartialState' from 'accelerate' (/x/__init__.py)": (
        "older",
        "pip install -U .*accelerate",
    ),
    "KeyError: 'base_model.model.transformer.h.6.norm.weight'": ("memory", "offload", "4 bit"),
    "KeyError: 'train.num_layer_trainable'": ("web page", "reload|again"),
    "KeyError: 'eval_mean_token_accuracy'": ("only the log has it", "eval_loss"),
    "TypeError: argument of type 'KeyError' is not iterable": ("token_type_ids", "unsloth_zoo"),
    "AttributeError: 'PeftModelForCausalLM' object has no attribute '_unwrapped_old_generate'": (
        "Unsloth did not prepare",
        "FastLanguageModel.from_pretrained",
    ),
    "AttributeError: 'SentenceTransformer' object has no attribute 'model_body'": (
        "SetFit",
        "SetFitModel.from_pretrained",
    ),
    "AttributeError: 'SentenceTransformer' object has no attribute 'get_input_embeddings'": (
        "chain of modules",
        "auto_model",
    ),
    "TypeError: 'InputExample' object is not subscriptable": (
        "model.fit",
        "smart_batching_collate",
        "Dataset.from_dict",
    ),
    "TypeError: default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; "
    "found <class 'sentence_transformers.readers.InputExample.InputExample'>": (
        "smart_batching_collate",
    ),
    "TypeError: Transformer.__init__() got an unexpected keyword argument 'config_kwargs'": (
        "pip install -U sentence-transformers",
    ),
    "ValueError: Prompt name 'query' not found in the configured prompts dictionary with keys "
    "['document'].": ("prompt query", "prompts="),
    "ValueError: Predictions and/or references don't match the expected format.\n"
    "Expected format: {'predictions': Value(dtype='string', id='sequence')},\n"
    "Input predictions: [[4 5 6]]": ("token ids", "batch_decode"),
    _LINE.format("torch/utils/data/_utils/fetch.py", "<listcomp>") + "KeyError: 2": (
        "DataFrame",
        "Dataset.from_pandas",
    ),
    "TypeError: ('Keyword argument not understood:', 'device_map')": ("TensorFlow", "PyTorch"),
    "ValueError: The device_map provided does not give any device for the following parameters: "
    "transformer.a": ("device_map", "auto"),
    "TypeError: __init__() got an unexpected keyword argument 'device_map' (from_pretrained)": (
        "4\\.20",
        "Upgrade",
    ),
    "TypeError: Unsloth: UnslothVisionDataCollator is only for image models!": (
        "FastVisionModel",
        "preprocessor_config",
    ),
    "    self.self_attn = ATTENTION_CLASSES[config._attn_implementation](\n"
    "TypeError: 'NoneType' object is not callable": ("attn_implementation", "eager"),
    "AttributeError: 'Qwen2_5_VLVisionConfig' object has no attribute 'embed_dim'": (
        "Qwen2_5_VLForConditionalGeneration",
    ),
    "AttributeError: 'InternVLModel' object has no attribute 'chat'": ("trust_remote_code", "-hf"),
    "AttributeError: 'Resampler' object has no attribute '_initialize_weights'": (
        "transformers<4\\.52",
    ),
    "ValueError: Unrecognized image processor in Qwen/Qwen2.5-VL-7B-Instruct. Should have a "
    "`image_processor_type` key": ("Upgrade Transformers", "Qwen2VLImageProcessor"),
    "AttributeError: 'IterableDataset' object has no attribute 'save_to_disk'": ("streaming",),
    "TypeError: 'IterableDataset' object is not subscriptable": ("streaming", "take"),
    "FileNotFoundError: [Errno 2] No such file or directory: 'mydir/art/state.json'": (
        "DatasetDict",
        "load_from_disk",
    ),
    "pyarrow.lib.ArrowInvalid: Can only convert 1-dimensional array values": ("tolist", "Array2D"),
    "load_dataset('csv')\npandas.errors.ParserError: Error tokenizing data. C error: Expected 5 "
    "fields in line 3, saw 7": ("another number of fields", "on_bad_lines"),
    "ConnectionError: Couldn't reach https://raw.githubusercontent.com/huggingface/datasets/x.py": (
        "pip install -U datasets",
    ),
    "AttributeError: 'HybridCache' object has no attribute 'float'": (
        "evaluation",
        "use_cache = False",
    ),
    "AssertionError: Expected `tensors` and `new_tensors` to have the same type but found <class "
    "'tuple'> and <class 'torch.Tensor'>.": ("preprocess_logits_for_metrics",),
    "Special tokens have been added in the vocabulary, make sure the associated word embeddings are "
    "fine-tuned or trained.": ("notice", "resize"),
    "No label_names provided for model class `PeftModelForCausalLM`.": (
        'label_names=\\["labels"\\]',
    ),
    "Could not estimate the number of tokens of the input, floating-point operations will not be "
    "computed": ("total_flos",),
    "The tokenizer class you load from this checkpoint is not the same type as the class this "
    "function is called from.": ("AutoTokenizer",),
    "You are using the default legacy behaviour of the <class 'LlamaTokenizer'>.": (
        "legacy=False",
    ),
    "Using a slow image processor as `use_fast` is unset": ("use_fast=True",),
    "`loss_type=None` was set in the config but it is unrecognised.": ("without harm",),
    "Sliding Window Attention is enabled but not implemented for `sdpa`": ("flash_attention_2",),
    "UserWarning: Padding-free training is enabled, but the attention implementation is not set to "
    "'flash_attention_2'.": ("spoils", "flash_attention_2"),
    "UserWarning: Mismatch between tokenized prompt and the start of tokenized prompt+completion.": (
        "blank",
        "mask",
    ),
    "ValueError: chosen should be an str but got <class 'list'>": (
        "Upgrade TRL",
        "maybe_apply_chat_template",
    ),
    "ValueError: Actual (not effective) batch size must be > 1. KTO will not work": (
        "per_device_train_batch_size",
    ),
    "ValueError: Adapter with name default already exists. Please use a different name.": (
        "twice",
        "delete_adapter",
    ),
    "bash: huggingface-cli: command not found": ("hf auth login",),
    "ValueError: AcceleratorState has already been initialized and cannot be changed, restart": (
        "mixed_precision",
        "kernel",
    ),
    "ValueError: To launch a multi-GPU training from your notebook, the `Accelerator` should only be "
    "initialized inside your training function.": ("Restart the kernel", "inside the function"),
    "ImportError: cannot import name 'SentenceTransformerTrainer' from 'sentence_transformers' (/x)": (
        "3\\.0",
        "pip install -U sentence-transformers",
    ),
    "ValueError: Path ./bert/FoBERT2-SS not found": ("local folder",),
    "ImportError: cannot import name 'FastVisionModel' from 'unsloth' (/x/__init__.py)": (
        "unsloth_zoo",
    ),
    "TypeError: Unsloth: Your model already has LoRA adapters. Your new parameters are different.": (
        "twice",
        "Leave get_peft_model out",
    ),
    "NotImplementedError: Unsloth: microsoft/phi-2 not supported yet!": ("FastModel",),
    "ValueError: This model does not support image input. Please check whether the correct": (
        "template",
    ),
    "AssertionError: Input data was truncated resulting in invalid input with `multimodal token`.": (
        "max_length",
    ),
    "ImportError: cannot import name 'Swift' from 'swift' (unknown location)": (
        "OpenStack",
        "pip install -U ms-swift",
    ),
    "ModuleNotFoundError: No module named 'swift.llm'": ("ms-swift<4",),
    "NotExistError: The model: qwen/Qwen2-7B has no revision: main valid are: [master]!": (
        "master",
    ),
    "RuntimeError: At least one of optuna or ray should be installed.": ("pip install optuna",),
    "mlflow.exceptions.MlflowException: Param value had length 780, which exceeded length limit of "
    "500": ("report_to",),
    "TypeError: Object of type float32 is not JSON serializable": ("float\\(accuracy\\)",),
    raised_in(
        "accelerate/utils/offload.py", "__getitem__", "KeyError: 'model.layers.7.mlp.experts.a'"
    ): ("offloaded",),
    raised_in(
        "datasets/iterable_dataset.py",
        "cast_column",
        "TypeError: 'NoneType' object does not support item assignment",
    ): ("features",),
    raised_in("datasets/dataset_dict.py", "__getitem__", "KeyError: 'validation'"): (
        "train_test_split",
    ),
    raised_in(
        "peft/utils/save_and_load.py",
        "get_peft_model_state_dict",
        "KeyError: 'base_model.model.model.embed_tokens.weight'",
    ): ("_orig_mod", "save_embedding_layers=False"),
    raised_in(
        "llamafactory/data/loader.py", "print_data_example", "IndexError: list index out of range"
    ): ("dataset_info\\.json",),
    raised_in(
        "trl/trainer/grpo_trainer.py",
        "_calculate_rewards",
        "ValueError: expected sequence of length 8 at dim 1 (got 4)",
    ): ("one number for each completion",),
    raised_in(
        "transformers/loss/loss_utils.py",
        "ForSequenceClassificationLoss",
        "RuntimeError: The size of tensor a (128256) must match the size of tensor b (2) at "
        "non-singleton dimension 0",
    ): ("AutoModelForSequenceClassification",),
    "----> 4 tokenizer('hello')\nTypeError: 'NoneType' object is not callable": ("sentencepiece",),
    "ValueError: Wrong shape for input_ids (shape torch.Size([8])) or attention_mask (shape x)": (
        "unsqueeze",
    ),
    "OSError: a/b does not appear to have a file named pytorch_model.bin but there is a file for "
    "TensorFlow weights. Use `from_tf=True` to load": ("from_tf=True",),
    "ValueError: Connection error, and we cannot find the requested files in the cached path.": (
        "HF_HOME",
    ),
    "AttributeError: 'Tensor' object has no attribute 'input_ids'": ("return_dict=True",),
    "AttributeError: 'dict' object has no attribute 'logits'": ("return_dict",),
    "TypeError: The current model class (LlamaModel) is not compatible with `.generate()`, as it "
    "doesn't have a language model head.": ("AutoModelForCausalLM",),
    "AttributeError: 'BertModel' object has no attribute 'generate'": ("head",),
    "AttributeError: 'ChatGLMForConditionalGeneration' object has no attribute "
    "'_extract_past_from_model_output'": ("newer revision", "transformers<"),
    "RuntimeError: Boolean value of Tensor with more than one value is ambiguous": ("is not None",),
    "Could not locate the best model at ./results/checkpoint-500/pytorch_model.bin, if you are": (
        "save_on_each_node",
    ),
    "There were missing keys in the checkpoint model loaded: ['lm_head.weight'].": ("tied",),
    "wandb.errors.CommError: Run initialization has timed out after 60.0 sec.": (
        "WANDB_MODE=offline",
    ),
    "ValueError: 150001 is not in list": ("ChatGLM", "one revision"),
    '    assert self.padding_side == "left"\nAssertionError': ("pads on the left",),
    "NameError: name 'round_up' is not defined": ("pip install cpm_kernels",),
    "UserWarning: Could not find a config file in /models/base - will assume that the vocabulary was "
    "not modified.": ("save_embedding_layers=False",),
    "KeyError: \"Invalid keys in the example: {'question', 'answer'}\"": ("prompt and completion",),
    "AttributeError: 'Worker' object has no attribute 'init_communicator'": ("trl vllm-serve",),
    "AttributeError: 'list' object has no attribute 'column_names'": ("from_list",),
    "OSError: [Errno 37] No locks available": ("local disk",),
    "HTTPError: 416 Client Error: Requested Range Not Satisfiable for url: https://cdn-lfs.x": (
        "incomplete",
    ),
    "gr.Chatbot\nTypeError: Chatbot.__init__() got an unexpected keyword argument 'type'": (
        "Gradio",
    ),
    "Unsloth: Will remove double BOS tokens": ("add_special_tokens=False",),
    'TypeError: can only concatenate list (not "NoneType") to list': ("begin token", "Upgrade TRL"),
    "ValueError: type of None unknown: <class 'NoneType'>. Should be one of a python, numpy": (
        "remove_columns",
    ),
    "pyo3_runtime.PanicException: called `Result::unwrap()` on an `Err` value": (
        "pip install -U tokenizers",
    ),
    "ERROR: Could not build wheels for tokenizers, which is required to install": (
        "wheel",
        "pip install -U pip",
    ),
    "Truncation was not explicitly activated but `max_length` is provided a specific value": (
        "truncation=True",
    ),
    "You're using a LlamaTokenizerFast tokenizer. Please note that with a fast tokenizer, using the "
    "`__call__` method is faster than using a method to encode the text followed by a call to the "
    "`pad` method to get a padded encoding.": ("without harm",),
    "OverflowError: int too big to convert": ("max_length",),
    "ModuleNotFoundError: No module named 'transformers.cache_utils'": ("Every release", "older"),
    raised_in(
        "transformers/generation/utils.py",
        "prepare_inputs_for_generation",
        "IndexError: index -1 is out of bounds for dimension 0 with size 0",
    ): ("cache", "all tokens"),
    raised_in("pandas/core/frame.py", "__getitem__", "KeyError: 1234"): ("from_pandas",),
    raised_in(
        "transformers/data/data_collator.py",
        "torch_default_data_collator",
        "TypeError: string indices must be integers, not 'str'",
    ): ("Give a Dataset",),
    raised_in(
        "llamafactory/webui/runner.py",
        "_launch",
        "FileNotFoundError: [WinError 2] The system cannot find the file specified",
    ): ("llamafactory-cli", "environment"),
    raised_in(
        "transformers/tokenization_utils_fast.py",
        "_convert_token_to_id_with_added_voc",
        "RecursionError: maximum recursion depth exceeded while getting the str of an object",
    ): ("unknown token",),
    "WARNING: tokenization mismatch: 50 vs. 51. (ignored)": ("template", "ignored"),
    "ValueError: 'llava' is already used by a Transformers config, pick another name.": (
        "exist_ok=True",
    ),
    "ImportError: cannot import name 'LlavaLlamaForCausalLM' from 'llava.model' (/x/__init__.py)": (
        "hides the error",
    ),
    "AttributeError: 'Qwen2TokenizerFast' object has no attribute 'eod_id'": ("Qwen 1",),
    "Warning: import flash_attn rotary fail, please install FlashAttention rotary": ("notice",),
    "ValueError: Can not map tensor 'model.layers.0.mlp.down_proj.weight.absmax'": (
        "quantized",
        "merge_and_unload",
    ),
    "Exception: Vocab size mismatch (model has 32001, but x/tokenizer.model has 32000).": (
        "llama\\.cpp",
    ),
    "ImportError: IProgress not found. Please update jupyter and ipywidgets.": ("ipywidgets",),
    "AttributeError: 'TrainingArguments' object has no attribute 'distributed_state'": (
        "__post_init__",
    ),
    "TypeError: RNG state must be a torch.ByteTensor": ("rng_state",),
    "Warning: The following arguments do not match the ones in the `trainer_state.json` within the "
    "checkpoint directory": ("resuming",),
    "TypeError: Qwen2TokenizerFast._batch_encode_plus() got an unexpected keyword argument 'images'": (
        "AutoProcessor",
    ),
    "Exception: Truncation error: Sequence to truncate too short to respect the provided max_length": (
        "only_second",
    ),
    "AttributeError: 'tokenizers.Tokenizer' object has no attribute 'pad_token'": (
        "tokenizer_object",
    ),
    "OverflowError: value too large to convert to int32_t": ("batch_size",),
    "FileNotFoundError: [Errno 2] No such file or directory: '/home/someone/.cache/x/cache-abc.arrow'": (
        "load_from_cache_file=False",
    ),
    "ValueError: rope_scaling should have a 'rope_type' key": ("rope_type", "Upgrade Transformers"),
    "ValueError: hidden_size must be divisible by num_heads (got `hidden_size`: 100": ("heads",),
    "ValueError: You passed along `num_labels=3` with an incompatible id to label map: {0: 'a'}": (
        "id2label",
    ),
    "RuntimeError: 0D or 1D target tensor expected, multi-target not supported": ("problem_type",),
    "ValueError: Only instances of PreTrainedModel support `target_modules='all-linear'`": (
        "Name the layers",
    ),
    "ValueError: Can't find weights for ./adapter in ./adapter or in the Hugging Face Hub.": (
        "adapter_model\\.safetensors",
        "0\\.6",
    ),
    "ValueError: All adapters must have the same r value when using combination_type linear": (
        "svd",
    ),
    "ImportError: PEFT is not available in your environment.": ("pip install -U peft",),
    "ValueError: GRPO requires at least 2 generations per prompt to calculate the advantages.": (
        "num_generations",
    ),
    "ValueError: Cannot pack empty dataset": ("no training data",),
    "jinja2.exceptions.TemplateSyntaxError: Encountered unknown tag 'generation'.": ("4\\.42",),
    '  File "<template>", line 23, in top-level template code\n'
    'TypeError: can only concatenate str (not "list") to str': ("list of parts",),
    "UserWarning: You didn't pass a `max_seq_length` argument to the SFTTrainer, this will default": (
        "max_length",
    ),
    "KeyError: 'XLORA'": ("newer PEFT",),
}


@pytest.mark.parametrize("installed", [{}, NEWEST], ids=["nothing installed", "newest"])
@pytest.mark.parametrize("message", MESSAGES)
def test_a_message(message: str, installed: dict[str, str]) -> None:
    answer = said(message, installed)
    for part in MESSAGES[message]:
        assert re.search(part, answer), f"{part} is missing in: {answer}"


@pytest.mark.parametrize(
    ("text", "row"),
    [
        (
            "TypeError: LoraConfig.__init__() got an unexpected keyword argument 'loftq_config' "
            "(from_pretrained)",
            "low-cpu-memory-keyword",
        ),
        (
            "TypeError: SentenceTransformerTrainingArguments.__init__() got an unexpected keyword "
            "argument 'split_batches'",
            "accelerator-keyword-of-trainer",
        ),
        (
            "AttributeError: 'PeftModelForCausalLM' object has no attribute 'merge_and_unload'",
            "no-merge-of-plain-model",
        ),
        (
            "ValueError: Adapter with name default already exists. Please use a different name.",
            "adapter-name-unknown",
        ),
        ("TypeError: Object of type float32 is not JSON serializable", "dtype-not-json"),
        ("AttributeError: 'HybridCache' object has no attribute 'float'", "cache-methods-gone"),
        ("AttributeError: 'BertModel' object has no attribute 'generate'", "generation-mixin"),
        ("OverflowError: int too big to convert", "decode-of-minus-100"),
    ],
)
def test_a_cause_that_it_is_not(text: str, row: str) -> None:
    assert row not in [answer.id for answer in answered(read(text), NEWEST.get).answers]


@pytest.mark.parametrize(
    "text",
    [
        "TypeError: SwinTransformer.__init__() got an unexpected keyword argument 'ape'",
        "AttributeError: 'OpenAI' object has no attribute 'chat'",
        "FileNotFoundError: [WinError 2] The system cannot find the file specified: 'data.csv'",
        "KeyError: 'train'",
        "KeyError: 1234",
        "IndexError: list index out of range",
        "AttributeError: 'dict' object has no attribute 'dtype'",
        "AttributeError: 'str' object has no attribute 'keys'",
        "RecursionError: maximum recursion depth exceeded in comparison",
        "TypeError: argument of type 'NoneType' is not iterable",
        "TypeError: 'NoneType' object is not callable",
        "HTTPError: 403 Client Error: Forbidden for url: https://api.example.com/v1",
        "httpx.ReadTimeout: The read operation timed out",
        "KeyError: 'tokenizer'",
    ],
)
def test_what_other_programs_say_too(text: str) -> None:
    assert not answered(read(text), NEWEST.get).answers


def test_a_name_of_a_module_inside_is_no_name_of_the_whole() -> None:
    text = "ImportError: cannot import name 'logging' from 'transformers.utils' (/x/__init__.py)"
    found = answered(read(text), NEWEST.get).answers
    assert "base-names-of-transformers" not in [answer.id for answer in found]
