"""Methods and attributes of former releases, and what those of a script's own classes were."""

PIECES = {
    "evaluated_during_training": (
        "result = TrainingArguments('o', evaluate_during_training=True, use_cpu=True).eval_strategy.value",
        "'evaluate_during_training'",
        "steps",
        "write eval_strategy='steps'",
    ),
    "longest_inputs": (
        "TOKENIZER.model_max_length = 9\n"
        "ids = TOKENIZER(['ba be'])\n"
        "AutoTokenizer.from_pretrained(MODEL, max_len=9).save_pretrained('nine')\n"
        "result = [TOKENIZER.max_len, TOKENIZER.max_model_input_sizes['bert-base-uncased'], ids.words()]",
        "no attribute max_len",
        [9, 9, [0, 1]],
        "write model_max_length",
    ),
    "language_models_of_any_kind": (
        "from transformers import AutoModelWithLMHead, MODEL_WITH_LM_HEAD_MAPPING\n"
        "made = AutoModelWithLMHead.from_pretrained(MODEL)\n"
        "names = MODEL_WITH_LM_HEAD_MAPPING._model_mapping\n"
        "result = [type(made).__name__, *(names[name] for name in ('bert', 'bart', 'whisper'))]",
        "cannot import name 'AutoModelWithLMHead'",
        [
            "LlamaForCausalLM",
            *("BertForMaskedLM", "BartForConditionalGeneration", "WhisperForConditionalGeneration"),
        ],
        "write from patchkit.replacements import AutoModelWithLMHead",
    ),
    "grouped_entities": (
        "from transformers import AutoModelForTokenClassification, pipeline\n"
        "made = AutoModelForTokenClassification.from_pretrained(MODEL, dtype=torch.float32)\n"
        "def strategy(**settings):\n"
        "    pipe = pipeline('ner', model=made, tokenizer=TOKENIZER, **settings)\n"
        "    return pipe._postprocess_params['aggregation_strategy'].value\n"
        "result = [strategy(grouped_entities=True),\n"
        "    strategy(grouped_entities=True, ignore_subwords=True)]",
        "unexpected keyword argument 'grouped_entities'",
        ["simple", "first"],
        "write aggregation_strategy='simple'",
    ),
    "own_output_tied": (
        "from transformers import GPT2Config, GPT2Model, GPT2PreTrainedModel\n"
        "class Own(GPT2PreTrainedModel):\n"
        "    def __init__(self, config):\n"
        "        super().__init__(config)\n"
        "        self.transformer = GPT2Model(config)\n"
        "        self.head = torch.nn.Linear(config.n_embd, config.vocab_size, bias=False)\n"
        "        self.post_init()\n"
        "    def get_output_embeddings(self):\n"
        "        return self.head\n"
        "small = dict(vocab_size=20, n_embd=8, n_layer=1, n_head=2)\n"
        "GPT2Model(GPT2Config(**small)).save_pretrained('gpt2')\n"
        "made = Own.from_pretrained('gpt2')\n"
        "loose = Own(GPT2Config(tie_word_embeddings=False, **small))\n"
        "tied = [each.head.weight is each.transformer.wte.weight for each in (made, loose)]\n"
        "from transformers.modeling_gpt2 import GPT2Model as Former\n"
        "result = [*tied, Former is GPT2Model]",
        "No module named 'transformers.modeling_gpt2'",
        [True, False, True],
        "_tied_weights_keys = {'head.weight': 'transformer.wte.weight'}",
    ),
    "whole_words": (
        "from transformers import BertTokenizer, DataCollatorForWholeWordMask\n"
        "tokenizer = BertTokenizer(vocab={word: place for place, word in enumerate(\n"
        "    ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]', 'a', '##b', '##c'])})\n"
        "masked = DataCollatorForWholeWordMask(tokenizer, mlm_probability=0.5)\n"
        "torch.manual_seed(0)\n"
        "labels = masked([tokenizer('abc a')] * 40)['labels']\n"
        "whole = {tuple(row) for row in (labels[:, 1:4] != -100).tolist()}\n"
        "result = sorted(whole)",
        "cannot import name 'DataCollatorForWholeWordMask'",
        [[False, False, False], [True, True, True]],
        "write from patchkit.replacements import DataCollatorForWholeWordMask",
    ),
    "outputs_in_order": (
        "ids = torch.tensor([[5, 6]])\n"
        "made = model()\n"
        "names = [*made(ids), *(name for name in made(ids))]\n"
        "loss, logits, _ = made(ids, labels=ids)\n"
        "loss.backward()\n"
        "result = [*names, list(logits.shape[:2])]",
        "'str' object has no attribute 'backward'",
        ["logits", "past_key_values", "logits", "past_key_values", [1, 2]],
        "a, b = with a CausalLMOutputWithPast has been gone since Transformers 4.0.0; write to_tuple()",
    ),
    "labels_of_language_models": (
        "from transformers import BertConfig, BertForMaskedLM, T5Config, T5ForConditionalGeneration\n"
        "ids = torch.tensor([[5, 6]])\n"
        "bert = BertForMaskedLM(BertConfig(vocab_size=9, hidden_size=8, num_hidden_layers=1,\n"
        "    num_attention_heads=2, intermediate_size=8))\n"
        "t5 = T5ForConditionalGeneration(T5Config(vocab_size=9, d_model=8, d_kv=4, d_ff=8,\n"
        "    num_layers=1, num_heads=2, decoder_start_token_id=0))\n"
        "bert(ids, masked_lm_labels=ids)[0].backward()\n"
        "t5(ids, lm_labels=ids)[0].backward()\n"
        "result = 1",
        "grad can be implicitly created only for scalar outputs",
        1,
        "T5ForConditionalGeneration.forward(lm_labels=) has been gone since Transformers 4.0.0; write",
    ),
    "checkpointed_gradients": (
        "made = AutoModelForCausalLM.from_pretrained(MODEL, gradient_checkpointing=True)\n"
        "result = made.is_gradient_checkpointing",
        "'gradient_checkpointing'",
        True,
        "call gradient_checkpointing_enable() of the model",
    ),
    "arguments_for_sequences": (
        "from dataclasses import dataclass\n"
        "from transformers import Seq2SeqTrainer\n"
        "@dataclass\n"
        "class Own(TrainingArguments):\n"
        "    predict_with_generate: bool = True\n"
        "args = Seq2SeqTrainer(model(), Own(**FAST)).args\n"
        "result = [args.predict_with_generate, args.generation_max_length]",
        "no attribute 'generation_config'",
        [True, None],
        "derive it from Seq2SeqTrainingArguments",
    ),
    "called_by_former_keywords": (
        "class Own(Trainer):\n"
        "    def evaluate(self, eval_dataset=None, name='x'):\n"
        "        return super().evaluate(eval_dataset)\n"
        "    def prediction_step(self, model, inputs, prediction_loss_only):\n"
        "        return super().prediction_step(model, inputs, True)\n"
        "    def save_model(self, output_dir):\n"
        "        return super().save_model(output_dir)\n"
        "    def _save(self, output_dir=None):\n"
        "        super()._save(output_dir)\n"
        "trainer = plain_trainer(Own, eval_steps=1, save_strategy='steps', save_steps=1)\n"
        "trainer.eval_dataset, trainer.args.eval_strategy = trainer.train_dataset, 'steps'\n"
        "trainer.train()\n"
        "result = ['eval_loss' in trainer.state.log_history[1], Path('out/checkpoint-1').is_dir()]",
        "unexpected keyword argument 'ignore_keys'",
        [True, True],
        "give it ignore_keys as a parameter",
    ),
    "settings_of_a_configuration_made": (
        "from transformers import LlamaConfig, PretrainedConfig\n"
        "class Own(LlamaConfig):\n"
        "    def __init__(self, x=1, **settings):\n"
        "        super().__init__(**settings)\n"
        "small = dict(vocab_size=99, hidden_size=8, intermediate_size=8, num_hidden_layers=1,\n"
        "    num_attention_heads=1)\n"
        "config = Own(max_length=7, **small)\n"
        "made = AutoModelForCausalLM.from_config(LlamaConfig(max_length=7, **small))\n"
        "made.save_pretrained('seven')\n"
        "again = LlamaConfig.from_pretrained('seven')\n"
        "loaded = Own.from_dict({'max_length': 7})\n"
        "result = [config.max_length, made.generation_config.max_length,\n"
        "    'max_length' in vars(again), 'max_length' in vars(loaded)]",
        "no attribute 'max_length'",
        [7, 7, False, False],
        "LlamaConfig(max_length=) has been gone since Transformers 5.0.0; set them on",
    ),
    "prediction_loop": (
        "trainer = plain_trainer()\n"
        "loader = trainer.get_test_dataloader(trainer.train_dataset)\n"
        "result = trainer.prediction_loop(loader, description='Evaluation').num_samples",
        "no attribute 'prediction_loop'",
        4,
        "Trainer.prediction_loop has been gone since Transformers 5.2.0; write evaluation_loop",
    ),
    "adapters_of_a_reference": (
        "from peft import LoraConfig, get_peft_model\n"
        "from trl import DPOConfig, DPOTrainer\n"
        "reference = get_peft_model(model(), LoraConfig(task_type='CAUSAL_LM'))\n"
        "trainer = DPOTrainer(model(), reference, DPOConfig(**FAST), train_dataset=PAIRS,\n"
        "                     processing_class=TOKENIZER)\n"
        "result = round(trainer.train().training_loss, 2)",
        "no attribute 'last_hidden_state'",
        0.69,
        "DPOTrainer(ref_model=) with adapters has been gone since TRL 1.15.0",
    ),
    "types_of_fields": (
        "from transformers import LlamaConfig\n"
        "config = LlamaConfig(vocab_size=9.0, use_cache=None, eos_token_id=[1, 2])\n"
        "config.head_dim = 4.0\n"
        "result = [config.vocab_size, config.use_cache, config.eos_token_id, config.head_dim]",
        "Field 'vocab_size' expected int, got float",
        [9.0, None, [1, 2], 4.0],
        "LlamaConfig.head_dim of type float has been gone since Transformers 5.4.0; write",
    ),
    "tokens_to_begin_with": (
        "from transformers import WhisperConfig, WhisperForConditionalGeneration\n"
        "made = WhisperForConditionalGeneration(WhisperConfig(vocab_size=9, d_model=8, "
        "encoder_layers=1, decoder_layers=1, encoder_attention_heads=1, decoder_attention_heads=1, "
        "max_source_positions=4, num_mel_bins=8, pad_token_id=0, bos_token_id=1, eos_token_id=2, "
        "decoder_start_token_id=1, suppress_tokens=[], begin_suppress_tokens=[]))\n"
        "made.generation_config.no_timestamps_token_id = 8\n"
        "ids = made.generate(torch.zeros(1, 8, 8), forced_decoder_ids=[(1, 5)], max_new_tokens=2)\n"
        "result = [ids.shape[1] <= 4, hasattr(made.config, 'forced_decoder_ids')]",
        "`model_kwargs` are not used by the model: ['forced_decoder_ids']",
        [True, True],
        "WhisperForConditionalGeneration.generate(forced_decoder_ids=) has been gone",
    ),
    "processor_of_a_feature_extractor": (
        "from transformers import CLIPImageProcessor, CLIPProcessor\n"
        "images = CLIPImageProcessor()\n"
        "made = CLIPProcessor(feature_extractor=images, tokenizer=TOKENIZER)\n"
        "result = made.feature_extractor is images",
        "Received a NoneType for argument image_processor",
        True,
        "CLIPProcessor.feature_extractor has been gone since Transformers 5.0.0; write image_proc",
    ),
    "framework_of_a_pipeline": (
        "from transformers import pipeline\n"
        "made = pipeline('text-generation', model=model(), tokenizer=TOKENIZER, framework='pt')\n"
        "result = len(made('the', max_new_tokens=1))",
        "model_kwargs",
        1,
        "pipeline(framework=) has been gone since Transformers 5.0.0",
    ),
    "configuration_of_parts": (
        "from transformers import CLIPConfig, CLIPTextConfig, CLIPVisionConfig\n"
        "parts = CLIPTextConfig(hidden_size=16), CLIPVisionConfig(hidden_size=24)\n"
        "made = CLIPConfig.from_text_vision_configs(*parts, projection_dim=2)\n"
        "result = [made.text_config.hidden_size, made.vision_config.hidden_size, "
        "made.projection_dim]",
        "has no attribute 'from_text_vision_configs'",
        [16, 24, 2],
        "CLIPConfig.from_text_vision_configs has been gone since Transformers 5.0.0",
    ),
    "settings_of_generate_for_a_configuration": (
        "from transformers import AutoConfig\n"
        "config = AutoConfig.from_pretrained(MODEL, max_length=24, num_beams=3)\n"
        "result = [config.max_length, config.num_beams]",
        "no attribute 'max_length'",
        [24, 3],
        "AutoConfig.from_pretrained(max_length=, num_beams=) has been gone since Transformers",
    ),
    "labels_that_begin_with_one": (
        "from transformers import SegformerImageProcessor\n"
        "made = SegformerImageProcessor(reduce_labels=True)\n"
        "result = [made.do_reduce_labels, made.reduce_labels]",
        "[False, True]",
        [True, True],
        "(reduce_labels=) has been gone since Transformers 4.55.0",
    ),
    "file_system_of_a_static_method": (
        "import fsspec\n"
        "ROWS.save_to_disk('rows')\n"
        "result = Dataset.load_from_disk('rows', fs=fsspec.filesystem('file')).num_rows",
        "unexpected keyword argument 'fs'",
        4,
        "load_from_disk(fs=",
    ),
    "features_of_texts": (
        "from transformers import CLIPConfig, CLIPModel\n"
        "size = dict(hidden_size=8, intermediate_size=8, num_hidden_layers=1, "
        "num_attention_heads=1)\n"
        "made = CLIPModel(CLIPConfig(text_config={**size, 'vocab_size': 9, 'eos_token_id': 2}, "
        "vision_config={**size, 'image_size': 8, 'patch_size': 8}, projection_dim=4))\n"
        "features = made.get_text_features(torch.tensor([[1, 2]]))\n"
        "result = list((features / features.norm(dim=-1, keepdim=True)).shape)",
        "no attribute 'norm'",
        [1, 4],
        "what CLIPModel.get_text_features gives has been gone since Transformers 5.0.0; read",
    ),
    "no_rank": (
        "args = TrainingArguments(**FAST, evaluation_strategy='no')\n"
        "result = 'alone' if args.local_rank == -1 else 'one of several'",
        "unexpected keyword argument 'evaluation_strategy'",
        "alone",
        "evaluation_strategy=",
    ),
    "column_for_tokenizer": (
        "result = TOKENIZER(ROWS['text'])['input_ids'] == TOKENIZER(TEXTS)['input_ids']",
        "text input must be of type `str`",
        True,
        "write list(dataset['text'])",
    ),
    "columns_added": (
        "labels = Dataset.from_dict({'label': [0, 1]})\n"
        "result = [labels['label'] + labels['label'], [2] + labels['label'], labels['label'] * 2]",
        "unsupported operand",
        [[0, 1, 0, 1], [2, 0, 1], [0, 1, 0, 1]],
        "+ with a Column has been gone since Datasets 4.0.0",
    ),
    "model_card": (
        "from trl import SFTConfig, SFTTrainer\n"
        "trainer = SFTTrainer(\n"
        "    model(), args=SFTConfig(**FAST), train_dataset=ROWS, processing_class=TOKENIZER\n"
        ")\n"
        "trainer.create_model_card(\n"
        "    finetuned_from='m', dataset=['some', 'rows'], dataset_tags=['some'], tags=['old']\n"
        ")\n"
        "text = Path('out/README.md').read_text()\n"
        "result = ['some, rows' in text, '- old' in text]",
        "unexpected keyword argument 'finetuned_from'",
        [True, True],
        "SFTTrainer.create_model_card(finetuned_from=) has been gone since TRL 0.12.0",
    ),
    "pairs_of_a_reward_trainer": (
        "from transformers import AutoModelForSequenceClassification\n"
        "from trl import RewardConfig, RewardTrainer\n"
        "from trl.trainer.utils import RewardDataCollatorWithPadding\n"
        "TOKENIZER.pad_token = TOKENIZER.eos_token\n"
        "judge = AutoModelForSequenceClassification.from_pretrained(MODEL, num_labels=1)\n"
        "judge.config.pad_token_id = TOKENIZER.pad_token_id\n"
        "rows = Dataset.from_list([\n"
        "    {f'{what}_{side}': ids for side, ids in pair.items() for what in ('input_ids',\n"
        "     'attention_mask')}\n"
        "    for pair in [{'chosen': [1, 1, 1], 'rejected': [1]}] * 4\n"
        "])\n"
        "collate = RewardDataCollatorWithPadding(TOKENIZER, max_length=8)\n"
        "trainer = RewardTrainer(judge, args=RewardConfig(**FAST), train_dataset=rows,\n"
        "                        processing_class=TOKENIZER, data_collator=collate)\n"
        "trainer.train()\n"
        "result = [trainer.data_collator is collate, trainer.state.global_step]",
        "cannot import name 'RewardDataCollatorWithPadding'",
        [True, 1],
        "RewardDataCollatorWithPadding has been gone since TRL 0.27.0",
    ),
    "column_of_tensors": (
        "rows = Dataset.from_dict({'label': [0, 1, 1]}).with_format('torch')\n"
        "result = list(rows['label'].shape)",
        "no attribute 'shape'",
        [3],
        "Column.shape",
    ),
    "encode_plus": (
        "TOKENIZER.pad_token = TOKENIZER.pad_token or TOKENIZER.eos_token\n"
        "made = TOKENIZER.encode_plus('a row', pad_to_max_length=True, max_length=9)\n"
        "result = len(made['input_ids'])",
        "encode_plus",
        9,
        "call the tokenizer itself",
    ),
    "as_target_processor": (
        "from transformers import Wav2Vec2FeatureExtractor, Wav2Vec2Processor\n"
        "processor = Wav2Vec2Processor(Wav2Vec2FeatureExtractor(), TOKENIZER)\n"
        "with processor.as_target_processor():\n"
        "    made = [processor('a row')['input_ids'], processor.pad([{'input_ids': [1]}])['input_ids']]\n"
        "waves = processor([0.1] * 800, sampling_rate=16000)\n"
        "result = [made == [TOKENIZER('a row')['input_ids'], [[1]]], 'input_values' in waves]",
        "as_target_processor",
        [True, True],
        "write processor.tokenizer(",
    ),
    "freeze_feature_extractor": (
        "from transformers import Wav2Vec2Config, Wav2Vec2ForCTC\n"
        "small = dict(hidden_size=8, num_attention_heads=2, num_hidden_layers=1,\n"
        "             intermediate_size=8, conv_dim=(8,), conv_kernel=(2,), conv_stride=(2,),\n"
        "             num_conv_pos_embeddings=2, num_conv_pos_embedding_groups=1)\n"
        "hears = Wav2Vec2ForCTC(Wav2Vec2Config(**small))\n"
        "hears.freeze_feature_extractor()\n"
        "encoder = hears.wav2vec2.feature_extractor\n"
        "result = any(each.requires_grad for each in encoder.parameters())",
        "freeze_feature_extractor",
        False,
        "write freeze_feature_encoder",
    ),
    "settings_of_each_configuration": (
        "made = AutoModelForCausalLM.from_pretrained(\n"
        "    MODEL, dtype='auto', sep_token_id=3, is_decoder=True, decoder_start_token_id=1\n"
        ")\n"
        "result = [made.config.sep_token_id, made.config.is_decoder,\n"
        "    made.generation_config.decoder_start_token_id]",
        "unexpected keyword argument",
        [3, True, 1],
        "(decoder_start_token_id=, is_decoder=, sep_token_id=) has been gone since Transformers 5.0.0",
    ),
    "generation_by_an_own_class": (
        "from transformers import GenerationMixin\n"
        "class Own(GenerationMixin, torch.nn.Module):\n"
        "    _is_stateful, device = False, torch.device('cpu')\n"
        "    def __init__(self, inner):\n"
        "        super().__init__()\n"
        "        self.inner, self.config = inner, inner.config\n"
        "        self.generation_config = inner.generation_config\n"
        "        self.main_input_name = inner.main_input_name\n"
        "        self._supports_cache_class = inner._supports_cache_class\n"
        "    def forward(self, input_ids, **kwargs):\n"
        "        return self.inner(input_ids=input_ids)\n"
        "    def prepare_inputs_for_generation(self, input_ids, **kwargs):\n"
        "        return {'input_ids': input_ids}\n"
        "made = Own(model()).generate(torch.tensor([[5, 6]]), max_new_tokens=2, do_sample=False)\n"
        "result = list(made.shape)",
        "has no attribute '_supports_cache_class'",
        [1, 4],
        "Own.generate without get_experts_implementation",
    ),
    "parts_of_an_evaluation": (
        "trainer = plain_trainer()\n"
        "found = trainer._pad_across_processes(torch.ones(1, 2))\n"
        "trainer._rotate_checkpoints(use_mtime=True, output_dir='.')\n"
        "result = [trainer.use_amp, trainer.scaler, trainer.fsdp, found.tolist(),\n"
        "    trainer._gather_and_numpify(torch.ones(1), 'x').tolist(),\n"
        "    trainer.torch_jit_model_eval(trainer.model, None) is trainer.model,\n"
        "    trainer._sorted_checkpoints(output_dir='.'),\n"
        "    trainer.model._get_no_split_modules('auto')]",
        "no attribute '_pad_across_processes'",
        [False, None, None, [[1.0, 1.0]], [1.0], True, [], ["LlamaDecoderLayer"]],
        "Trainer._pad_across_processes has been gone since Transformers 4.31.0",
    ),
    "settings_of_generate_for_a_loaded_model": (
        "made = AutoModelForCausalLM.from_pretrained(\n"
        "    MODEL, dtype='auto', num_beams=3, min_length=2, length_penalty=1.5\n"
        ")\n"
        "found = made.generation_config\n"
        "result = [found.num_beams, found.min_length, found.length_penalty]",
        "unexpected keyword argument",
        [3, 2, 1.5],
        "(length_penalty=, min_length=, num_beams=) has been gone since Transformers 5.0.0",
    ),
    "prediction_loss_only": (
        "trainer = Trainer(model(), arguments(), prediction_loss_only=True)\n"
        "result = trainer.args.prediction_loss_only",
        "unexpected keyword argument 'prediction_loss_only'",
        True,
        "write TrainingArguments(prediction_loss_only=",
    ),
    "token_folder_of_the_interface": (
        "from huggingface_hub.hf_api import HfFolder\nresult = HfFolder.get_token()",
        "cannot import name 'HfFolder'",
        None,
        "huggingface_hub.hf_api.HfFolder has been gone",
    ),
    "metrics_of_pairs": (
        "from transformers import AutoModelForSequenceClassification\n"
        "from trl import RewardConfig, RewardTrainer\n"
        "TOKENIZER.pad_token = TOKENIZER.eos_token\n"
        "judge = AutoModelForSequenceClassification.from_pretrained(MODEL, num_labels=1)\n"
        "judge.config.pad_token_id = TOKENIZER.pad_token_id\n"
        "seen = []\n"
        "def metrics(given):\n"
        "    shares, labels = given\n"
        "    seen.append([list(shares.shape), float(shares.sum()), labels.tolist()])\n"
        "    return {'right': 1.0}\n"
        "rows = Dataset.from_list([{'chosen': 'a b', 'rejected': 'c'}] * 3)\n"
        "trainer = RewardTrainer(judge, args=RewardConfig(**FAST, per_device_eval_batch_size=2),\n"
        "                        train_dataset=rows, eval_dataset=rows, tokenizer=TOKENIZER,\n"
        "                        compute_metrics=metrics)\n"
        "result = [trainer.evaluate()['eval_right'], [each if n != 1 else round(each, 3)\n"
        "          for n, each in enumerate(seen[0])]]",
        "unexpected keyword argument 'tokenizer'",
        [1.0, [[3, 2], 3.0, [0.0, 0.0, 0.0]]],
        "RewardTrainer(compute_metrics=) has been gone since TRL 0.24.0",
    ),
    "batch_encode_plus": (
        "made = TOKENIZER.batch_encode_plus([('a', 'row'), ('of', 'text')])\n"
        "result = made['input_ids'] == TOKENIZER(['a', 'of'], ['row', 'text'])['input_ids']",
        "batch_encode_plus",
        True,
        "call the tokenizer itself",
    ),
    "as_target_tokenizer": (
        "with TOKENIZER.as_target_tokenizer():\n"
        "    made = TOKENIZER('a row')['input_ids']\n"
        "result = made == TOKENIZER(text_target='a row')['input_ids']",
        "as_target_tokenizer",
        True,
        "write tokenizer(text_target=",
    ),
    "special_tokens_around": (
        "ids = TOKENIZER.encode('a row', add_special_tokens=False)\n"
        "result = TOKENIZER.build_inputs_with_special_tokens(ids) == TOKENIZER.encode('a row')",
        "build_inputs_with_special_tokens",
        True,
        "let the tokenizer add them",
    ),
    "special_token_not_public": (
        "TOKENIZER.pad_token = TOKENIZER.eos_token\nresult = TOKENIZER._pad_token == "
        "TOKENIZER.eos_token",
        "_pad_token",
        True,
        "write pad_token",
    ),
    "kind_of_tokenizer": (
        "made = AutoTokenizer.from_pretrained(MODEL, tokenizer_type='llama')\n"
        "result = type(made) is type(TOKENIZER)",
        "`tokenizer_type` llama does not exist",
        True,
        "tokenizer_type='llama'",
    ),
    "warnings_issued": (
        "made = model()\nmade.warnings_issued['estimate_tokens'] = True\n"
        "result = [made.warnings_issued, made.to_bettertransformer() is made]",
        "warnings_issued",
        [{"estimate_tokens": True}, True],
        "leave it out",
    ),
    "settings_of_generation": (
        "made = model().config\nresult = [made.max_length, made.task_specific_params]",
        "max_length",
        [20, None],
        "read model.generation_config.max_length",
    ),
    "scaled_positions": (
        "from transformers import LlamaConfig, LlamaForCausalLM\n"
        "made = LlamaConfig(vocab_size=8, hidden_size=8, intermediate_size=8, num_hidden_layers=1,\n"
        "    num_attention_heads=2, rope_theta=5000.0)\n"
        "made.rope_scaling = {'type': 'linear', 'factor': 2.0}\n"
        "LlamaForCausalLM(made)\n"
        "result = [made.rope_theta, made.rope_parameters['factor']]",
        "unsupported operand type",
        [5000.0, 2.0],
        "write rope_parameters, with rope_theta",
    ),
    "past_index": (
        "result = [arguments().past_index, arguments(save_safetensors=False).save_safetensors]",
        "past_index",
        [-1, False],
        "leave it out",
    ),
    "member_of_enumeration": (
        "from accelerate import DistributedType\nresult = DistributedType.TPU.value",
        "TPU",
        "XLA",
        "write DistributedType.XLA",
    ),
    "steps_of_adalora": (
        "from peft import AdaLoraConfig\nresult = AdaLoraConfig(tinit=2, tfinal=3).total_step",
        "total_step",
        6,
        "write total_step=",
    ),
    "folder_of_token": (
        "from huggingface_hub import HfFolder, Repository\nresult = HfFolder.get_token()",
        "cannot import name 'HfFolder'",
        None,
        "huggingface_hub.HfFolder",
    ),
    "flag_of_two_classes": (
        "from dataclasses import dataclass\n"
        "from transformers import HfArgumentParser\n"
        "@dataclass\n"
        "class Generation:\n"
        "    use_cache: bool = True\n"
        "parser = HfArgumentParser((TrainingArguments, Generation))\n"
        "flags = ['--output_dir', 'out', '--use_cpu', 'True', '--use_cache', 'False']\n"
        "args, generation = parser.parse_args_into_dataclasses(flags)\n"
        "result = [args.use_cache, generation.use_cache]",
        "conflicting option string",
        [False, False],
        "--use_cache stays that of Generation",
    ),
    "own_loss_of_pairs": (
        "from transformers import AutoModelForSequenceClassification\n"
        "from trl import RewardConfig, RewardTrainer\n"
        "seen = []\n"
        "class Own(RewardTrainer):\n"
        "    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):\n"
        "        sides = [model(input_ids=inputs['input_ids_chosen'],\n"
        "                       attention_mask=inputs['attention_mask_chosen']).logits,\n"
        "                 model(input_ids=inputs['input_ids_rejected'],\n"
        "                       attention_mask=inputs['attention_mask_rejected']).logits]\n"
        "        seen.append([list(side.shape) for side in sides])\n"
        "        return -(sides[0] - sides[1]).sigmoid().log().mean()\n"
        "TOKENIZER.pad_token = TOKENIZER.eos_token\n"
        "scored = AutoModelForSequenceClassification.from_pretrained(\n"
        "    MODEL, num_labels=1, dtype=torch.float32)\n"
        "scored.config.pad_token_id = TOKENIZER.pad_token_id\n"
        "Own(model=scored, args=RewardConfig(**FAST, bf16=False), train_dataset=PAIRS,\n"
        "    processing_class=TOKENIZER).train()\n"
        "result = seen",
        "input_ids_chosen",
        [[[2, 1], [2, 1]]],
        "take the halves of",
    ),
    "text_dataset": (
        "from transformers import TextDataset\n"
        "Path('corpus.txt').write_text('a row of text ' * 20)\n"
        "result = len(TextDataset(TOKENIZER, 'corpus.txt', block_size=8)[0])",
        "TextDataset",
        8,
        "transformers.TextDataset",
    ),
}
"""The piece, what it raises without the layer, its result with it, and the printed line."""

