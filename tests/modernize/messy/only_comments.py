#!/usr/bin/env python3
# from trl import PPOTrainer
# TrainingArguments(evaluation_strategy="no")
