"""Is this input one that the model knows, and may this number be believed?"""
