try:
    {}["k"]
except KeyError as e:
    raise ValueError("outer") from e
