"""A state in words: `render_text` draws it, `changes` says what happened, `action_text` what an answer means."""

from petrichor_env.render.changes import changes
from petrichor_env.render.decisions import action_text, question
from petrichor_env.render.text import render_text

__all__ = ["action_text", "changes", "question", "render_text"]
