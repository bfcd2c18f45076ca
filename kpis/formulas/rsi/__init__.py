"""Closed forms of the rsi floor: what a loop's rows come to, and the reference metric that it may work on."""
