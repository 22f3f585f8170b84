from trl import *
import trl
def a():
    def b():
        class C:
            def d(self):
                for i in range(3):
                    while True:
                        try:
                            with open("x") as f, open("y") as g:
                                x = [trl.SFTTrainer(model=m, tokenizer=t, packing=p,
                                                    args=trl.SFTConfig(max_seq_length=s))
                                     for m, t in [(1, 2)] if m for p in (True, False) for s in [3]]
                        except ValueError as e:
                            global z; z = e
                        finally:
                            pass
        return C
    return b
