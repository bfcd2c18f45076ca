"""What is measured: the terms, the catalog of KPIs and the formulas. No side effects."""
