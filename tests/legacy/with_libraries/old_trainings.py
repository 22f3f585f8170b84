"""Old ways to call trainers."""

# Name: the piece, what it raises without the layer, its result with it, and the printed line.
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
    "adapters_of_a_language_model": (
        "import peft\n"
        "from transformers import AutoModelForSequenceClassification\n"
        "lora = peft.LoraConfig(target_modules=['q_proj'], task_type='CAUSAL_LM')\n"
        "peft.get_peft_model(model(), lora).save_pretrained('language')\n"
        "other = AutoModelForSequenceClassification.from_pretrained(MODEL, num_labels=1)\n"
        "result = type(peft.PeftModel.from_pretrained(other, 'language')).__name__",
        "no attribute 'prepare_inputs_for_generation'",
        "PeftModelForCausalLM",
        "give adapters the task_type of the model, or None",
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
    "callback_that_hands_on": (
        "from transformers import TrainerCallback\n"
        "seen = []\n"
        "class Asking(TrainerCallback):\n"
        "    def on_evaluate(self, args, state, control, **kwargs):\n"
        "        self.look(**kwargs)\n"
        "    def look(self, model, tokenizer, **kwargs):\n"
        "        seen.append(tokenizer is TOKENIZER)\n"
        "trainer = plain_trainer()\n"
        "trainer.callback_handler.processing_class = TOKENIZER\n"
        "trainer.add_callback(Asking())\n"
        "trainer.evaluate(trainer.train_dataset)\n"
        "result = [seen, trainer.callback_handler.tokenizer is TOKENIZER]",
        "'tokenizer'",
        [[True], True],
        "write processing_class for tokenizer",
    ),
}
COPIES = {
    "copied_forward": (
        "from transformers.models.llama.modeling_llama import LlamaAttention\n"
        "class Own(LlamaAttention):\n"
        "    def forward(self, hidden_states, attention_mask=None, position_ids=None,\n"
        "            past_key_value=None, output_attentions=False, use_cache=False, **kwargs):\n"
        "        return self.o_proj(self.v_proj(hidden_states)), None, past_key_value\n"
        "made = model()\n"
        "for layer in made.model.layers:\n"
        "    layer.self_attn.__class__ = Own\n"
        "Trainer(made, arguments())",
        "LegacyError: copied_forward.py:3: the LlamaAttention.forward that Own.forward is a copy of "
        "has been gone since Transformers 4.48.0. Copy it from the installed release, and change "
        "that.",
    ),
    "replaced_forward": (
        "import types\n"
        "def forward(self, hidden_states, position_embeddings, attention_mask,\n"
        "        past_key_value=None, cache_position=None, **kwargs):\n"
        "    return self.o_proj(self.v_proj(hidden_states)), None\n"
        "made = model()\n"
        "for layer in made.model.layers:\n"
        "    layer.self_attn.forward = types.MethodType(forward, layer.self_attn)\n"
        "Trainer(made, arguments())",
        "LegacyError: replaced_forward.py:2: the LlamaAttention.forward that forward is a copy of "
        "has been gone since Transformers 4.56.0. Copy it from the installed release, and change "
        "that.",
    ),
    "copied_constructor": (
        "from trl import GRPOConfig, GRPOTrainer\n"
        "class Own(GRPOTrainer):\n"
        "    def __init__(self, model, reward_funcs, args=None, train_dataset=None,\n"
        "            eval_dataset=None, processing_class=None, reward_processing_classes=None,\n"
        "            callbacks=None, optimizers=(None, None), peft_config=None):\n"
        "        self.reward_funcs, self.max_prompt_length = reward_funcs, 9\n"
        "        super(GRPOTrainer, self).__init__(model=model, args=args,\n"
        "            train_dataset=train_dataset, processing_class=processing_class)\n"
        "Own(model(), [], GRPOConfig(**FAST, num_generations=2), ROWS, processing_class=TOKENIZER)",
        "LegacyError: copied_constructor.py:3: the GRPOTrainer.__init__ that Own.__init__ is a copy "
        "of has been gone since TRL 0.25.0. Call super().__init__(…), which sets ",
    ),
}
"""A piece, and the error with the layer."""
NO_COPIES = {
    "handed_on": (
        "from transformers.models.llama.modeling_llama import LlamaAttention\n"
        "before = LlamaAttention.forward\n"
        "def forward(self, hidden_states, past_key_value=None, **kwargs):\n"
        "    return before(self, hidden_states, **kwargs)\n"
        "made = model()\n"
        "made.model.layers[0].self_attn.__class__ = type('Own', (LlamaAttention,), "
        "{'forward': forward})\n"
        "result = Trainer(made, arguments()).model is made"
    ),
    "of_today": (
        "from transformers.models.llama.modeling_llama import LlamaAttention\n"
        "def forward(self, hidden_states, position_embeddings=None, attention_mask=None,\n"
        "        past_key_values=None, **kwargs):\n"
        "    return self.o_proj(self.v_proj(hidden_states)), None\n"
        "made = model()\n"
        "made.model.layers[0].self_attn.__class__ = type('Own', (LlamaAttention,), "
        "{'forward': forward})\n"
        "result = Trainer(made, arguments()).model is made"
    ),
    "a_constructor_of_its_own": (
        "from trl import SFTConfig, SFTTrainer\n"
        "class Own(SFTTrainer):\n"
        "    def __init__(self, model, args, rows, more=1):\n"
        "        super().__init__(model=model, args=args, train_dataset=rows)\n"
        "result = isinstance(Own(MODEL, SFTConfig(**FAST), ROWS), SFTTrainer)"
    ),
}
OWN_METHODS = {
    "checkpoint_with_metrics": (
        "seen = []\n"
        "class Own(Trainer):\n"
        "    def _save_checkpoint(self, model, trial, metrics=None):\n"
        "        seen.append([self.state.global_step, metrics and metrics['eval_loss'] > 0])\n"
        "        super()._save_checkpoint(model, trial, metrics)\n"
        "trainer = plain_trainer(Own, max_steps=3, save_strategy='steps', save_steps=1)\n"
        "trainer.eval_dataset = trainer.train_dataset\n"
        "trainer.args.eval_strategy, trainer.args.eval_steps = 'steps', 2\n"
        "trainer.train()\n"
        "result = seen",
        "takes 3 positional arguments but 4 were given",
        [[1, None], [2, True], [3, None]],
        "leave metrics out",
    ),
    "arguments_by_position": (
        "class Own(Trainer):\n"
        "    def __init__(self, model, args, metrics, callbacks=None, optimizers=(None, None)):\n"
        "        super().__init__(model, args, None, None, None, TOKENIZER, None, metrics,\n"
        "            callbacks, optimizers)\n"
        "def metrics(predicted):\n"
        "    return {}\n"
        "def loss(outputs, labels, num_items_in_batch=None):\n"
        "    return outputs['loss']\n"
        "made = Own(model(), arguments(), metrics)\n"
        "short = Trainer(model(), arguments(), None, None, None, TOKENIZER, None, metrics)\n"
        "todays = Trainer(model(), arguments(), None, None, None, TOKENIZER, None, loss)\n"
        "result = [made.processing_class is TOKENIZER, made.compute_metrics is metrics,\n"
        "    short.compute_metrics is metrics, todays.compute_loss_func is loss]",
        'can only concatenate list (not "tuple") to list',
        [True, True, True, True],
        "write Trainer(model=…, args=…, data_collator=…",
    ),
    "own_logging": (
        "class Own(Trainer):\n"
        "    def _maybe_log_save_evaluate(self, tr_loss, grad_norm, model, trial, epoch, ignore):\n"
        "        self.mine = float(grad_norm) > 0\n"
        "        super()._maybe_log_save_evaluate(tr_loss, grad_norm, model, trial, epoch, ignore)\n"
        "trainer = plain_trainer(Own)\n"
        "trainer.train()\n"
        "entry = trainer.state.log_history[0]\n"
        "other = plain_trainer()\n"
        "other.train()\n"
        "result = [trainer.mine, entry['loss'] == other.state.log_history[0]['loss']]",
        "'learning_rate'",
        [True, True],
        "Own._maybe_log_save_evaluate without start_time, learning_rate",
    ),
    "own_logging_without_norm": (
        "class Own(Trainer):\n"
        "    def _maybe_log_save_evaluate(self, tr_loss, model, trial, epoch, ignore_keys_for_eval):\n"
        "        super()._maybe_log_save_evaluate(tr_loss, model, trial, epoch, ignore_keys_for_eval)\n"
        "trainer = plain_trainer(Own)\n"
        "trainer.train()\n"
        "result = sorted(trainer.state.log_history[0])",
        "'learning_rate'",
        ["epoch", "learning_rate", "loss", "step"],
        "Own._maybe_log_save_evaluate without grad_norm, start_time, learning_rate",
    ),
    "own_optimizer": (
        "class Own(Trainer):\n"
        "    def create_optimizer_and_scheduler(self, num_training_steps):\n"
        "        super().create_optimizer_and_scheduler(num_training_steps)\n"
        "        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.5)\n"
        "        self.lr_scheduler = torch.optim.lr_scheduler.ConstantLR(self.optimizer, factor=0.5)\n"
        "        self.planned = num_training_steps\n"
        "    def create_scheduler(self, num_training_steps, optimizer=None):\n"
        "        self.schedules = getattr(self, 'schedules', 0) + 1\n"
        "        return super().create_scheduler(num_training_steps, optimizer)\n"
        "trainer = plain_trainer(Own, max_steps=2)\n"
        "trainer.train()\n"
        "trainer.train()\n"
        "result = [trainer.planned, trainer.schedules, type(trainer.optimizer.optimizer).__name__,\n"
        "    trainer.state.log_history[0]['learning_rate'],\n"
        "    sorted({'create_optimizer', 'create_scheduler'} & set(vars(trainer)))]",
        "no attribute 'planned'",
        [2, 2, "SGD", 0.25, []],
        "override create_optimizer and create_scheduler",
    ),
    "own_schedule": (
        "class Own(Trainer):\n"
        "    def create_scheduler(self, num_training_steps, optimizer=None):\n"
        "        self.lr_scheduler = torch.optim.lr_scheduler.ConstantLR(optimizer, factor=0.5)\n"
        "        return self.lr_scheduler\n"
        "class OfToday(Trainer):\n"
        "    def create_scheduler(self, num_training_steps):\n"
        "        return super().create_scheduler(num_training_steps)\n"
        "rates = []\n"
        "for kind in (Own, OfToday):\n"
        "    trainer = plain_trainer(kind, learning_rate=0.5)\n"
        "    trainer.train()\n"
        "    rates.append(trainer.state.log_history[0]['learning_rate'])\n"
        "result = [rates, 'create_scheduler' in vars(trainer)]",
        "NoneType",
        [[0.25, 0.5], False],
        "",
    ),
    "own_model": (
        "from transformers import LlamaConfig, LlamaModel, LlamaPreTrainedModel\n"
        "class Own(LlamaPreTrainedModel):\n"
        "    def __init__(self, config):\n"
        "        super().__init__(config)\n"
        "        self.model = LlamaModel(config)\n"
        "        self.head = torch.nn.Linear(config.hidden_size, 2)\n"
        "        self.init_weights()\n"
        "    def forward(self, input_ids, labels=None, **ignored):\n"
        "        logits = self.head(self.model(input_ids)[0][:, -1])\n"
        "        loss = torch.nn.functional.cross_entropy(logits, labels)\n"
        "        return {'loss': loss, 'logits': logits}\n"
        "made = Own(LlamaConfig.from_pretrained(MODEL, initializer_range=0.5))\n"
        "rows = [{'input_ids': [4, 5], 'labels': 1}] * 4\n"
        "trainer = Trainer(made, arguments(), train_dataset=rows)\n"
        "trainer.train()\n"
        "trainer.save_model('own')\n"
        "again = Own.from_pretrained('own')\n"
        "loaded = Own.from_pretrained(MODEL)\n"
        "result = [0.4 < made.head.weight.std().item() < 0.6,\n"
        "    torch.equal(again.head.weight, made.head.weight),\n"
        "    0.05 < loaded.head.weight.std().item() < 0.15]",
        "'all_tied_weights_keys'",
        [True, True, True],
        "",
    ),
    "shared_weights": (
        "class Own(torch.nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.first = torch.nn.Linear(2, 2)\n"
        "        self.second = torch.nn.ModuleDict({'again': self.first})\n"
        "    def forward(self, input_ids, labels=None):\n"
        "        logits = self.second['again'](self.first(input_ids.float()))\n"
        "        return {'loss': logits.sum()}\n"
        "made = Own()\n"
        "rows = [{'input_ids': [4, 5], 'labels': 1}] * 4\n"
        "trainer = Trainer(made, arguments(), train_dataset=rows)\n"
        "trainer.save_model('shared')\n"
        "from safetensors.torch import load_file\n"
        "saved = load_file('shared/model.safetensors')\n"
        "result = [torch.equal(saved[name], weight) for name, weight in made.state_dict().items()]",
        "share memory",
        [True] * 4,
        "Trainer._save of modules that share weights",
    ),
    "path_of_a_model": (
        "trainer = plain_trainer()\n"
        "trainer.train(model_path=None)\n"
        "result = trainer.state.global_step",
        "'model_path'",
        1,
        "write resume_from_checkpoint=",
    ),
}
