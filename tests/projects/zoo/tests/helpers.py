def stumble():
    raise ValueError("a helper's own")
