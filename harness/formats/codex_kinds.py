"""The kinds of lines, parts and events that Codex writes and that say nothing more to a trace.

New kinds appear with every release; what is in none of these tables is counted by name and reported. This module
refuses to know what a kind means: whoever reads one names it where it is read.
"""

from __future__ import annotations

__all__ = ["INJECTED", "MIRRORS", "is_known"]

INJECTED = (
    "<environment_context>", "<user_instructions>", "<INSTRUCTIONS>", "# AGENTS.md instructions", "<turn_aborted>",
    "<skill>", "<skills_instructions>", "<permissions instructions>", "<collaboration_mode>", "<personality_spec>",
    "<subagent_notification>", "<model_switch>", "<apps_instructions>", "<plugins_instructions>", "<hook_prompt",
)  # fmt: skip
"""How messages begin that the client writes in the user's name."""

MIRRORS = frozenset({"agent_message", "agent_reasoning", "agent_reasoning_raw_content", "user_message"})
"""Events that repeat a part of the conversation."""

_KINDS = frozenset({
    "state", "token_usage_record", "world_state", "inter_agent_communication",
    *("response_item/" + kind for kind in (
        "additional_tools", "agent_message", "compaction", "compaction_summary", "compaction_trigger",
        "context_compaction", "other",
    )),
    *("event_msg/" + kind for kind in (
        "agent_message", "agent_reasoning", "agent_reasoning_raw_content", "agent_reasoning_section_break",
        "apply_patch_approval_request", "background_event", "deprecation_notice", "dynamic_tool_call_request",
        "dynamic_tool_call_response", "elicitation_request", "item_completed", "item_started", "model_reroute",
        "model_verification", "plan_delta", "plan_update", "raw_response_item", "request_permissions",
        "request_user_input", "session_configured", "shutdown_complete", "skills_update_available",
        "sub_agent_activity", "task_complete", "task_started", "terminal_interaction", "turn_complete", "turn_diff",
        "turn_started", "user_message", "view_image_tool_call", "warning",
    )),
})  # fmt: skip
_FAMILIES = tuple(
    f"event_msg/{family}_"
    for family in (
        "collab", "exec", "guardian", "hook", "image_generation", "mcp", "patch_apply", "realtime", "thread", "undo",
        "web_search",
    )
)  # fmt: skip


def is_known(kind: str) -> bool:
    """Whether ``kind`` (of a line, ``response_item/`` and a part's, ``event_msg/`` and an event's) is a known one."""
    return kind in _KINDS or kind.startswith(_FAMILIES)
