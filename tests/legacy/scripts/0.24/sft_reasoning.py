# A chat template of another model, a head that is trained whole, and packing.
from datasets import load_dataset
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer, Mxfp4Config  # noqa: F401
from trl import SFTConfig, SFTTrainer, clone_chat_template

model = AutoModelForCausalLM.from_pretrained(
    "gpt2", attn_implementation="eager", torch_dtype="auto", use_cache=False, device_map=None
)
tokenizer = AutoTokenizer.from_pretrained("gpt2")
model, tokenizer, added = clone_chat_template(model, tokenizer, "Qwen/Qwen3-0.6B")
dataset = load_dataset("trl-lib/Capybara", split="train")
peft_config = LoraConfig(r=8, lora_alpha=16, target_modules="all-linear", modules_to_save=["lm_head"])
peft_model = get_peft_model(model, peft_config)
peft_model.print_trainable_parameters()
training_args = SFTConfig(
    learning_rate=2e-4,
    gradient_checkpointing=True,
    num_train_epochs=1,
    max_steps=4,
    logging_steps=1,
    per_device_train_batch_size=2,
    gradient_accumulation_steps=1,
    max_length=128,
    warmup_ratio=0.03,
    lr_scheduler_type="cosine_with_min_lr",
    lr_scheduler_kwargs={"min_lr_rate": 0.1},
    output_dir="gpt-oss-multilingual",
    report_to="none",
    push_to_hub=False,
    assistant_only_loss=False,
    eos_token="<|im_end|>",
    pad_token="<|im_end|>",
    packing=True,
    packing_strategy="wrapped",
    eval_packing=False,
    completion_only_loss=None,
    dataset_num_proc=1,
    dataset_kwargs={"skip_prepare_dataset": False},
    activation_offloading=False,
    average_tokens_across_devices=False,
    group_by_length=False,
)
trainer = SFTTrainer(model=peft_model, args=training_args, train_dataset=dataset, processing_class=tokenizer)
trainer.train()
trainer.save_model(training_args.output_dir)
