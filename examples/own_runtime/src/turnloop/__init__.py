"""A small agent turn on asyncio: assemble the context, ask the model, run its tools side by side, fold the results."""
