"""Old ways to load models and to say settings."""

# Name: the piece, what it raises without the layer, its result with it, and the printed line.
LOADING = {
    "in_8bit": (
        "from transformers import AutoModelForCausalLM\n"
        "made = AutoModelForCausalLM.from_pretrained(\n"
        "    MODEL, load_in_8bit=True, llm_int8_threshold=5.0, device_map={'': 'cpu'})\n"
        "result = [made.is_loaded_in_8bit, made.config.quantization_config.llm_int8_threshold]",
        "'load_in_8bit'",
        [True, 5.0],
        "write quantization_config=BitsAndBytesConfig(",
    ),
    "said_twice": (
        "from transformers import BitsAndBytesConfig\n"
        "made = AutoModelForCausalLM.from_pretrained(MODEL, load_in_4bit=True, device_map={'': 'cpu'},\n"
        "    quantization_config=BitsAndBytesConfig(load_in_4bit=True))\n"
        "result = made.is_loaded_in_4bit",
        "'load_in_4bit'",
        True,
        "leave it out",
    ),
    "no_flash_attention": (
        "AutoModelForCausalLM.from_pretrained(MODEL, use_flash_attention_2=False)\nresult = 1",
        "'use_flash_attention_2'",
        1,
        "use_flash_attention_2",
    ),
    "interrupted_download": (
        "AutoModelForCausalLM.from_pretrained(MODEL, resume_download=True)\nresult = 1",
        "'resume_download'",
        1,
        "resume_download",
    ),
    "number_of_blocks": (
        "from peft import OFTConfig\n"
        "made = OFTConfig(r=4, target_modules=['q_proj'])\n"
        "result = [made.r, made.oft_block_size]",
        "only specify either r (4) or oft_block_size (32)",
        [4, 0],
        "write r=4, oft_block_size=0",
    ),
    "token": (
        "AutoModelForCausalLM.from_pretrained(MODEL, use_auth_token=None, low_cpu_mem_usage=True)\n"
        "AutoTokenizer.from_pretrained(MODEL, use_auth_token='secret')\nresult = 1",
        "'use_auth_token'",
        1,
        "write token=",
    ),
}
# The same; their errors name something else than what is told.
MEANT = {
    "without_checks": (
        "import datasets, pathlib\n"
        "pathlib.Path('rows.json').write_text('{\"a\": 1}')\n"
        "made = datasets.load_dataset('json', data_files='rows.json', ignore_verifications=True)\n"
        "result = made['train'][0]",
        "'ignore_verifications'",
        {"a": 1},
        "write verification_mode='no_checks'",
    ),
    "traced": (
        "from transformers import BertConfig, BertForSequenceClassification\n"
        "BertForSequenceClassification(BertConfig(vocab_size=9, hidden_size=8, num_hidden_layers=1,\n"
        "    num_attention_heads=2, intermediate_size=8)).save_pretrained('bert')\n"
        "made = BertForSequenceClassification.from_pretrained(\n"
        "    'bert', torchscript=True, finetuning_task='t').eval()\n"
        "ids = torch.tensor([[5, 6]])\n"
        "result = torch.equal(torch.jit.trace(made, ids)(ids)[0], made(ids)[0])",
        "'torchscript'",
        True,
        "write return_dict=False",
    ),
    "described_pictures": (
        "from transformers import GPT2Config, GPT2LMHeadModel, ViTConfig, ViTModel\n"
        "from transformers import VisionEncoderDecoderModel\n"
        "ViTModel(ViTConfig(hidden_size=8, intermediate_size=8, num_hidden_layers=1,\n"
        "    num_attention_heads=2, image_size=8, patch_size=4)).save_pretrained('vit')\n"
        "GPT2LMHeadModel(GPT2Config(vocab_size=20, n_embd=8, n_layer=1, n_head=2)).save_pretrained(\n"
        "    'gpt')\n"
        "made = VisionEncoderDecoderModel.from_encoder_decoder_pretrained(\n"
        "    'vit', 'gpt', decoder_attn_pdrop=0.3)\n"
        "settings = made.config.decoder\n"
        "result = [settings.is_decoder, settings.add_cross_attention, settings.attn_pdrop,\n"
        "    hasattr(made.decoder.transformer.h[0], 'crossattention')]",
        "has no attribute 'is_decoder'",
        [True, True, 0.3, True],
        "give decoder_config=",
    ),
    "named_reference": (
        "from trl import DPOTrainer\n"
        "made = DPOTrainer(MODEL, MODEL, args=arguments(), train_dataset=PAIRS, tokenizer=TOKENIZER,\n"
        "    beta=0.1, model_init_kwargs={'torch_dtype': torch.float32},\n"
        "    ref_model_init_kwargs={'torch_dtype': torch.bfloat16})\n"
        "result = [str(made.ref_model.dtype), made.train().global_step]",
        "'tokenizer'",
        ["torch.bfloat16", 1],
        "load it: ref_model=AutoModelForCausalLM.from_pretrained(",
    ),
    "own_collator": (
        "from trl import KTOConfig, KTOTrainer\n"
        "from trl.trainer.utils import DPODataCollatorWithPadding\n"
        "rows = Dataset.from_dict(\n"
        "    {'prompt': ['a', 'b'], 'completion': ['c', 'd'], 'label': [True, False]})\n"
        "made = KTOTrainer(model(), args=KTOConfig(**FAST), train_dataset=rows,\n"
        "    processing_class=TOKENIZER, data_collator=DPODataCollatorWithPadding(pad_token_id=0))\n"
        "result = made.train().global_step",
        "cannot import name 'DPODataCollatorWithPadding'",
        1,
        "leave it out: the trainer makes another one",
    ),
    "accelerated": (
        "from accelerate import Accelerator\n"
        "made = Accelerator(fp16=False, logging_dir='logs', cpu=True)\n"
        "result = made.project_dir",
        "'fp16'",
        "logs",
        "leave it out",
    ),
}
SETTINGS = {
    "flags": (
        "from transformers import HfArgumentParser\n"
        "args, = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses([\n"
        "    '--output_dir', 'o', '--evaluation_strategy', 'no', '--warmup_ratio=0.1', '--bf16',\n"
        "    '--use_cpu', 'True', '--overwrite_output_dir'])\n"
        "result = [args.eval_strategy.value, args.warmup_steps, args.bf16]",
        "not used",
        ["no", 0.1, True],
        "write warmup_steps=0.1",
    ),
    "bare_flag": (
        "from transformers import HfArgumentParser\n"
        "from trl import SFTConfig\n"
        "args, = HfArgumentParser(SFTConfig).parse_args_into_dataclasses(\n"
        "    ['--output_dir', 'o', '--bf16', '--use_cpu', 'True'])\n"
        "result = args.bf16",
        "SystemExit: 2",
        True,
        "write --bf16 True",
    ),
    "keys": (
        "from transformers import HfArgumentParser\n"
        "args, = HfArgumentParser(TrainingArguments).parse_dict(\n"
        "    {'output_dir': 'o', 'evaluation_strategy': 'steps', 'eval_steps': 3, 'use_cpu': True})\n"
        "result = [args.eval_strategy.value, args.eval_steps]",
        "evaluation_strategy",
        ["steps", 3],
        "write eval_strategy=",
    ),
    "yaml_file": (
        "import pathlib\n"
        "from trl import ModelConfig, ScriptArguments, SFTConfig, TrlParser\n"
        "pathlib.Path('recipe.yaml').write_text('model_name_or_path: m\\ntorch_dtype: bfloat16\\n'\n"
        "    'max_seq_length: 77\\ndataset_name: d\\noutput_dir: o\\nuse_cpu: true\\n')\n"
        "parser = TrlParser((ScriptArguments, SFTConfig, ModelConfig))\n"
        "_, args, chosen = parser.parse_args_and_config(\n"
        "    ['--config', 'recipe.yaml', '--warmup_ratio', '0.2'])\n"
        "result = [args.max_length, chosen.dtype, chosen.torch_dtype, args.warmup_ratio]",
        "not used",
        [77, "bfloat16", "bfloat16", 0.2],
        "write max_length=77",
    ),
    "own_arguments": (
        "from dataclasses import dataclass\n"
        "from transformers import HfArgumentParser\n"
        "@dataclass\n"
        "class Own(TrainingArguments):\n"
        "    cache_dir: str = 'cache'\n"
        "args, = HfArgumentParser(Own).parse_args_into_dataclasses(\n"
        "    ['--output_dir', 'o', '--group_by_length', '--use_cpu', 'True'])\n"
        "result = [args.cache_dir, args.group_by_length]",
        "not used",
        ["cache", True],
        "train_sampling_strategy",
    ),
    "kept_flags": (
        "import pathlib\n"
        "from transformers import HfArgumentParser\n"
        "from trl import DPOConfig, TrlParser\n"
        "args, = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses(\n"
        "    ['--output_dir', 'o', '--overwrite_output_dir', '--use_cpu', 'True'])\n"
        "pathlib.Path('dpo.yaml').write_text(\n"
        "    'max_prompt_length: 7\\noverwrite_output_dir: true\\noutput_dir: o\\nuse_cpu: true\\n')\n"
        "dpo, = TrlParser((DPOConfig,)).parse_args_and_config(\n"
        "    ['--config', 'dpo.yaml', '--max_prompt_length', '8'])\n"
        "result = [args.overwrite_output_dir, dpo.overwrite_output_dir, dpo.max_prompt_length]",
        "not used",
        [True, True, 8],
        "leave it out: only scripts read it",
    ),
    "scripts_of_0_9": (
        "from trl.commands.cli_utils import DPOScriptArguments, TrlParser\n"
        "args, = TrlParser((DPOScriptArguments,)).parse_args_and_config(['--dataset_name', 'd'])\n"
        "result = [args.dataset_name, args.dataset_test_split, args.sanity_check]",
        "No module named 'trl.commands'",
        ["d", "test", False],
        "write from trl import TrlParser",
    ),
    "scripts_of_0_8": (
        "from trl.commands.cli_utils import DpoScriptArguments, SftScriptArguments, TrlParser\n"
        "parser = TrlParser((SftScriptArguments, TrainingArguments))\n"
        "sft, _ = parser.parse_args_and_config(\n"
        "    ['--output_dir', 'o', '--max_seq_length', '64', '--packing', '--use_cpu', 'True'])\n"
        "dpo, = TrlParser((DpoScriptArguments,)).parse_args_and_config(['--beta', '0.3'])\n"
        "result = [sft.max_seq_length, sft.packing, sft.dataset_text_field, sft.dataset_test_name,\n"
        "    dpo.beta, dpo.max_prompt_length, dpo.sanity_check, dpo.generate_during_eval]",
        "No module named 'trl.commands'",
        [64, True, None, "test", 0.3, 128, False, False],
        "SftScriptArguments has been gone since TRL 0.13.0",
    ),
    "kept_for_reads": (
        "from trl import SFTConfig, SFTTrainer\n"
        "passed = SFTConfig(**FAST, overwrite_output_dir=True)\n"
        "trainer = SFTTrainer(model=model(), args=passed, train_dataset=ROWS)\n"
        "result = [passed.overwrite_output_dir, trainer.args.overwrite_output_dir,\n"
        "    arguments(overwrite_output_dir=False).overwrite_output_dir,\n"
        "    arguments().overwrite_output_dir]",
        "'overwrite_output_dir'",
        [True, True, False, False],
        "leave it out: only scripts read it",
    ),
    "set_afterwards": (
        "from trl import SFTConfig, SFTTrainer\n"
        "args = SFTConfig(**FAST)\n"
        "args.max_seq_length = 5\n"
        "result = SFTTrainer(model=model(), args=args, train_dataset=ROWS).args.max_length",
        1024,
        5,
        "write max_length=5",
    ),
    "read_tokenizer": (
        "trainer = Trainer(model=model(), args=arguments(), processing_class=TOKENIZER)\n"
        "result = [trainer.tokenizer is TOKENIZER, hasattr(trainer, 'tokeniser')]",
        "no attribute 'tokenizer'",
        [True, False],
        "write processing_class",
    ),
    "settings_of_trainers": (
        "trainer = plain_trainer()\n"
        "result = [trainer.args.past_index, trainer.args.save_safetensors, trainer.use_apex,\n"
        "    float(trainer._nested_gather(torch.tensor(2.0)))]",
        "no attribute 'past_index'",
        [-1, True, False, 2.0],
        "it is -1 unless the script says otherwise",
    ),
}
BY_NAME = {
    "dtype_of_a_model_by_name": (
        "from trl import DPOConfig, DPOTrainer, GRPOConfig, GRPOTrainer, SFTConfig, SFTTrainer\n"
        "given = {'torch_dtype': 'float16'}\n"
        "sft = SFTTrainer(MODEL, SFTConfig(**FAST, model_init_kwargs=given), train_dataset=ROWS)\n"
        "dpo = DPOTrainer(\n"
        "    MODEL, args=DPOConfig(**FAST, model_init_kwargs=given), train_dataset=PAIRS)\n"
        "grpo = GRPOTrainer(MODEL, lambda completions, **_: [0.0] * len(completions),\n"
        "    GRPOConfig(**FAST, num_generations=2, model_init_kwargs=given),\n"
        "    train_dataset=PAIRS.select_columns('prompt'))\n"
        "models = [sft.model, dpo.model, dpo.ref_model, grpo.model]\n"
        "result = [[str(model.dtype) for model in models], given]",
        "float32",
        [["torch.float16"] * 4, {"torch_dtype": "float16"}],
        "write 'dtype' for 'torch_dtype'",
    ),
    "old_keywords_of_a_model_by_name": (
        "import peft\n"
        "from trl import DPOConfig, DPOTrainer, GRPOConfig, GRPOTrainer, SFTConfig, SFTTrainer\n"
        "given = {'load_in_4bit': True, 'use_flash_attention_2': False, 'use_auth_token': None,\n"
        "    'device_map': {'': 'cpu'}}\n"
        "lora = peft.LoraConfig(target_modules=['q_proj'])\n"
        "more = {'peft_config': lora, 'processing_class': TOKENIZER}\n"
        "settings = {**FAST, 'bf16': False, 'model_init_kwargs': given}\n"
        "sft = SFTTrainer(MODEL, SFTConfig(**settings), train_dataset=ROWS, **more)\n"
        "dpo = DPOTrainer(MODEL, args=DPOConfig(**settings), train_dataset=PAIRS, **more)\n"
        "grpo = GRPOTrainer(MODEL, lambda completions, **_: [0.0] * len(completions),\n"
        "    GRPOConfig(**settings, num_generations=2),\n"
        "    train_dataset=PAIRS.select_columns('prompt'), **more)\n"
        "result = [each.model.get_base_model().is_loaded_in_4bit for each in (sft, dpo, grpo)]",
        "'load_in_4bit'",
        [True, True, True],
        "write quantization_config=BitsAndBytesConfig(",
    ),
}
OWN_SETTINGS = {
    "own_settings": (
        "from dataclasses import dataclass\n"
        "@dataclass\n"
        "class Own(TrainingArguments):\n"
        "    cache_dir: str = 'cache'\n"
        "@dataclass\n"
        "class Further(Own):\n"
        "    more: int = 1\n"
        "    def __post_init__(self):\n"
        "        super().__post_init__()\n"
        "        self.more += 1\n"
        "first = Own('o', warmup_ratio=0.1, use_cpu=True, cache_dir='mine')\n"
        "second = Further(output_dir='o', evaluation_strategy='steps', use_cpu=True)\n"
        "result = [first.warmup_steps, first.cache_dir, second.eval_strategy.value, second.more]",
        "unexpected keyword argument 'warmup_ratio'",
        [0.1, "mine", "steps", 2],
        "Further(evaluation_strategy=) has been gone since",
    ),
    "own_settings_of_two_libraries": (
        "from dataclasses import dataclass\n"
        "from trl import ModelConfig, SFTConfig\n"
        "@dataclass\n"
        "class Own(ModelConfig, SFTConfig):\n"
        "    mine: int = 1\n"
        "made = Own(output_dir='o', torch_dtype='float16', max_seq_length=7, use_cpu=True)\n"
        "result = [made.dtype, made.max_length, made.mine]",
        "unexpected keyword argument 'torch_dtype'",
        ["float16", 7, 1],
        "write dtype=",
    ),
    "fields_declared_anew": (
        "from dataclasses import dataclass, field\n"
        "from transformers import HfArgumentParser\n"
        "@dataclass\n"
        "class Own(TrainingArguments):\n"
        "    warmup_ratio: float = field(default=0.03)\n"
        "    group_by_length: bool = True\n"
        "    evaluation_strategy: str = 'steps'\n"
        "    optim: str = 'adamw_hf'\n"
        "def state(made):\n"
        "    return [made.warmup_ratio, made.warmup_steps, made.group_by_length,\n"
        "        made.train_sampling_strategy, made.eval_strategy.value, made.optim.value]\n"
        "parsed, = HfArgumentParser(Own).parse_args_into_dataclasses(['--output_dir', 'o',\n"
        "    '--use_cpu', 'True', '--warmup_ratio', '0.2', '--optim', 'adamw_torch'])\n"
        "result = [state(Own('o', eval_steps=3, use_cpu=True)), state(parsed)]",
        "adamw_hf is not a valid OptimizerNames",
        [
            [0.03, 0.03, True, "group_by_length", "steps", "adamw_torch"],
            [0.2, 0.2, True, "group_by_length", "steps", "adamw_torch"],
        ],
        "Own(warmup_ratio=0.2) has been gone since",
    ),
    "fields_of_a_name_of_today": (
        "from dataclasses import dataclass\n"
        "@dataclass\n"
        "class Own(TrainingArguments):\n"
        "    max_seq_length: int = 7\n"
        "    warmup_ratio: float = 0.3\n"
        "made = Own('o', warmup_steps=5, use_cpu=True, evaluation_strategy='no')\n"
        "result = [made.max_seq_length, made.warmup_ratio, made.warmup_steps]",
        "'evaluation_strategy'",
        [7, 0.3, 5],
        "write eval_strategy=",
    ),
}
