"""Calls of old scripts that raise today and run with the legacy layer."""

from __future__ import annotations

from typing import Any

import pytest

from .both_sides import Side, run

# Name: the piece, what it raises without the layer, its result with it, and what is told.
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
    "token": (
        "AutoModelForCausalLM.from_pretrained(MODEL, use_auth_token=None, low_cpu_mem_usage=True)\n"
        "AutoTokenizer.from_pretrained(MODEL, use_auth_token='secret')\nresult = 1",
        "'use_auth_token'",
        1,
        "write token=",
    ),
}
CONTRADICTION = (
    "from transformers import BitsAndBytesConfig\n"
    "AutoModelForCausalLM.from_pretrained(\n"
    "    MODEL, load_in_8bit=True, quantization_config=BitsAndBytesConfig(load_in_4bit=True))"
)
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
}
COMBINATIONS = {
    "arguments_for_dpo": (
        "from trl import DPOTrainer\n"
        "trainer = DPOTrainer(model=model(), args=arguments(learning_rate=3e-5), "
        "train_dataset=PAIRS, processing_class=TOKENIZER)\n"
        "trainer.train()\n"
        "result = [type(trainer.args).__name__, trainer.args.learning_rate, trainer.args.bf16]",
        "no attribute 'model_init_kwargs'",
        ["DPOConfig", 3e-5, False],
        "write DPOConfig(",
    ),
    "own_arguments_for_sft": (
        "from dataclasses import dataclass\n"
        "from trl import SFTTrainer\n"
        "@dataclass\n"
        "class Own(TrainingArguments):\n"
        "    cache_dir: str = 'cache'\n"
        "args = SFTTrainer(model=model(), args=Own(**FAST), train_dataset=ROWS).args\n"
        "result = [args.cache_dir, args.learning_rate]",
        "'cache_dir'",
        ["cache", 5e-5],
        "write SFTConfig(",
    ),
    "adapters_twice": (
        "import peft\n"
        "from trl import SFTConfig, SFTTrainer\n"
        "lora = peft.LoraConfig(r=4, target_modules=['q_proj', 'v_proj'], task_type='CAUSAL_LM')\n"
        "adapted = peft.get_peft_model(model(), lora)\n"
        "lora = peft.LoraConfig(r=4, target_modules=['v_proj', 'q_proj'], task_type='CAUSAL_LM')\n"
        "trainer = SFTTrainer(model=adapted, args=SFTConfig(**FAST), train_dataset=ROWS, "
        "peft_config=lora)\n"
        "result = trainer.model.peft_config['default'].r",
        "PeftModel",
        4,
        "leave peft_config= out",
    ),
    "texts_in_lists": (
        "from trl import SFTConfig, SFTTrainer\n"
        "def texts(batch):\n"
        "    return ['say ' + batch['text'][i] for i in range(len(batch['text']))]\n"
        "trainer = SFTTrainer(model=model(), args=SFTConfig(**FAST), train_dataset=ROWS, "
        "formatting_func=texts)\n"
        "ids = list(trainer.train_dataset['input_ids'])\n"
        "expected = [TOKENIZER('say ' + text + TOKENIZER.eos_token)['input_ids'] for text in TEXTS]\n"
        "result = ids == expected",
        "'list' object",
        True,
        "return one text for one row",
    ),
    "text_beside_prompt": (
        "from trl import SFTConfig, SFTTrainer\n"
        "rows = ROWS.add_column('prompt', TEXTS)\n"
        "trainer = SFTTrainer(model=model(), args=SFTConfig(**FAST), train_dataset=rows)\n"
        "result = len(trainer.train_dataset)",
        "'completion'",
        4,
        "select_columns",
    ),
    "own_loss": (
        "class Own(Trainer):\n"
        "    def compute_loss(self, model, inputs, return_outputs=False):\n"
        "        outputs = model(**inputs)\n"
        "        return (outputs.loss, outputs) if return_outputs else outputs.loss\n"
        "def norm(kind):\n"
        "    trainer = plain_trainer(kind, gradient_accumulation_steps=2)\n"
        "    trainer.train()\n"
        "    return trainer.state.log_history[0]['grad_norm']\n"
        "result = abs(norm(Own) / norm(Trainer) - 1) < 0.2",
        "'num_items_in_batch'",
        True,
        "Own.compute_loss",
    ),
    "own_methods": (
        "class Own(Trainer):\n"
        "    def training_step(self, model, inputs):\n"
        "        return super().training_step(model, inputs)\n"
        "    def log(self, logs):\n"
        "        super().log({**logs, 'mine': 1})\n"
        "    def _get_train_sampler(self):\n"
        "        return torch.utils.data.SequentialSampler(self.train_dataset)\n"
        "    def _save_checkpoint(self, model, trial, metrics=None):\n"
        "        super()._save_checkpoint(model, trial, metrics=metrics)\n"
        "trainer = plain_trainer(Own, save_strategy='steps', save_steps=1)\n"
        "trainer.train()\n"
        "result = trainer.state.log_history[0]['mine']",
        "positional argument",
        1,
        "Own.training_step",
    ),
    "callback": (
        "from transformers import TrainerCallback\n"
        "seen = []\n"
        "class Named(TrainerCallback):\n"
        "    def on_step_end(self, args, state, control, tokenizer, **kwargs):\n"
        "        seen.append(tokenizer is TOKENIZER)\n"
        "class Looked(TrainerCallback):\n"
        "    def on_step_end(self, args, state, control, **kwargs):\n"
        "        seen.append(kwargs['tokenizer'] is TOKENIZER)\n"
        "trainer = plain_trainer()\n"
        "trainer.callback_handler.processing_class = TOKENIZER\n"
        "trainer.add_callback(Named())\n"
        "trainer.add_callback(Looked)\n"
        "trainer.train()\n"
        "result = seen",
        "tokenizer",
        [True, True],
        "write processing_class for tokenizer",
    ),
}
OLD = {**LOADING, **SETTINGS, **COMBINATIONS}
UNLIKE_ADAPTERS = (
    "import peft\n"
    "from trl import SFTConfig, SFTTrainer\n"
    "def lora(r):\n"
    "    return peft.LoraConfig(r=r, target_modules=['q_proj'], task_type='CAUSAL_LM')\n"
    "SFTTrainer(model=peft.get_peft_model(model(), lora(4)), args=SFTConfig(**FAST), "
    "train_dataset=ROWS, peft_config=lora(8))"
)
REFUSED = {"contradiction": CONTRADICTION, "unlike_adapters": UNLIKE_ADAPTERS}


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> tuple[Side, Side]:
    pieces = {name: case[0] for name, case in OLD.items()} | REFUSED
    return run(pieces, tmp_path_factory.mktemp("sides"))


@pytest.mark.parametrize("name", OLD)
def test_an_old_call_raises_without_the_layer(name: str, sides: tuple[Side, Side]) -> None:
    _, without, _, _ = OLD[name]
    found = sides[0].outcomes[name]
    assert found == without if not isinstance(without, str) else without in str(found)


@pytest.mark.parametrize("name", OLD)
def test_it_works_with_the_layer_which_says_so(name: str, sides: tuple[Side, Side]) -> None:
    _, _, result, told = OLD[name]
    assert sides[1].outcomes[name] == result
    assert told in sides[1].lines(name)


def test_contradictions_are_refused_in_a_line(sides: tuple[Side, Side]) -> None:
    outcomes: dict[str, Any] = sides[1].outcomes
    assert outcomes["contradiction"].startswith("LegacyError: contradiction.py:2: ")
    assert "They differ in r." in outcomes["unlike_adapters"]
    assert not any("\n" in outcomes[name] for name in REFUSED)


def test_a_token_is_not_told(sides: tuple[Side, Side]) -> None:
    assert not any("secret" in line for line in sides[1].told)
