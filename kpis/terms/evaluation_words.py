"""The closed vocabularies of the evaluation of outputs and trajectories, in their canonical order.

The order counts: questions, needs and failure classes are listed by it. The values are the words of the JSON.
"""

from __future__ import annotations

from enum import Enum

__all__ = [
    "BUNDLES",
    "MOST_EVIDENCE",
    "Bundle",
    "Correction",
    "FailureClass",
    "Mechanism",
    "Need",
    "Question",
    "RuleKind",
    "Severity",
    "SkipClass",
    "ThresholdSource",
]

MOST_EVIDENCE = 25
"""Pieces of evidence of one claim."""


class Bundle(Enum):
    """A group of rules that is asked for together; ``all`` asks for each of these in turn."""

    COMPLETENESS = "completeness"
    RELEVANCE = "relevance"
    SAFETY = "safety"
    COST = "cost"
    CUSTOM = "custom"


BUNDLES = tuple(Bundle)
"""The order in which the bundles run."""


class RuleKind(Enum):
    """What kind of assertion a rule makes."""

    MEASUREMENT = "measurement"  # a statistic held against a number
    DETECTION = "detection"  # a pattern is there, with a measured error
    INFERENCE = "inference"  # a sign that stands for something else
    JUDGMENT = "judgment"  # a model's opinion
    POLICY = "policy"  # a limit that the deployment set
    VERIFICATION = "verification"  # a fact looked up elsewhere


class Mechanism(Enum):
    """How a rule comes to its answer."""

    FORMULA = "formula"
    PATTERN = "pattern"
    HEURISTIC = "heuristic"
    MODEL = "model"
    EXTERNAL = "external"


class Need(Enum):
    """What a rule looks at."""

    OUTPUT = "output"
    INPUT = "input"
    EXPECTED = "expected"
    TOOL_CALLS = "tool_calls"
    TOOL_OUTPUTS = "tool_outputs"
    TOOLS_CATALOGUE = "tools_catalogue"
    COST = "cost"
    TOKENS = "tokens"
    CITATIONS = "citations"


class Question(Enum):
    """What a reader wants to know of an output."""

    SAFE_OUTPUT = "safe_output"
    GROUNDED = "grounded"
    COMPLETE = "complete"
    RELEVANT = "relevant"
    TASK_COMPLETED = "task_completed"
    TOOL_USE_CORRECT = "tool_use_correct"
    WITHIN_BUDGET = "within_budget"


class FailureClass(Enum):
    """A way in which an output or a trajectory is bad."""

    PII_LEAK = "pii_leak"
    CREDENTIAL_LEAK = "credential_leak"
    INJECTION = "injection"
    INJECTION_COMPLIANCE = "injection_compliance"
    SILENT_TOOL_FAILURE = "silent_tool_failure"
    TOOL_LOOP = "tool_loop"
    STUB = "stub"
    FABRICATION = "fabrication"
    UNGROUNDED = "ungrounded"
    INCOMPLETE_ASK = "incomplete_ask"
    OFF_TASK = "off_task"
    OVER_BUDGET = "over_budget"
    FORMAT = "format"
    INVALID_TOOL_CALL = "invalid_tool_call"


class SkipClass(Enum):
    """Why a rule gave no answer."""

    NOT_APPLICABLE = "not_applicable"  # it was never asked: what it looks at is not there
    DEFEATED = "defeated"  # it was asked, and its bound on work was reached
    CONFIG_INVALID = "config_invalid"  # it was asked, and its definition is broken


class ThresholdSource(Enum):
    """Who chose the number that a statistic was held against."""

    DEFAULT = "default"
    CONFIG = "config"
    CALL = "call"
    RULE = "rule"  # the rule itself: it cannot be set


