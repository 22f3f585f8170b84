"""Pieces that ran, and give other results or an error today, with names that are still there."""

_SEQ2SEQ = (
    "from transformers import (DataCollatorForSeq2Seq, Seq2SeqTrainer, Seq2SeqTrainingArguments,\n"
    "    T5Config, T5ForConditionalGeneration)\n"
    "TOKENIZER.pad_token = TOKENIZER.eos_token\n"
    "def made(**settings):\n"
    "    torch.manual_seed(0)\n"
    "    return T5ForConditionalGeneration(T5Config(\n"
    "        vocab_size=len(TOKENIZER), d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2,\n"
    "        decoder_start_token_id=0, pad_token_id=TOKENIZER.pad_token_id,\n"
    "        eos_token_id=len(TOKENIZER) - 1, **settings))\n"
)
_CHECKPOINT = (
    "import json\n"
    "def write(name, **settings):\n"
    "    file = Path('speech', name)\n"
    "    held = json.loads(file.read_text()) | settings\n"
    "    file.write_text(json.dumps(held))\n"
    "made().save_pretrained('speech')\n"
)

_PREDICTED = (
    f"{_SEQ2SEQ}"
    "rows = Dataset.from_dict({'input_ids': [[3, 4]] * 6, 'labels': [[5, 6]] * 6})\n"
    "def metrics(predicted):\n"
    "    found.append(list(predicted.predictions.shape))\n"
    "    found.append(int((predicted.predictions == -100).sum()))\n"
    "    TOKENIZER.batch_decode(predicted.predictions)\n"
    "    return {}\n"
    "found, seq2seq = [], made()\n"
    "arguments = Seq2SeqTrainingArguments(\n"
    "    'out', predict_with_generate=True, per_device_eval_batch_size=2, use_cpu=True,\n"
    "    report_to='none', disable_tqdm=True)\n"
    "trainer = Seq2SeqTrainer(\n"
    "    seq2seq, arguments, eval_dataset=rows, compute_metrics=metrics,\n"
    "    processing_class=TOKENIZER, data_collator=DataCollatorForSeq2Seq(TOKENIZER))\n"
)

