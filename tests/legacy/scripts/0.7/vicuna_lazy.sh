python vicuna_lazy.py --model_name_or_path huggyllama/llama-7b --output_dir vicuna --num_train_epochs 1 \
    --per_device_train_batch_size 2 --per_device_eval_batch_size 2 --gradient_accumulation_steps 1 \
    --evaluation_strategy no --save_strategy steps --save_steps 1200 --save_total_limit 10 --learning_rate 2e-5 \
    --weight_decay 0. --warmup_ratio 0.03 --lr_scheduler_type cosine --logging_steps 1 \
    --model_max_length 4096 --gradient_checkpointing False --lazy_preprocess True --report_to none
