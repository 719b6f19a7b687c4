code = compile("def f():\n    return missing\nf()\n", "<generated>", "exec")
exec(code)
