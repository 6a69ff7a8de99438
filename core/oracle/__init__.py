"""The one boundary: from masks (or shares) to logits and states, each distinct input once."""
