import __future__
code = compile("1/2", "x", "eval")
print(eval("1/2"), code.co_flags & __future__.annotations.compiler_flag)