class Severity(Enum):
    """How bad a deployed rule says that its failure is: the two upper ones are critical."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


class Correction(Enum):
    """A place where the answer is better than that of the reference, release 0.10.0.

    All are on unless the settings say otherwise; with none of them the answers are the reference's.
    """

    SOURCE_BY_KEY = "source_by_key"  # a threshold is the default's because no one set it, not because it is equal
    BLANK_IS_ABSENT = "blank_is_absent"  # an input or expectation of white space is none
    NEGATIVE_COST_IS_ABSENT = "negative_cost_is_absent"
    RECOVERY_IS_NOT_SILENT = "recovery_is_not_silent"  # a failed call that was made again and worked hides nothing
    CYCLE_OF_ANY_PERIOD = "cycle_of_any_period"  # A, B, C, A, B, C is a loop as well
    LONG_INPUTS_DIFFER = "long_inputs_differ"  # two calls are one only if their inputs are equal to the end
    SENTENCE_HAS_A_LETTER = "sentence_has_a_letter"  # a ruler of dashes is no sentence
    SCHEMA_IS_CHECKED = "schema_is_checked"  # json_schema looks at the schema, not only at whether the text is JSON
    DISGUISE_IS_SEEN = "disguise_is_seen"  # every character that nobody sees is dropped, and strokes through letters
    PHRASE_OVER_LINES = "phrase_over_lines"  # a forbidden phrase that is broken over a line is that phrase
    REGEX_BY_ENGINE = "regex_by_engine"  # a nested repetition is matched in linear time, not refused
    LABELS_QUOTE_NOTHING = "labels_quote_nothing"  # what a tool answered is not repeated in the evidence
    SMOOTHED_ACCURACY = "smoothed_accuracy"  # the predictive value has half counts, as the risk does
    ROLE_BY_COMPOSER = "role_by_composer"  # gate, veto, risk, advisory: what the result did in the verdict
    PRIOR_FROM_CONFIG = "prior_from_config"  # uncertainties are told at the prior that the risk is told at
    ASKED_EVIDENCE_COUNTS = "asked_evidence_counts"  # required evidence that no rule looks at counts if it was sent
    COMPOSER_IN_HASH = "composer_in_hash"  # two verdicts under different priors have different hashes
    DECISIVE_NEEDS_LABELS = "decisive_needs_labels"  # a clean pass is decisive only where labels bear it out
    DECISIVE_NEEDS_A_FIRE = "decisive_needs_a_fire"  # a fail for which no detector fired is the prior's, and marginal
    BLAME_IS_NAMED = "blame_is_named"  # a fail by risk names a class, also where no single one is likelier than not
    UNMEASURED_IS_NOT_CLEAN = "unmeasured_is_not_clean"  # a fire of unknown accuracy leaves the verdict open
    CATEGORY_BY_VERDICT = "category_by_verdict"  # a category passes by the layers, not by its score
    COVERAGE_IS_COUNTED = "coverage_is_counted"  # "judged" says by how many of the rules that ask
    ACCURACY_IS_PINNED = "accuracy_is_pinned"  # a verdict names the accuracy table and the composer's settings
    RULES_IN_HASH = "rules_in_hash"  # a written rule is in the hash with its type and config, not by its name alone
    NULL_IS_UNSET = "null_is_unset"  # a threshold of null takes nothing from the one that was set elsewhere
    REPEATS_ARE_COUNTED = "repeats_are_counted"  # a limit on repeats that counts nothing is no limit, not the usual one
    CONFIG_KEY_IS_KNOWN = "config_key_is_known"  # a written rule with a key that nobody reads has no answer
    UNANSWERED_IS_NOT_CLEAN = "unanswered_is_not_clean"  # a limit or detector that was asked in vain leaves it open
    VERSION_IS_OURS = "version_is_ours"  # the version of a rule counts what we changed of it since it was measured
    NEGATIVE_TOKENS_ARE_ABSENT = "negative_tokens_are_absent"
    IS_ERROR_IS_SEEN = "is_error_is_seen"  # an answer with is_error has failed, as one with isError
    ASKS_FOR_SOMETHING = "asks_for_something"  # an empty pattern or keyword, or a share of none, asks for nothing
    LOWERING_KEEPS_PLACES = "lowering_keeps_places"  # a Turkish dotted capital takes no place from what is found
    CHARACTERS_ARE_COUNTED = "characters_are_counted"  # a length counts code points, not UTF-16 units
    KEYWORDS_ARE_FOLDED = "keywords_are_folded"  # a keyword is looked for as a forbidden phrase is
    UNSENT_INPUT_IS_UNKNOWN = "unsent_input_is_unknown"  # a call without its input is the same as no other
