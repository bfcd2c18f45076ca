"""The evaluation rules: a case in, what each rule found out. Pure functions over ``kpis.terms.evaluation``.

``catalogue.BUILT_IN`` holds the fifteen rules in their order, ``run.findings(case)`` runs those that the case asks
for, and ``presence.present(case)`` says what it carried. A rule says that it fired, stayed quiet or skipped; it refuses
to say pass or fail. No rule reads a clock, a file or a model, and each is linear in the text that it reads.
"""
