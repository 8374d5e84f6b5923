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
        ground: the spaces that may be used.
        ascending: whether spaces are named in reading order.
        once: each verb is done at most once.
        verbs_in_order: with `once`, whether the first verb comes first.
        one_biome: the first space binds the task to its biome.
        used: the spaces that were used so far, with what was done there.
        start: the planet before all of it.

    The order is fixed so that there is only one way to each result. Sometimes steps can't be done in that order,
    because a later one gives back a piece that an earlier one needs. They are done in the first order that works.
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
    start: Planet = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if self.start is None:
            self.start = self.planet.copy()

    def spaces(self) -> list[str]:
        """The spaces on which the next step is possible, in reading order."""
        return [space for space in self.planet.board.spaces if self.verb(space) is not None]

    def verb(self, space: str) -> str | None:
        """What the next step does on a space; None if nothing."""
        if len(self.used) == self.limit or space in self.used or space not in self.ground:
            return None
        for verb in self.verbs:
            if self.planet.result(verb, space) is None or (self.once and verb in self.used.values()):
                continue
            steps = [*self.used.items(), (space, verb)]
            in_order = not (self.ascending or self.verbs_in_order) or steps == self.first_order(self.start, steps)
            return verb if in_order else None
        return None

    def first_order(self, planet: Planet, steps: list[tuple[str, str]]) -> list[tuple[str, str]] | None:
        """The first order in which all these steps can be done; None if there is none."""
        reading_order = list(planet.board.spaces)

        def rank(step: tuple[str, str]) -> tuple[int, int]:
            space, verb = step
            return self.verbs_in_order * self.verbs.index(verb), self.ascending * reading_order.index(space)

        for step in sorted(steps, key=rank):
            if planet.result(step[1], step[0]) is not None:
                after = planet.copy()
                after.do(step[1], step[0])
                others = self.first_order(after, [one for one in steps if one != step])
                if others is not None:
                    return [step, *others]
        return None if steps else []

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
        """The spaces that leave the most further steps possible; for a wild card, in each biome separately."""
        steps = {space: self.after(space).most() for space in self.spaces()}
        found = []
        for space in steps:
            rivals = self.planet.board.biome(self.planet.board.spaces[space]) if self.one_biome else self.ground
            if steps[space] == max(steps[rival] for rival in steps if rival in rivals):
                found.append(space)
        return found
