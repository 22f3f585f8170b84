"""Old ways to call trainers."""

# Name: the piece, what it raises without the layer, its result with it, and what is told.
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
    "texts_in_lists_beside_prompts": (
        "from trl import SFTConfig, SFTTrainer\n"
        "rows = Dataset.from_dict({'prompt': ['a b', 'c'], 'completion': ['d', 'e']})\n"
        "def texts(batch):\n"
        "    return [p + ' ' + c for p, c in zip(batch['prompt'], batch['completion'])]\n"
        "trainer = SFTTrainer(model=model(), args=SFTConfig(**FAST), train_dataset=rows, "
        "formatting_func=texts)\n"
        "expected = [TOKENIZER(text + TOKENIZER.eos_token)['input_ids'] for text in ('a b d', 'c e')]\n"
        "result = list(trainer.train_dataset['input_ids']) == expected",
        "completion_only_loss",
        True,
        "return one text for one row",
    ),
    "prompts_of_pairs_then_answers": (
        "from trl import DPOConfig, DPOTrainer, KTOConfig, KTOTrainer\n"
        "long = ' '.join(['w1'] * 30) + ' '\n"
        "rows = Dataset.from_dict({'prompt': ['a b ', long], 'chosen': ['c', 'd'], "
        "'rejected': ['e', 'f']})\n"
        "limits = {'max_length': 20, 'max_prompt_length': 5, **FAST}\n"
        "pairs = DPOTrainer(model=model(), args=DPOConfig(**limits), train_dataset=rows, "
        "processing_class=TOKENIZER).train_dataset\n"
        "rows = rows.rename_columns({'chosen': 'completion'}).remove_columns('rejected')\n"
        "rows = rows.add_column('label', [True, False])\n"
        "answers = KTOTrainer(model=model(), args=KTOConfig(**limits), train_dataset=rows, "
        "processing_class=TOKENIZER).train_dataset\n"
        "result = [[len(ids) for ids in made['prompt_ids']] for made in (pairs, answers)]",
        "'max_prompt_length'",
        [[2, 5], [2, 5]],
        "patchkit truncates the prompts as trainers did",
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
