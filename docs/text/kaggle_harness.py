"""Kaggle's game harness: its three functions for a game of OpenSpiel, here Petrichor for two."""

import pyspiel

import petrichor_env.openspiel  # noqa: F401  (registers the game)
from petrichor_env import Config
from tabletop_engine.text.answers import Option, declared_answers, read_answer

game = pyspiel.load_game("python_petrichor(players=2)")
RULES = Config(players=2).game.words.rules(Config(players=2))


def get_legal_moves(state):
    """The legal actions of whoever is asked, by their words."""
    seat = state.current_player()
    return {state.action_to_string(seat, action): action for action in state.legal_actions()}


def make_prompt(state):
    """The message to a model: rules, board, answers."""
    seat = state.current_player()
    listed = "\n".join(f"{number}. {text}" for number, text in enumerate(get_legal_moves(state), 1))
    shown = f"You are player_{seat}.\n{state.observation_string(seat)}\n\n{listed}"
    return f'{RULES}\n\n{shown}\n\nAnswer on the last line, as {{"answer": "…"}}.'


def parse_response(response, state):
    """The action that a reply means; None if it means none, or several."""
    options = [Option(action, text) for text, action in get_legal_moves(state).items()]
    declared = declared_answers(response).answers
    return read_answer(declared[0], options).action if declared else None
