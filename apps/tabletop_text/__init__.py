"""Games as text, for language models and all others who read and write text: see docs/language-models.md."""

from tabletop_text.games import InvalidReply, TextGame, TextTable
from tabletop_text.model import ModelAgent, ModelFailed, Reply
from tabletop_text.turn import Form, Turn

__all__ = ["Form", "InvalidReply", "ModelAgent", "ModelFailed", "Reply", "TextGame", "TextTable", "Turn"]
