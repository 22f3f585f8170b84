"""Batches, losses and datasets of a script's own trainers, as older releases of TRL had them."""

_DPO = "from trl import DPOConfig, DPOTrainer\n"
_OLDER = "DPOConfig(**FAST, max_prompt_length=8)"
_JUDGE = (
    "from transformers import AutoModelForSequenceClassification\n"
    "from trl import RewardConfig, RewardTrainer\n"
    "judge = AutoModelForSequenceClassification.from_pretrained(MODEL, num_labels=1)\n"
    "judge.config.pad_token_id = TOKENIZER.pad_token_id\n"
)
_SIDES = "".join(
    f"'{part}_{side}': [{'[1, 2, 3], [3]' if side == 'chosen' else '[2], [4]'}], "
    for part in ("input_ids", "attention_mask")
    for side in ("chosen", "rejected")
)
_LOSS = (
    "seen = []\n"
    "class Own(DPOTrainer):\n"
    "    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):\n"
    "        {}\n"
    "        return super().compute_loss(model, inputs)\n"
    f"Own(model(), None, {_OLDER}, train_dataset=PAIRS.select([0]), processing_class=TOKENIZER)"
    ".train()\n"
)
PIECES = {
    "sides_of_a_loader": (
        _JUDGE + f"rows = Dataset.from_dict({{{_SIDES}}})\n"
        "trainer = RewardTrainer(judge, args=RewardConfig(**FAST), train_dataset=rows,\n"
        "                        processing_class=TOKENIZER)\n"
        "batch = next(iter(trainer.get_eval_dataloader(trainer.train_dataset)))\n"
        "lengths = batch['attention_mask_chosen'].sum(1)\n"
        "ids = batch['input_ids_chosen'].tolist()\n"
        "result = [[row[:length] for row, length in zip(ids, lengths)], "
        "'input_ids_chosen' in batch]",
        "KeyError: 'chosen'",
        [[[1, 2, 3], [3]], False],
        'batch["input_ids_chosen"] of pairs has been gone since TRL 0.24.0',
    ),
    "sides_of_an_own_collator": (
        _JUDGE + f"rows = Dataset.from_dict({{{_SIDES}}})\n"
        "def collate(rows):\n"
        "    padded = torch.nn.utils.rnn.pad_sequence\n"
        "    return {name: padded([torch.tensor(row[name]) for row in rows], batch_first=True)\n"
        "            for name in rows[0] if name.startswith(('input', 'attention'))}\n"
        "trainer = RewardTrainer(\n"
        "    judge, args=RewardConfig(**FAST, remove_unused_columns=False), train_dataset=rows,\n"
        "    processing_class=TOKENIZER, data_collator=collate)\n"
        "result = trainer.train().global_step",
        "KeyError: 'chosen'",
        1,
        'a batch with "input_ids_chosen" has been gone since TRL 0.24.0',
    ),
    "metrics_of_an_own_prediction": (
        _JUDGE + "def metrics(given):\n"
        "    return {'kinds': sorted(set(given.label_ids.tolist()))}\n"
        "class Own(RewardTrainer):\n"
        "    def prediction_step(self, model, inputs, prediction_loss_only, ignore_keys=None):\n"
        "        return torch.tensor(0.0), torch.zeros(1, 2), torch.ones(1)\n"
        "rows = Dataset.from_list([{'chosen': 'a b', 'rejected': 'c'}] * 2)\n"
        "trainer = Own(judge, args=RewardConfig(**FAST), train_dataset=rows, eval_dataset=rows,\n"
        "              tokenizer=TOKENIZER, compute_metrics=metrics)\n"
        "result = trainer.evaluate()['eval_kinds']",
        "unexpected keyword argument 'tokenizer'",
        [1.0],
        "Own(tokenizer=)",
    ),
    "prompts_with_their_answers": (
        _DPO
        + _LOSS.format(
            "seen.append([inputs[name].tolist()[0] for name in "
            "('chosen_input_ids', 'chosen_labels')])"
        )
        + "ids, labels = seen[0]\n"
        "kept = [one for one, label in zip(ids, labels) if label != -100]\n"
        "result = [len(ids) == len(labels), TOKENIZER.decode(kept), labels[0]]",
        "'max_prompt_length'",
        [True, "<unk> </s>", -100],
        'batch["chosen_labels"] of pairs has been gone since TRL 0.29.0',
    ),
    "prompts_and_answers_apart": (
        _DPO
        + _LOSS.format(
            "seen.extend(TOKENIZER.decode(inputs[name][0]) for name in "
            "('prompt_input_ids', 'chosen_input_ids'))"
        )
        + "result = seen",
        "'max_prompt_length'",
        ["<unk> <unk>", "<unk> </s>"],
        'batch["chosen_input_ids"] of pairs has been gone since TRL 0.29.0',
    ),
    "metrics_beside_a_loss": (
        _DPO + "seen = []\n"
        "class Own(DPOTrainer):\n"
        "    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):\n"
        "        loss, metrics = super().compute_loss(model, inputs, return_outputs=True)\n"
        "        seen.append(float(metrics['rewards/margins']))\n"
        "        return loss\n"
        f"Own(model(), None, {_OLDER}, train_dataset=PAIRS, processing_class=TOKENIZER).train()\n"
        "result = seen",
        "'max_prompt_length'",
        [0.0],
        "Own.compute_loss that gives metrics has been gone since TRL 0.29.0",
    ),
    "columns_of_a_collator": (
        "from transformers import default_data_collator\n"
        "from trl import SFTConfig, SFTTrainer\n"
        "rows = Dataset.from_list([{'input_ids': [5, 0], 'attention_mask': [1, 0], "
        "'labels': [5, -100], 'other': 1}] * 2)\n"
        "trainer = SFTTrainer(model(), args=SFTConfig(**FAST, max_seq_length=2, "
        "dataset_kwargs={'skip_prepare_dataset': True}), train_dataset=rows, "
        "data_collator=default_data_collator, processing_class=TOKENIZER)\n"
        "result = sorted(next(iter(trainer.get_train_dataloader())))",
        "'max_seq_length'",
        ["attention_mask", "input_ids", "labels"],
        "SFTTrainer(data_collator=) of rows with attention_mask has been gone since TRL 0.19.0",
    ),
    "adapters_by_name": (
        f"import peft\n{_DPO}"
        "lora = peft.LoraConfig(r=2, target_modules=['v_proj'], init_lora_weights=False, "
        "task_type='CAUSAL_LM')\n"
        "peft.get_peft_model(model(), lora).save_pretrained('by_name')\n"
        "adapted = peft.PeftModel.from_pretrained(model(), 'by_name', is_trainable=True, "
        "adapter_name='policy')\n"
        "adapted.load_adapter('by_name', adapter_name='reference')\n"
        "args = DPOConfig(**FAST, model_adapter_name='policy', ref_adapter_name='reference')\n"
        "trainer = DPOTrainer(adapted, None, args, train_dataset=PAIRS, "
        "processing_class=TOKENIZER)\n"
        "trainer.train()\n"
        "trained = {name for name, each in adapted.named_parameters() if each.requires_grad}\n"
        "result = [round(trainer.state.log_history[0]['loss'], 4), "
        "sum('.policy.' in name for name in trained), len(trained)]",
        "'model_adapter_name'",
        [0.6931, 4, 4],
        "DPOConfig(ref_adapter_name='reference') has been gone since TRL 0.29.0",
    ),
    "an_adapter_that_was_trained_before": (
        f"import peft\n{_DPO}"
        "lora = peft.LoraConfig(r=2, target_modules=['v_proj'], init_lora_weights=False, "
        "task_type='CAUSAL_LM')\n"
        "adapted = peft.get_peft_model(model(), lora)\n"
        "DPOTrainer(adapted, None, DPOConfig(**FAST), train_dataset=PAIRS, tokenizer=TOKENIZER)\n"
        "result = 0",
        "'tokenizer'",
        0,
        "its reference is a copy of that adapter, and was the model without adapters",
    ),
    "a_reference_that_comes_later": (
        "import peft\n"
        "from trl import KTOConfig, KTOTrainer\n"
        "rows = Dataset.from_dict({'prompt': ['a b'] * 4, 'completion': ['c', 'd', 'e', 'f'], "
        "'label': [True, False] * 2})\n"
        "lora = peft.LoraConfig(r=2, target_modules=['v_proj'], task_type='CAUSAL_LM')\n"
        "trainer = KTOTrainer(model(), None, KTOConfig(**FAST), train_dataset=rows, "
        "processing_class=TOKENIZER, peft_config=lora, model_adapter_name='default', "
        "ref_adapter_name='other')\n"
        "lora = peft.LoraConfig(r=2, target_modules=['v_proj'], init_lora_weights=False)\n"
        "trainer.model.add_adapter('other', lora)\n"
        "trainer.train()\n"
        "weights = dict(trainer.model.named_parameters())\n"
        "result = [bool((each == weights[name.replace('.other.', '.ref.')]).all()) for name, each "
        "in weights.items() if '.other.' in name]",
        "'model_adapter_name'",
        [True] * 4,
        "KTOTrainer(ref_adapter_name='other') has been gone since TRL 1.2.0",
    ),
    "labels_for_a_collator": (
        "from trl import SFTConfig, SFTTrainer\n"
        "collate = DataCollatorForLanguageModeling(TOKENIZER, mlm=False)\n"
        "trainer = SFTTrainer(model(), args=SFTConfig(**FAST), train_dataset=ROWS, "
        "eval_dataset={'a': ROWS}, data_collator=collate, processing_class=TOKENIZER)\n"
        "batches = [*trainer.get_train_dataloader(), *trainer.get_eval_dataloader('a')]\n"
        "result = [[sorted(batch) for batch in batches], trainer.train().global_step]",
        "excessive nesting",
        [[["attention_mask", "input_ids", "labels"]] * 3, 1],
        "leave it out: the trainer labels its rows itself",
    ),
    "dataset_of_pytorch": (
        "from trl import SFTConfig, SFTTrainer\n"
        "class Rows(torch.utils.data.Dataset):\n"
        "    def __len__(self):\n"
        "        return 3\n"
        "    def __getitem__(self, number):\n"
        "        return {'input_ids': [number + 4, 5], 'labels': [number + 4, 5]}\n"
        "rows = Rows()\n"
        "trainer = SFTTrainer(model(), args=SFTConfig(**FAST), train_dataset=rows, "
        "processing_class=TOKENIZER)\n"
        "result = [trainer.train_dataset is rows, trainer.train().global_step]",
        "must be a `Dataset` or `IterableDataset`",
        [True, 1],
        "SFTTrainer(train_dataset=Rows, a dataset of PyTorch) has been gone since TRL 0.15.0",
    ),
    "list_of_rows": (
        "from trl import SFTConfig, SFTTrainer\n"
        "rows = [dict.fromkeys(('input_ids', 'labels', 'attention_mask'), [1, 1])] * 3\n"
        "collate = lambda rows: {name: torch.tensor([row[name] for row in rows]) for name in "
        "rows[0]}\n"
        "trainer = SFTTrainer(model(), args=SFTConfig(**FAST, remove_unused_columns=False, "
        "dataset_kwargs={'skip_prepare_dataset': True}), train_dataset=rows, "
        "data_collator=collate, processing_class=TOKENIZER)\n"
        "result = [trainer.train_dataset is rows, trainer.train().global_step]",
        "must be a `Dataset` or `IterableDataset`",
        [True, 1],
        "SFTTrainer(train_dataset=list of rows) has been gone since TRL 1.10.0",
    ),
    "model_of_one_piece": (
        "from transformers import PretrainedConfig, PreTrainedModel\n"
        "from transformers.modeling_outputs import CausalLMOutput\n"
        "from trl import SFTConfig, SFTTrainer\n"
        "class Own(PreTrainedModel):\n"
        "    config_class = PretrainedConfig\n"
        "    def __init__(self, config):\n"
        "        super().__init__(config)\n"
        "        self.table = torch.nn.Embedding(98, 98)\n"
        "    def forward(self, input_ids=None, attention_mask=None, labels=None):\n"
        "        return CausalLMOutput(logits=self.table(input_ids))\n"
        "made = Own(PretrainedConfig())\n"
        "trainer = SFTTrainer(made, args=SFTConfig(**FAST, gradient_checkpointing=False, "
        "bf16=False), train_dataset=ROWS.select([0]), processing_class=TOKENIZER)\n"
        "ids = torch.tensor(trainer.train_dataset['input_ids'][:])\n"
        "with torch.no_grad():\n"
        "    expected = torch.nn.functional.cross_entropy(made.table(ids)[0, :-1], ids[0, 1:])\n"
        "result = abs(trainer.train().training_loss - expected.item()) < 1e-4",
        "no attribute 'generation_config'",
        True,
        "SFTTrainer of a model without a base_model and a head has been gone since TRL 1.15.0",
    ),
    "field_of_the_file": (
        "from dataclasses import dataclass\n"
        "from trl import SFTConfig, TrlParser\n"
        "@dataclass\n"
        "class Own:\n"
        "    config: str = 'none'\n"
        "    rows: int = 1\n"
        "own, args = TrlParser((Own, SFTConfig)).parse_args_and_config("
        "['--rows', '2', '--output_dir', 'out', '--use_cpu'])\n"
        "result = [own.config, own.rows]",
        "has a field named 'config'",
        ["none", 2],
        "TrlParser of a class with a field config has been gone since TRL 0.13.0",
    ),
    "loss_put_into_a_class": (
        "from trl import SFTConfig, SFTTrainer\n"
        "def loss(self, model, inputs, return_outputs=False):\n"
        "    return model(inputs['input_ids']).logits.sum() * 0 + 2\n"
        "SFTTrainer.compute_loss, before = loss, SFTTrainer.compute_loss\n"
        "try:\n"
        "    result = SFTTrainer(model(), args=SFTConfig(**FAST), train_dataset=ROWS, "
        "processing_class=TOKENIZER).train().training_loss\n"
        "finally:\n"
        "    SFTTrainer.compute_loss = before",
        "unexpected keyword argument 'num_items_in_batch'",
        2.0,
        "SFTTrainer.compute_loss without num_items_in_batch has been gone since Transformers",
    ),
    "accuracy_of_rewards": (
        "import numpy as np\n"
        "from trl.trainer.utils import compute_accuracy\n"
        "sides = np.array([[0.7, 0.3], [0.2, 0.8], [0.5, 0.5]])\n"
        "tokens = np.eye(3)[None, [0, 1, 2]]\n"
        "result = [compute_accuracy((sides, np.zeros(3)))['accuracy'], "
        "compute_accuracy((tokens, np.array([[0, 1, -100]])))['accuracy']]",
        "cannot import name 'compute_accuracy'",
        [0.5, 1.0],
        "trl.trainer.utils.compute_accuracy has been gone since TRL 0.27.0",
    ),
    "bf16_of_no_device": (
        "from trl import SFTConfig\nresult = SFTConfig('out', fp16=None).bf16",
        "Your setup doesn't support bf16/gpu",
        False,
        "SFTConfig without bf16=, where no device has it has been gone since TRL 0.19.0",
    ),
    "all_names_of_a_former_module": (
        "from trl.trainer.orpo_trainer import *\nresult = ORPOTrainer.__name__",
        "No module named 'trl.trainer.orpo_trainer'",
        "ORPOTrainer",
        "trl.trainer.orpo_trainer has been gone since TRL 0.29.0",
    ),
    "answers_of_orpo": (
        "from trl import ORPOConfig, ORPOTrainer\n"
        "class Own(ORPOTrainer):\n"
        "    def concatenated_forward(self, model, batch):\n"
        "        ids = self.concatenated_inputs(batch, label_pad_token_id=self.label_pad_token_id)\n"
        "        self.get_batch_logps(torch.zeros(1, 2, 3), torch.ones(1, 2).long(),\n"
        "                             label_pad_token_id=self.label_pad_token_id)\n"
        "        return super().concatenated_forward(model, batch)\n"
        "result = Own(model(), ORPOConfig(**FAST), train_dataset=PAIRS, processing_class=TOKENIZER"
        ").train().global_step",
        "cannot import name 'ORPOConfig'",
        1,
        "get_batch_logps(label_pad_token_id=) has been gone since TRL 0.28.0; leave it out",
    ),
    "tokens_of_an_own_batch": (
        "from trl import GRPOConfig, GRPOTrainer\n"
        "class Own(GRPOTrainer):\n"
        "    def _prepare_inputs(self, inputs):\n"
        "        ids = torch.tensor([[4, 5]] * len(inputs))\n"
        "        mask = torch.ones_like(ids)\n"
        "        return {'prompt_ids': ids, 'prompt_mask': mask, 'completion_ids': ids,\n"
        "                'completion_mask': mask, 'advantages': torch.ones(len(inputs))}\n"
        "trainer = Own(model(), lambda completions, **rest: [0.0],\n"
        "    args=GRPOConfig(**FAST, num_generations=2), train_dataset=PAIRS,\n"
        "    processing_class=TOKENIZER)\n"
        "result = round(trainer.train().training_loss, 4)",
        "KeyError: 'num_items_in_batch'",
        -1.0,
        "a batch of Own without num_items_in_batch has been gone since TRL 0.22.0",
    ),
    "constructor_through_the_class": (
        "class Own(Trainer):\n"
        "    def __init__(self, model, **kwargs):\n"
        "        Trainer.__init__(self, model=model, **kwargs)\n"
        "result = Own(model(), args=arguments(), tokenizer=TOKENIZER).processing_class is TOKENIZER",
        "unexpected keyword argument 'tokenizer'",
        True,
        "Own(tokenizer=) has been gone since Transformers 5.0.0",
    ),
}
REFUSED = {
    "all_names_of_a_gone_module": (
        "from trl.trainer.ppo_trainer import *",
        "trl.trainer.ppo_trainer has been gone since TRL 0.29.0",
    ),
    "texts_of_a_batch": (
        _DPO + _LOSS.format("seen.append(inputs['prompt'])"),
        'batch["prompt"] of pairs has been gone since TRL 0.29.0. Decode batch["input_ids"]',
    ),
    "prompts_or_none": (
        _DPO + _LOSS.format("seen.append(inputs['chosen_input_ids'])"),
        "until TRL 0.12.0, and not since: name the release that the script was written for.",
    ),
    "method_of_a_class": (
        "from trl import DPOTrainer\n"
        "assert not hasattr(DPOTrainer, 'get_batch_logps')\n"
        "DPOTrainer.get_batch_logps(None, None)",
        "method_of_a_class.py:3: DPOTrainer.get_batch_logps() has been gone since TRL 0.29.0. ",
    ),
    "loss_that_generates": (
        "from trl import GRPOConfig, GRPOTrainer\n"
        "class Own(GRPOTrainer):\n"
        "    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):\n"
        "        return model.generate([row['prompt'] for row in inputs])\n"
        "Own(model(), lambda completions, **rest: [0.0], args=GRPOConfig(**FAST, num_generations=2), "
        "train_dataset=PAIRS, processing_class=TOKENIZER)",
        "Own.compute_loss that gets rows and generates has been gone since TRL 0.15.0. ",
    ),
    "loss_of_pairs_put_into_a_class": (
        "from trl import DPOConfig, DPOTrainer\n"
        "def loss(self, *logps):\n"
        "    return logps\n"
        "DPOTrainer.dpo_loss = loss\n"
        "try:\n"
        "    DPOTrainer(model(), None, DPOConfig(**FAST), train_dataset=PAIRS, "
        "processing_class=TOKENIZER)\n"
        "finally:\n"
        "    del DPOTrainer.dpo_loss",
        "DPOTrainer.dpo_loss has been gone since TRL 0.29.0. No trainer calls it.",
    ),
    "loop_of_training": (
        "class Own(Trainer):\n"
        "    def _inner_training_loop(self, batch_size=None, args=None, **kwargs):\n"
        "        return self.training_step(self.model, {})\n"
        "Own(model(), arguments())",
        "the _inner_training_loop that Own._inner_training_loop is a copy of has been gone since",
    ),
}
"""By the name of the piece: what runs it, and what refuses it."""
ALIKE = {
    "a_loop_that_hands_on": (
        "class Own(Trainer):\n"
        "    def _inner_training_loop(self, *args, **kwargs):\n"
        "        return super()._inner_training_loop(*args, **kwargs)\n"
        "result = plain_trainer(Own).train().global_step"
    ),
    "labels_that_a_collator_takes": (
        "from transformers import DataCollatorForSeq2Seq\n"
        "from trl import SFTConfig, SFTTrainer\n"
        "trainer = SFTTrainer(model(), args=SFTConfig(**FAST, bf16=False), train_dataset=ROWS, "
        "data_collator=DataCollatorForSeq2Seq(TOKENIZER), processing_class=TOKENIZER)\n"
        "result = trainer.train_dataset.column_names, trainer.train().global_step"
    ),
    "a_batch_of_today": (
        _DPO + "trainer = DPOTrainer(model(), None, DPOConfig(**FAST), train_dataset=PAIRS, "
        "processing_class=TOKENIZER)\n"
        "batch = next(iter(trainer.get_train_dataloader()))\n"
        "result = [sorted(batch), batch.get('chosen_input_ids'), {**batch}.keys() == batch.keys()]"
    ),
}
"""Pieces of today, which the layer leaves as they are."""
