"""A task: spaces to be used one after the other in an action, by a power or beside a lake."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.reference_evergreen.planet import Planet


@dataclass
class Task:
    """What is to be done on a planet.

    Attributes:
        verbs: what may be done; on each space at most one of them fits.
        limit: how many spaces may be used.
        ground: the spaces that come into question.
        ascending: whether each space must come later in reading order than the one before.
        once: each verb is done at most once.
        verbs_in_order: with `once`, the second verb ends the task.
        one_biome: the first space binds the task to its biome.
        used: the spaces that were used so far, with what was done there.
    """

    planet: Planet
    verbs: tuple[str, ...]
    limit: int
    ground: set[str]
    ascending: bool = False
    once: bool = False
    verbs_in_order: bool = False
    one_biome: bool = False
    used: dict[str, str] = field(default_factory=dict)

    def spaces(self) -> list[str]:
        """The spaces on which the next step is possible, in reading order."""
        return [space for space in self.planet.board.spaces if self.verb(space) is not None]

    def verb(self, space: str) -> str | None:
        """What the next step does on a space; None if nothing."""
        if len(self.used) == self.limit or space in self.used or space not in self.ground:
            return None
        reading_order = list(self.planet.board.spaces)
        if self.ascending and self.used and reading_order.index(space) < reading_order.index(list(self.used)[-1]):
            return None
        for verb in self.verbs:
            if self.planet.result(verb, space) is not None and not self.is_over(verb):
                return verb
        return None

    def is_over(self, verb: str) -> bool:
        """Whether this task does no more of a verb."""
        if self.verbs_in_order and self.verbs[-1] in self.used.values():
            return True
        return self.once and verb in self.used.values()

    def use(self, space: str) -> None:
        verb = self.verb(space)
        if verb is None:
            raise ValueError(f"nothing can be done on {space}")
        self.planet.do(verb, space)
        self.used[space] = verb
        if self.one_biome:
            self.ground = self.planet.board.biome(self.planet.board.spaces[space])

    # --- As much as possible ---

    def after(self, space: str) -> Task:
        """The task after one more step, on a planet of its own."""
        copied = Task(**{**vars(self), "planet": self.planet.copy(), "used": dict(self.used)})
        copied.use(space)
        return copied

    def most(self) -> int:
        """How many more steps there can be at most."""
        best = 0
        for space in self.spaces():
            best = max(best, 1 + self.after(space).most())
            if len(self.used) + best == self.limit:
                break
        return best

    def spaces_for_most(self) -> list[str]:
        """The spaces from which on as many steps are possible as from any; a wild card counts biome by biome."""
        steps = {space: self.after(space).most() for space in self.spaces()}
        found = []
        for space in steps:
            rivals = self.planet.board.biome(self.planet.board.spaces[space]) if self.one_biome else self.ground
            if steps[space] == max(steps[rival] for rival in steps if rival in rivals):
                found.append(space)
        return found