REFUSED = {
    "a_model_with_an_encoder": (
        "from transformers import T5Config, T5ForConditionalGeneration\n"
        "from trl import DPOConfig, DPOTrainer\n"
        "encoding = T5ForConditionalGeneration(T5Config(vocab_size=9, d_model=8, d_kv=4, d_ff=8,\n"
        "    num_layers=1, num_heads=2, decoder_start_token_id=0))\n"
        "DPOTrainer(encoding, args=DPOConfig(**FAST), train_dataset=PAIRS,\n"
        "    processing_class=TOKENIZER)",
        "DPOTrainer of a model with an encoder and a decoder has been gone since TRL 0.29.0",
    ),
    "adapter_of_the_head": (
        "import peft\n"
        "from trl import DPOConfig, DPOTrainer\n"
        "lora = peft.LoraConfig(target_modules=['q_proj', 'lm_head'], task_type='CAUSAL_LM')\n"
        "DPOTrainer(model(), args=DPOConfig(**FAST), train_dataset=PAIRS,\n"
        "    processing_class=TOKENIZER, peft_config=lora)",
        "DPOTrainer with an adapter on lm_head has been gone since TRL 1.15.0. Leave it out of",
    ),
    "layers_walked_to_merge": (
        "from peft import LoraConfig, get_peft_model\n"
        "tuner = get_peft_model(model(), LoraConfig(target_modules=['q_proj'])).base_model\n"
        "names = [name for name, _ in tuner.model.named_modules() if 'lora' not in name]\n"
        "for name in names:\n"
        "    tuner._get_submodules(name)",
        "LoraModel._get_submodules() has been gone since PEFT 0.4.0. Scripts merged adapters with",
    ),
    "own_loss_of_dpo": (
        "from trl import DPOConfig, DPOTrainer\n"
        "class Own(DPOTrainer):\n"
        "    def dpo_loss(self, *logps):\n"
        "        return logps\n"
        "Own(model(), args=DPOConfig(**FAST), train_dataset=PAIRS, processing_class=TOKENIZER)\n"
        "result = 'trains with another loss'",
        "own_loss_of_dpo.py:3: Own.dpo_loss has been gone since TRL 0.29.0. No trainer calls it",
    ),
    "column_that_grows": (
        "ROWS['text'].append('more')",
        "column_that_grows.py:1: Column.append() has been gone since Datasets 4.0.0",
    ),
    "template_of_a_class": (
        "TOKENIZER.chat_template = TOKENIZER.default_chat_template",
        "default_chat_template has been gone since Transformers 4.44.0. Set chat_template to",
    ),
    "pairs_for_an_encoder": (
        "from transformers import T5Config, T5ForConditionalGeneration\n"
        "from trl import DPOConfig, DPOTrainer\n"
        "small = T5Config(vocab_size=99, d_model=8, d_kv=4, d_ff=8, num_layers=1, num_heads=2)\n"
        "DPOTrainer(T5ForConditionalGeneration(small), args=DPOConfig(**FAST),\n"
        "           train_dataset=PAIRS, processing_class=TOKENIZER)",
        "DPOTrainer of a model with an encoder and a decoder has been gone since TRL 0.29.0",
    ),
    "parallelize": (
        "model().parallelize()",
        "LlamaForCausalLM.parallelize() has been gone since Transformers 5.0.0",
    ),
    "repository": (
        "from huggingface_hub import Repository\nRepository('out')",
        "huggingface_hub.Repository has been gone since huggingface_hub 1.0.0",
    ),
}
"""The piece, and how the error reads with the layer."""

ALIKE = {
    "former_module": (
        "from transformers.tokenization_utils import PreTrainedTokenizer\n"
        "result = PreTrainedTokenizer.__name__"
    ),
    "own_loss_and_its_caller": (
        "from trl import DPOConfig, DPOTrainer\n"
        "class Own(DPOTrainer):\n"
        "    def dpo_loss(self, loss):\n"
        "        return loss\n"
        "    def compute_loss(self, *args, **kwargs):\n"
        "        return self.dpo_loss(super().compute_loss(*args, **kwargs))\n"
        "Own(model(), args=DPOConfig(**FAST), train_dataset=PAIRS,\n"
        "    processing_class=TOKENIZER).train()\n"
        "result = 1"
    ),
    "column_of_today": "result = [ROWS['text'][0], type(ROWS['text']).__name__]",
    "unknown_attribute": "result = [hasattr(model(), name) for name in ('nothing', 'lm_head')]",
}
"""Pieces with the same result on both sides."""
