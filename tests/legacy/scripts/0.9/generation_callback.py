# SFT with a callback that shows what the model writes.
from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, TrainerCallback
from trl import SFTConfig, SFTTrainer


class ShowSamples(TrainerCallback):
    def on_log(self, args, state, control, model, tokenizer, logs=None, **kwargs):
        messages = [{"role": "user", "content": "Describe the small river."}]
        inputs = tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_tensors="pt")
        outputs = model.generate(inputs, max_new_tokens=4, do_sample=False)
        print(tokenizer.decode(outputs[0][inputs.shape[1] :], skip_special_tokens=True))


name = "Qwen/Qwen2-0.5B-Instruct"
tokenizer = AutoTokenizer.from_pretrained(name)
trainer = SFTTrainer(
    model=AutoModelForCausalLM.from_pretrained(name),
    tokenizer=tokenizer,
    train_dataset=load_dataset("timdettmers/openassistant-guanaco", split="train"),
    args=SFTConfig(
        output_dir="show",
        dataset_text_field="text",
        max_seq_length=128,
        per_device_train_batch_size=4,
        max_steps=4,
        logging_steps=1,
        report_to="none",
    ),
    callbacks=[ShowSamples()],
)
trainer.train()
