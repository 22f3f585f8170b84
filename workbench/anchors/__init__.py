"""Which texts of rewritten functions do other tools look for, and are they still there?"""
