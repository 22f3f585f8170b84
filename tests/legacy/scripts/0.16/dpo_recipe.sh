accelerate launch --cpu dpo_recipe.py --config dpo_recipe.yaml --learning_rate 1e-5
