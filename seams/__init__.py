"""Where a KPI attaches: the contracts of a runtime's seams and a reference runtime behind them."""