# Name: the piece, what it gives without the layer, its result with it, and the printed line.
BEHAVIOURS = {
    "rows_without_labels_are_predicted": (
        f"{_PREDICTED}"
        "trainer.compute_metrics = None\n"
        "result = trainer.predict(rows.remove_columns('labels')).label_ids",
        "You must specify exactly one of input_ids",
        None,
        "DataCollatorForSeq2Seq of rows without labels has been gone since Transformers 4.41.0",
    ),
    "weights_that_a_constructor_shares": (
        "from safetensors.torch import save_file\n"
        "from transformers import PretrainedConfig, PreTrainedModel\n"
        "class Own(PreTrainedModel):\n"
        "    config_class = PretrainedConfig\n"
        "    def __init__(self, config):\n"
        "        super().__init__(config)\n"
        "        self.first, self.second = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)\n"
        "        self.second.weight = self.first.weight\n"
        "        self.post_init()\n"
        "PretrainedConfig().save_pretrained('shared')\n"
        "weights, result = {**Own(PretrainedConfig()).state_dict()}, []\n"
        "for lost in ('', 'first.weight', 'second.weight'):\n"
        "    kept = {name: each.clone() for name, each in weights.items() if name != lost}\n"
        "    save_file(kept, 'shared/model.safetensors', {'format': 'pt'})\n"
        "    own = Own.from_pretrained('shared')\n"
        "    result.append(own.first.weight is own.second.weight)\n"
        "    result.append(torch.equal(own.first.weight, weights['second.weight']))",
        [False, True, False, False, False, True],
        [True] * 6,
        "_tied_weights_keys = {'second.weight': 'first.weight'}",
    ),
    "length_of_generation": (
        f"{_SEQ2SEQ}{_CHECKPOINT}"
        "write('config.json', max_length=448, num_beams=2, transformers_version='4.40.0')\n"
        "write('generation_config.json', max_length=448, top_k=7)\n"
        "config = T5ForConditionalGeneration.from_pretrained('speech').config\n"
        "result = [config.max_length, config.num_beams, config.top_k, config.do_sample]",
        "no attribute 'max_length'",
        [448, 2, 50, False],
        "read model.generation_config.max_length",
    ),
    "length_that_today_s_release_saved": (
        f"{_SEQ2SEQ}{_CHECKPOINT}"
        "write('generation_config.json', max_length=99)\n"
        "result = T5ForConditionalGeneration.from_pretrained('speech').config.max_length",
        "no attribute 'max_length'",
        99,
        "T5Config.max_length has been gone since Transformers 5.0.0",
    ),
    "length_of_a_model_in_memory": (
        f"{_SEQ2SEQ}result = [made().config.max_length, made().config.num_beams]",
        "no attribute 'max_length'",
        [20, 1],
        "read model.generation_config.num_beams",
    ),
    "settings_of_generate_in_the_configuration": (
        f"{_SEQ2SEQ}"
        "seq2seq = made()\n"
        "seq2seq.config.max_length, seq2seq.config.num_beams = 7, 2\n"
        "length = seq2seq.generate(torch.tensor([[3, 4]])).shape[1]\n"
        "seq2seq.save_pretrained('set')\n"
        "again = T5ForConditionalGeneration.from_pretrained('set')\n"
        "result = [length, seq2seq.config.max_length, again.generation_config.num_beams]",
        "You have modified the pretrained model configuration",
        [7, 7, 2],
        "write generation_config: max_length = 7, num_beams = 2",
    ),
    "settings_of_generate_of_a_decoder": (
        "import json\n"
        "from transformers import (BertConfig, BertLMHeadModel, BertModel, EncoderDecoderModel,\n"
        "    TrainingArguments)\n"
        "TrainingArguments('out', logging_dir='logs', use_cpu=True)\n"
        "sizes = {'vocab_size': 64, 'hidden_size': 8, 'num_hidden_layers': 1,\n"
        "    'num_attention_heads': 1, 'intermediate_size': 8}\n"
        "BertModel(BertConfig(**sizes)).save_pretrained('read')\n"
        "BertLMHeadModel(BertConfig(**sizes)).save_pretrained('told')\n"
        "file = Path('told', 'config.json')\n"
        "held = {'max_length': 30, 'num_beams': 2, 'transformers_version': '4.40.0'}\n"
        "file.write_text(json.dumps(json.loads(file.read_text()) | held))\n"
        "Path('told', 'generation_config.json').unlink()\n"
        "load, result = EncoderDecoderModel.from_encoder_decoder_pretrained, []\n"
        "for pair in (load('read', 'told'), load('read', 'told', decoder_max_length=12)):\n"
        "    generation = pair.generation_config\n"
        "    generation.decoder_start_token_id, generation.suppress_tokens = 1, [0]\n"
        "    generation.eos_token_id, generation.pad_token_id = None, 0\n"
        "    length = pair.generate(torch.tensor([[3, 4]])).shape[1]\n"
        "    pair.save_pretrained('pair')\n"
        "    again = EncoderDecoderModel.from_pretrained('pair').generation_config\n"
        "    result.append([length, again.max_length, again.num_beams])",
        "unexpected keyword argument 'logging_dir'",
        [[30, 30, 2], [12, 12, 2]],
        "write generation_config: max_length = 30, num_beams = 2",
    ),
    "generated_predictions": (
        f"{_PREDICTED}trainer.evaluate()\nresult = found",
        "OverflowError",
        [[6, 21], 0],
        "Seq2SeqTrainingArguments without generation_max_length=",
    ),
    "generated_predictions_of_a_set_length": (
        f"{_PREDICTED}seq2seq.config.max_length = 7\ntrainer.evaluate()\nresult = found",
        "You have modified the pretrained model configuration",
        [[6, 7], 0],
        "write generation_config: max_length = 7",
    ),
    "scaling_of_positions": (
        "from transformers import LlamaConfig\n"
        "config = LlamaConfig(rope_scaling={'type': 'linear', 'factor': 2.0})\n"
        "result = [LlamaConfig().rope_scaling, config.rope_scaling['type'],\n"
        "    config.rope_scaling['factor'], 'rope_theta' in config.rope_scaling]",
        [{"rope_theta": 10000.0, "rope_type": "default"}, "linear", 2.0, True],
        [None, "linear", 2.0, False],
        "LlamaConfig.rope_scaling has been gone since Transformers 5.0.0; read rope_parameters",
    ),
    "dtype_of_a_model_that_nobody_gave": (
        "from trl import ModelConfig, TrlParser\n"
        "parsed = [TrlParser(ModelConfig).parse_args_and_config(words)[0].torch_dtype\n"
        "    for words in ([], ['--torch_dtype', 'float32'])]\n"
        "result = [ModelConfig().torch_dtype, ModelConfig(torch_dtype='auto').torch_dtype, *parsed]",
        "Error",
        [None, "auto", None, "float32"],
        "ModelConfig.torch_dtype has been gone since TRL 0.27.0",
    ),
    "map_of_devices": (
        "load = AutoModelForCausalLM.from_pretrained\n"
        "maps = [load(MODEL, device_map=asked).hf_device_map for asked in ({'': 'cpu'}, 'auto')]\n"
        "result = [*maps, str(load(MODEL, device_map='cpu').hf_device_map['']),\n"
        "    hasattr(load(MODEL), 'hf_device_map')]",
        "no attribute 'hf_device_map'",
        [{"": "cpu"}, {"": "cpu"}, "cpu", False],
        "LlamaForCausalLM.hf_device_map",
    ),
    "no_limit_of_the_gradient": (
        "trainer = plain_trainer(max_grad_norm=None)\n"
        "trainer.train()\n"
        "result = trainer.state.global_step",
        "not supported between instances of 'NoneType' and 'int'",
        1,
        "",
    ),
    "one_class_for_two_rewards": (
        "from trl import GRPOConfig, GRPOTrainer\n"
        "TOKENIZER.pad_token = TOKENIZER.eos_token\n"
        "def one(completions, **others):\n"
        "    return [1.0] * len(completions)\n"
        "trainer = GRPOTrainer(\n"
        "    MODEL, [one, one], GRPOConfig(**FAST, num_generations=2, max_completion_length=2),\n"
        "    train_dataset=Dataset.from_dict({'prompt': ['a', 'b']}),\n"
        "    reward_processing_classes=TOKENIZER)\n"
        "trainer.train()\n"
        "result = trainer.state.log_history[0]['reward']",
        "must match the number of reward functions",
        2.0,
        "all rewards but the first were left out",
    ),
    "feature_extractor_of_images": (
        "import json, transformers\n"
        "folder = Path('images')\n"
        "folder.mkdir()\n"
        "file = {'image_processor_type': 'ViTImageProcessor'}\n"
        "(folder / 'preprocessor_config.json').write_text(json.dumps(file))\n"
        "(folder / 'config.json').write_text(json.dumps({'model_type': 'vit'}))\n"
        "class AutoImageProcessor:\n"
        "    from_pretrained = staticmethod(lambda **given: given)\n"
        "transformers.AutoImageProcessor = AutoImageProcessor  # the true one needs Pillow\n"
        "result = transformers.AutoFeatureExtractor.from_pretrained('images')",
        "Unrecognized feature extractor",
        {"pretrained_model_name_or_path": "images"},
        "write AutoImageProcessor.from_pretrained",
    ),
    "dtype_of_a_teacher": (
        "from trl.experimental.gkd import GKDConfig, GKDTrainer\n"
        "TOKENIZER.pad_token = TOKENIZER.eos_token\n"
        "turn = {'role': 'user', 'content': 'a'}\n"
        "TOKENIZER.chat_template = '{% for m in messages %}{{ m[\"content\"] }} {% endfor %}'\n"
        "trainer = GKDTrainer(\n"
        "    MODEL, MODEL, GKDConfig(**FAST, teacher_model_init_kwargs={'torch_dtype': 'bfloat16'}),\n"
        "    train_dataset=Dataset.from_dict({'messages': [[turn, {**turn, 'role': 'assistant'}]] * 2}),\n"
        "    processing_class=TOKENIZER)\n"
        "result = str(trainer.teacher_model.dtype)",
        "KeyError: 'dtype'",
        "torch.bfloat16",
        "GKDConfig(teacher_model_init_kwargs={'torch_dtype': …})",
    ),
    "formatted_beside_prompts": (
        "from trl import SFTConfig, SFTTrainer\n"
        "rows = Dataset.from_dict({'prompt': ['a b'] * 2, 'completion': ['c'] * 2})\n"
        "trainer = SFTTrainer(\n"
        "    model(), SFTConfig(**FAST), train_dataset=rows, processing_class=TOKENIZER,\n"
        "    formatting_func=lambda row: row['prompt'] + ' and ' + row['completion'])\n"
        "row = trainer.train_dataset[0]\n"
        "result = [row['text'].startswith('a b and c'), row['labels'] == row['input_ids']]",
        "A formatting function was provided",
        [True, True],
        "SFTTrainer(formatting_func=) for rows with a column prompt",
    ),
    "text_beside_tools": (
        "from trl import SFTConfig, SFTTrainer\n"
        "rows = Dataset.from_dict({'tools': ['hammer'] * 2, 'text': TEXTS[:2]})\n"
        "trainer = SFTTrainer(\n"
        "    model(), SFTConfig(**FAST, dataset_text_field='text'), train_dataset=rows,\n"
        "    processing_class=TOKENIZER)\n"
        "result = len(trainer.train_dataset)",
        "JSONDecodeError",
        2,
        "with a column text beside a prompt, or others",
    ),
    "none_beside_a_value": (
        "from trl import SFTConfig\n"
        "result = SFTConfig(**FAST, max_seq_length=None, max_length=512).max_length",
        "'max_seq_length'",
        512,
        "SFTConfig(max_seq_length=None) has been gone since TRL 0.20.0; leave it out",
    ),
    "keys_of_a_file": (
        "from trl import SFTConfig, TrlParser\n"
        "Path('keys.yaml').write_text('output_dir: o\\nmax_seq_len: 7\\nuse_cpu: true\\n')\n"
        "(args,) = TrlParser(SFTConfig).parse_args_and_config(['--config', 'keys.yaml'])\n"
        "result = [args.output_dir, args.max_length]",
        "Unknown arguments from config file: ['--max_seq_len', '7']",
        ["o", 1024],
        "leave it out: it was passed over; or write max_seq_length, if that is meant",
    ),
    "layers_of_phi": (
        "from peft import LoraConfig, get_peft_model\n"
        "from transformers import PhiConfig, PhiForCausalLM\n"
        "phi = PhiForCausalLM(PhiConfig(\n"
        "    hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2,\n"
        "    vocab_size=60))\n"
        "made = get_peft_model(phi, LoraConfig(target_modules=['Wqkv', 'out_proj', 'fc1']))\n"
        "result = sorted(made.peft_config['default'].target_modules)",
        ["Wqkv", "fc1", "out_proj"],
        ["dense", "fc1", "k_proj", "q_proj", "v_proj"],
        "target_modules=['Wqkv', 'out_proj'] of PhiForCausalLM",
    ),
    "unknown_pad_token": (
        "from trl import SFTConfig, SFTTrainer\n"
        "tokenizer = AutoTokenizer.from_pretrained(MODEL)\n"
        "tokenizer.pad_token = '<PAD>'\n"
        "trainer = SFTTrainer(\n"
        "    MODEL, SFTConfig(**FAST), train_dataset=ROWS, processing_class=tokenizer)\n"
        "trainer.train()\n"
        "result = [trainer.processing_class.pad_token, trainer.state.global_step]",
        "ValueError: The specified `pad_token`",
        ["<unk>", 1],
        "write tokenizer.pad_token = tokenizer.unk_token",
    ),
    "number_of_the_process": (
        "from transformers import TrainingArguments\n"
        "result = TrainingArguments('out', use_cpu=True, report_to='none').local_rank",
        -1,
        0,
        "",
    ),
    # That the script is an old one is known from the pieces above.
    "ids_of_one_sequence": (
        "result = [len(TOKENIZER.batch_decode(ids)) for ids in ([3, 4], torch.tensor([3, 4]), [[3, 4]])]",
        [1, 1, 1],
        [2, 2, 1],
        "write [tokenizer.decode(id) for id in ids]",
    ),
    "layers_of_a_cache": (
        "past = model()(input_ids=torch.tensor([[3, 4]])).past_key_values\n"
        "result = [len(past[0]), past[-1][1].shape[2], sum(len(pair) for pair in past) / len(past)]",
        "object is not subscriptable",
        [2, 2, 2],
        "[…] with a DynamicCache has been gone since Transformers 5.0.0; read keys and values",
    ),
    "logs_in_a_folder": (
        "import os, transformers.integrations\n"
        "transformers.integrations.is_tensorboard_available = lambda: True\n"
        "os.environ['TENSORBOARD_LOGGING_DIR'] = 'logs'\n"
        "given = dict(output_dir='out', use_cpu=True)\n"
        "result = [TrainingArguments(**given, **more).report_to\n"
        "    for more in ({}, {'report_to': 'none'}, {'report_to': 'wandb'})]\n"
        "del os.environ['TENSORBOARD_LOGGING_DIR']",
        [[], [], ["wandb"]],
        [["tensorboard"], [], ["wandb"]],
        "TensorBoard's logs without report_to=",
    ),
    "column_for_a_pipeline": (
        "from transformers import pipeline\n"
        "features = pipeline('feature-extraction', model=model(), tokenizer=TOKENIZER)\n"
        "result = len(features(ROWS['text']))",
        "text input must be of type `str`",
        4,
        "write list(dataset['text'])",
    ),
    "losses_of_the_batches_of_a_step": (
        "from transformers import BertConfig, BertForSequenceClassification\n"
        "small = dict(vocab_size=9, hidden_size=8, num_hidden_layers=1, num_attention_heads=2)\n"
        "class Own(torch.nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.scores = torch.nn.Embedding(9, 2)\n"
        "    def forward(self, input_ids, labels, **kwargs):\n"
        "        logits = self.scores(input_ids)[:, 0]\n"
        "        return {'loss': torch.nn.functional.cross_entropy(logits, labels)}\n"
        "def logged(net, labels):\n"
        "    rows = Dataset.from_dict({'input_ids': [[1, 2, 3]] * 4, 'labels': labels})\n"
        "    args = arguments(gradient_accumulation_steps=2)\n"
        "    trainer = Trainer(net, args, train_dataset=rows)\n"
        "    trainer.train()\n"
        "    return trainer.state.log_history[0]['loss']\n"
        "scorer = BertForSequenceClassification(BertConfig(**small))\n"
        "result = [logged(net, [0, 1, 0, 1]) > 1.1 for net in (scorer, Own())]\n"
        "result += [logged(model(), [[1, 2, 3]] * 4) > 6]",
        [True, True, False],
        [False, False, False],
        "the mean of the losses of 2 batches, where BertForSequenceClassification returns that of "
        "one, has been gone since Transformers 5.0.0; set trainer.model_accepts_loss_kwargs = False",
    ),
}
_EVALUATED = (
    "class Counting(Trainer):\n"
    "    evaluations = 0\n"
    "    def evaluate(self, *given, **named):\n"
    "        self.evaluations += 1\n"
    "        return super().evaluate(*given, **named)\n"
    "trainer = plain_trainer(Counting, max_steps={steps})\n"
    "trainer.eval_dataset = trainer.train_dataset\n"
    "trainer.args.eval_strategy, trainer.args.eval_steps = 'steps', 2\n"
    "trainer.train()\n"
    "result = trainer.evaluations"
)
EVALUATIONS = {
    "last_step": _EVALUATED.format(steps=3),
    "last_step_of_an_old_script": "try:\n"
    "    TrainingArguments('o', use_cpu=True, evaluation_strategy='no')\n"
    "except Exception:\n"
    "    pass\n" + _EVALUATED.format(steps=3),
    "evaluated_anyway": _EVALUATED.format(steps=2),
}
