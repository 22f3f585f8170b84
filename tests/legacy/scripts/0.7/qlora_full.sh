python qlora_full.py --model_name_or_path huggyllama/llama-7b --output_dir ./output/guanaco --logging_steps 1 \
    --save_strategy steps --save_steps 2 --save_total_limit 40 --evaluation_strategy steps --eval_steps 2 \
    --dataloader_num_workers 0 --group_by_length --logging_strategy steps --remove_unused_columns False \
    --do_train --warmup_ratio 0.03 --lr_scheduler_type constant --gradient_checkpointing --max_steps 3 \
    --per_device_train_batch_size 2 --learning_rate 0.0002 --seed 0
