python run_summarization.py --output_dir samsum --do_train --do_eval --overwrite_output_dir \
    --per_device_train_batch_size 4 --per_device_eval_batch_size 4 --predict_with_generate \
    --evaluation_strategy epoch --save_strategy epoch --load_best_model_at_end --metric_for_best_model eval_loss \
    --num_train_epochs 1 --logging_steps 1 --logging_dir logs --report_to none --source_prefix "summarize: "
