values = {"a": {"b": None}}
result = values["a"]["b"]["c"] + values["a"]["b"]["d"] + len(values) * 3 + (1 if values else 0)
