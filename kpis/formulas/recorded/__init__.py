"""What recorded runs say: tokens, cache, compactions, repeats, waste, money, time, and how far each can be trusted."""
