import sys
def hook(kind, value, trace):
    import traceback
    print("hook:", kind.__name__, value, [f.name for f in traceback.extract_tb(trace)])
    print(value.__traceback__ is trace, trace.tb_frame.f_code.co_name)
sys.excepthook = hook
def f():
    raise ValueError("v")
f()
