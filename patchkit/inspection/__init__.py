"""What would make a training fail, found before it begins. torch is imported when called."""
