"""Old ways to handle tokenizers, datasets and configurations."""

# Name: the piece, what it raises without the layer, its result with it, and the printed line.
TOKENIZERS = {
    "encode_plus": (
        "keywords = {'max_length': 6, 'truncation': True, 'padding': 'max_length'}\n"
        "made = TOKENIZER.encode_plus('a b', 'c', return_tensors='pt', **keywords)\n"
        "same = TOKENIZER('a b', 'c', return_tensors='pt', **keywords)\n"
        "result = made['input_ids'].tolist() == same['input_ids'].tolist()",
        "has no attribute encode_plus",
        True,
        "call the tokenizer",
    ),
    "batch_encode_plus": (
        "pairs = TOKENIZER.batch_encode_plus([('a', 'b c'), ('d', 'e')], padding=True)\n"
        "texts = TOKENIZER.batch_encode_plus(batch_text_or_text_pairs=['a b', 'c'])\n"
        "same = TOKENIZER(['a', 'd'], ['b c', 'e'], padding=True)\n"
        "result = [pairs['input_ids'] == same['input_ids'], len(texts['input_ids'][0])]",
        "has no attribute batch_encode_plus",
        [True, 2],
        "call the tokenizer",
    ),
    "prepare_for_model": (
        "made = TOKENIZER.prepare_for_model([5, 6, 7], max_length=2, truncation=True)\n"
        "with TOKENIZER.as_target_tokenizer():\n"
        "    ids = TOKENIZER.build_inputs_with_special_tokens([5, 6], [7])\n"
        "result = [made['input_ids'], ids]",
        "has no attribute prepare_for_model",
        [[5, 6], [5, 6, 7]],
        "give the text to the tokenizer",
    ),
    "special_tokens": (
        "tokenizer = AutoTokenizer.from_pretrained(MODEL)\n"
        "tokenizer.add_special_tokens({'additional_special_tokens': ['<x>']},\n"
        "    replace_additional_special_tokens=False)\n"
        "ids = tokenizer.additional_special_tokens_ids\n"
        "result = [tokenizer.additional_special_tokens, ids == [len(tokenizer) - 1],\n"
        "    tokenizer.special_tokens_map_extended['additional_special_tokens']]",
        "replace_additional_special_tokens",
        [["<x>"], True, ["<x>"]],
        "write extra_special_tokens",
    ),
    "padded_to_the_longest": (
        "ids = TOKENIZER(['a b c', 'a'], max_length=5, pad_to_max_length=True,\n"
        "    truncation_strategy='longest_first')['input_ids']\n"
        "result = [len(row) for row in ids]",
        "truncation_strategy",
        [5, 5],
        "write padding='max_length'",
    ),
}
DATA = {
    "changed_in_place": (
        "from datasets import Dataset, DatasetDict, Features, Value\n"
        "part = Dataset.from_dict({'label': [1], 'text': ['a'], 'more': [{'n': 2}]})\n"
        "parts = DatasetDict({'train': part})\n"
        "parts.rename_column_('label', 'labels')\n"
        "part.remove_columns_(['text'])\n"
        "part.flatten_()\n"
        "part.cast_(Features({'labels': Value('float32'), 'more.n': Value('int64')}))\n"
        "result = [parts['train'][0], part.features['labels'].dtype]",
        "no attribute 'rename_column_'",
        [{"labels": 1.0, "more.n": 2}, "float32"],
        "write dataset = dataset.rename_column(",
    ),
    "file_system": (
        "import fsspec\n"
        "from datasets import DownloadConfig, load_from_disk\n"
        "files = fsspec.filesystem('file')\n"
        "ROWS.save_to_disk('rows', fs=files)\n"
        "made = load_from_disk('rows', fs=files)\n"
        "result = [made[0], DownloadConfig(use_auth_token='secret').token]",
        "'fs'",
        [{"text": "the first row of text"}, "secret"],
        "write storage_options=",
    ),
    "a_column": (
        "texts = ROWS['text']\n"
        "result = [len(TOKENIZER(texts)['input_ids']), texts + ['more'] == [*TEXTS, 'more']]",
        "must be of type",
        [4, True],
        "list(dataset[",
    ),
    "a_column_of_tensors": (
        "import torch\n"
        "numbers = Dataset.from_dict({'n': [1, 2]}).with_format('torch')['n']\n"
        "result = (numbers * 2).tolist()",
        "unsupported operand",
        [2, 4],
        "list(dataset[",
    ),
    "masks_for_the_collator": (
        "from trl.trainer.sft_trainer import DataCollatorForLanguageModeling as Collator\n"
        "rows = [{'input_ids': [1, 2, 3], 'completion_mask': [0, 1, 1]},\n"
        "    {'input_ids': [4, 5], 'completion_mask': [0, 1]}]\n"
        "both = [row | {'assistant_masks': [1, 0, 1]} for row in rows]\n"
        "cut = {'max_length': 2, 'truncation_mode': 'keep_end'}\n"
        "result = [made(given)['labels'].tolist() for made, given in [\n"
        "    (Collator(0), rows), (Collator(0, completion_only_loss=False), rows),\n"
        "    (Collator(0, completion_only_loss=True), both),\n"
        "    (Collator(0), [row | {'labels': row['input_ids']} for row in rows]),\n"
        "    (Collator(0, completion_only_loss=True, **cut), rows[:1])]]",
        "'completion_only_loss'",
        [
            [[-100, 2, 3], [-100, 5, -100]],
            [[1, 2, 3], [4, 5, -100]],
            [[-100, -100, 3], [-100, -100, -100]],
            [[1, 2, 3], [4, 5, -100]],
            [[2, 3]],
        ],
        "give the rows labels",
    ),
    "chat_template_by_keyword": (
        "from trl import maybe_apply_chat_template\n"
        "tokenizer = AutoTokenizer.from_pretrained(MODEL)\n"
        "tokenizer.chat_template = '{% for m in messages %}{{ m.content }}{% endfor %}'\n"
        "rows = Dataset.from_dict({'prompt': [[{'role': 'user', 'content': 'a b'}]] * 2})\n"
        "keywords = {'fn_kwargs': {'tokenizer': tokenizer}}\n"
        "result = [row['prompt'] for row in rows.map(maybe_apply_chat_template, **keywords)]\n"
        "rows = rows.map(maybe_apply_chat_template, num_proc=2, **keywords)",
        "'processing_class'",
        ["a b", "a b"],
        "write processing_class=",
    ),
}
MODELS = {
    "rope": (
        "from transformers import AutoConfig\n"
        "config = AutoConfig.from_pretrained(MODEL)\n"
        "theta = config.rope_theta\n"
        "config.rope_scaling = {'type': 'linear', 'factor': 2.0}\n"
        "made = AutoModelForCausalLM.from_pretrained(MODEL, config=config, dtype=torch.float32)\n"
        "loss = made(torch.tensor([[5, 6, 7]])).logits.sum().item()\n"
        "result = [theta == config.rope_parameters['rope_theta'], loss == loss]\n"
        "config.rope_scaling = None\n"
        "result += [config.rope_parameters['rope_type']]",
        "'rope_theta'",
        [True, True, "default"],
        "write rope_parameters",
    ),
    "an_adapter_on_the_head": (
        "import peft\n"
        "from trl import SFTConfig, SFTTrainer\n"
        "lora = peft.LoraConfig(r=4, target_modules=['q_proj', 'lm_head'], task_type='CAUSAL_LM')\n"
        "trainer = SFTTrainer(model=model(), args=SFTConfig(**{**FAST, 'bf16': False}),\n"
        "    train_dataset=ROWS, peft_config=lora)\n"
        "trainer.train()\n"
        "name = 'base_model.model.lm_head.lora_B.default.weight'\n"
        "result = bool(dict(trainer.model.named_parameters())[name].abs().sum() > 0)",
        "`lm_head` is not supported",
        True,
        "computed from logits",
    ),
    "parts_of_a_model_for_images": (
        "from transformers import LlavaForConditionalGeneration\n"
        "made = object.__new__(LlavaForConditionalGeneration)\n"
        "torch.nn.Module.__init__(made)\n"
        "made.model = torch.nn.Module()\n"
        "made.model.vision_tower = torch.nn.Linear(2, 2)\n"
        "result = sum(weight.numel() for weight in made.vision_tower.parameters())",
        "no attribute 'vision_tower'",
        6,
        "write model.vision_tower",
    ),
    "layers_by_their_old_names": (
        "import peft\n"
        "from transformers import ViTConfig, ViTModel\n"
        "made = ViTModel(ViTConfig(hidden_size=8, num_hidden_layers=1, num_attention_heads=2,\n"
        "    intermediate_size=16, image_size=32))\n"
        "lora = peft.LoraConfig(r=2, target_modules=['query', 'value'], modules_to_save=['pooler'])\n"
        "adapted = peft.get_peft_model(made, lora)\n"
        "names = {name.split('.lora_A')[0].rpartition('.')[2]\n"
        "    for name, _ in adapted.named_parameters() if 'lora_A' in name}\n"
        "result = [sorted(names), sorted(lora.target_modules)]",
        "NoMatchingPeftModuleError",
        [["q_proj", "v_proj"], ["query", "value"]],
        "write ['q_proj', 'v_proj']",
    ),
}
