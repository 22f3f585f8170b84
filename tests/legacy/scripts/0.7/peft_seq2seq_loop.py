# Prefix tuning, IA3, AdaLoRA and LoRA of a T5, with a loop by hand, in the style of PEFT's examples.
import torch
from datasets import load_dataset
from peft import AdaLoraConfig, IA3Config, LoraConfig, PrefixTuningConfig, PromptTuningConfig, PromptTuningInit, TaskType, get_peft_model
from torch.utils.data import DataLoader
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, default_data_collator, get_linear_schedule_with_warmup

model_name_or_path = "google/flan-t5-small"
max_length = 48
text_column = "sentence"
label_column = "text_label"
dataset = load_dataset("imdb", split="train")
dataset = dataset.train_test_split(test_size=0.25, seed=0)
dataset["validation"] = dataset["test"]
del dataset["test"]
classes = dataset["train"].features["label"].names if hasattr(dataset["train"].features["label"], "names") else ["neg", "pos"]
dataset = dataset.map(
    lambda x: {"text_label": [classes[label] for label in x["label"]], "sentence": x["text"]}, batched=True, num_proc=1
)
tokenizer = AutoTokenizer.from_pretrained(model_name_or_path)
target_max_length = max([len(tokenizer(label)["input_ids"]) for label in classes])


def preprocess_function(examples):
    inputs = examples[text_column]
    targets = examples[label_column]
    model_inputs = tokenizer(inputs, max_length=max_length, padding="max_length", truncation=True, return_tensors="pt")
    labels = tokenizer(targets, max_length=target_max_length + 1, padding="max_length", truncation=True, return_tensors="pt")
    labels = labels["input_ids"]
    labels[labels == tokenizer.pad_token_id] = -100
    model_inputs["labels"] = labels
    return model_inputs


processed = dataset.map(
    preprocess_function,
    batched=True,
    num_proc=1,
    remove_columns=dataset["train"].column_names,
    load_from_cache_file=False,
    desc="Running tokenizer on dataset",
)
train_dataloader = DataLoader(processed["train"], shuffle=True, collate_fn=default_data_collator, batch_size=12, pin_memory=False)
eval_dataloader = DataLoader(processed["validation"], collate_fn=default_data_collator, batch_size=12, pin_memory=False)
for peft_config in (
    PrefixTuningConfig(task_type=TaskType.SEQ_2_SEQ_LM, inference_mode=False, num_virtual_tokens=5),
    IA3Config(task_type=TaskType.SEQ_2_SEQ_LM, inference_mode=False, feedforward_modules=[]),
    AdaLoraConfig(
        init_r=12, target_r=8, beta1=0.85, beta2=0.85, tinit=1, tfinal=2, deltaT=1, lora_alpha=32,
        lora_dropout=0.1, task_type=TaskType.SEQ_2_SEQ_LM, inference_mode=False,
    ),
    PromptTuningConfig(
        task_type=TaskType.SEQ_2_SEQ_LM,
        prompt_tuning_init=PromptTuningInit.TEXT,
        num_virtual_tokens=6,
        prompt_tuning_init_text="What is the mood of this text?\n",
        inference_mode=False,
        tokenizer_name_or_path=model_name_or_path,
    ),
    LoraConfig(task_type=TaskType.SEQ_2_SEQ_LM, inference_mode=False, r=8, lora_alpha=32, lora_dropout=0.1),
):
    print(peft_config.peft_type)
    model = AutoModelForSeq2SeqLM.from_pretrained(model_name_or_path)
    model = get_peft_model(model, peft_config)
    model.print_trainable_parameters()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    lr_scheduler = get_linear_schedule_with_warmup(optimizer=optimizer, num_warmup_steps=0, num_training_steps=4)
    model.train()
    for step, batch in enumerate(train_dataloader):
        outputs = model(**batch)
        outputs.loss.backward()
        optimizer.step()
        lr_scheduler.step()
        optimizer.zero_grad()
    model.eval()
    eval_preds = []
    for step, batch in enumerate(eval_dataloader):
        with torch.no_grad():
            outputs = model(**batch)
        eval_preds.extend(
            tokenizer.batch_decode(torch.argmax(outputs.logits, -1).detach().cpu().numpy(), skip_special_tokens=True)
        )
    with torch.no_grad():
        outputs = model.generate(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"], max_new_tokens=4)
    print(len(eval_preds), outputs.shape)
    model.save_pretrained(f"{model_name_or_path.split('/')[-1]}_{peft_config.peft_type}_{peft_config.task_type}")
