"""Explanations of each decision for new players, in our own words."""

from __future__ import annotations

from petrichor_env.config import Config
from petrichor_env.drawing.card_texts import FORECASTS, POWER_TEXTS, TIMING_TEXTS
from petrichor_env.rules.action_phase import HAND_LIMIT
from petrichor_env.rules.card_actions import FROST_DROPS, SUN_DROPS
from petrichor_env.rules.clouds import GROWS_AT, OVERFLOWS_AT
from petrichor_env.rules.drafting import CARDS_DEALT, PACKS_PASSED
from petrichor_env.rules.flower_tiles import PODS_A_PLAYER
from petrichor_env.rules.forecasts import DEALT, TIMINGS
from petrichor_env.rules.powers import KEPT_DROPS, PRICES
from petrichor_env.rules.promos import LAKE_DROPS
from petrichor_env.rules.weather import RESOLVED_SPACES
from petrichor_env.state import (
    HARVEST,
    NOBODY,
    NUM_KINDS,
    Crop,
    Phase,
    Power,
    State,
    Timing,
    Variant,
    Weather,
)
from petrichor_env.tables import Tables
from petrichor_env.words import WEATHER_WORDS, owner_names, tile_name
from tabletop_engine.presentation import Paragraphs
from tabletop_engine.text.words import counted, win_text

_IN_ORDER = "Cards named together go in the order Frost, Sun, Wind, Rain, so begin with the earliest kind."
_SKIPPED = "You may also decline: then the action is skipped, but its vote is still yours."
_OVERFLOWS = f"With {OVERFLOWS_AT} drops a cloud overflows: everybody's drops in it land on the tile below."
_CHECKS = f"Clouds that meet become one thundercloud, and so does a cloud with {GROWS_AT} drops. {_OVERFLOWS}"


def introduction(config: Config) -> Paragraphs:
    """What the game is about, what scores points, how a round goes."""
    solo = config.solo
    pass_ends = {1: "when you pass", 2: "a turn after one of you passes"}
    ends = pass_ends.get(config.players, "once somebody has passed and each of the others has had one turn more")
    yield "Petrichor alone" if solo else "Petrichor", "Southern Winds – the Solo Game" if solo else "Game Overview"
    yield (
        "Your drops travel in clouds above the Fields until they fall on the crops below.",
        "The Southern Winds bring drops of their own: you win with more points than they have."
        if solo
        else "Whoever has the most points after the last round wins.",
    )
    yield (
        "A crop with enough drops grows. A Harvest pays for each growing crop, mostly by who has the most drops there, "
        "and gives these drops back.",
        f"It comes when all three Harvest dice show Harvest, and in round {config.rounds}, the last.",
        "Turning dice brings points as well. At the end Voting Wins and the most Wheat tokens pay.",
    )
    yield (
        "A round begins with turns,",
        "the Southern Winds' and yours. On yours you" if solo else "on which you",
        f"play a card, carry out its action, and vote. They end {ends}.",
        "Then the weathers with the most votes happen to all, a Harvest may follow, and new cards are dealt.",
    )


# --- Parts of many lessons -------------------------------------------------------------------------------------------


def _is_last_round(s: State) -> bool:
    return bool(s.round == s.rounds)


def _has_crop(s: State, crop: Crop) -> bool:
    return bool((s.crop == crop).any())


def _cards(s: State) -> int:
    return int(s.hand[s.actor].sum())


def _own_power(s: State, *powers: Power) -> str:
    """A sentence about the own power: `Your Sun power: any card may be played as a Sun card.`"""
    power = Power(s.power[s.actor])
    return f"Your {power.name.capitalize()} power: {POWER_TEXTS[power]}." if power in powers else ""


def _lake(s: State, sentence: str) -> str:
    return sentence if _has_crop(s, Crop.LAKE) else ""


def _own_drops_missing(s: State, drops: int) -> str:
    """A sentence about the effect of a short supply on an action."""
    missing = drops - int(s.supply[s.actor])
    return f"Your supply is short, so {counted(missing, 'drop')} would come from your tiles." if missing > 0 else ""


# --- Setup and cards -------------------------------------------------------------------------------------------------


def draft(s: State, t: Tables) -> Paragraphs:
    passed = int(PACKS_PASSED[s.players])
    later = passed - 1 - int(s.draft_step)
    yield "Keep cards of a pack", "Official Drafting Variant"
    yield (
        f"You still keep {counted(s.cards_left, 'card')} of this pack. Then all packs go on to the next player "
        "clockwise, so what you leave is your neighbour's choice.",
        f"You choose from {counted(later, 'more pack')} after this one, and keep the last one whole."
        if later
        else "The next pack is the last, and you keep it whole.",
    )
    yield (
        "A card lets you do its action and vote for its weather or the next one clockwise.",
        "Two cards of one kind pay for a second action, and two others can stand for a kind you lack.",
    )
    yield "Nobody sees what you keep.", _IN_ORDER if s.cards_left > 1 else ""


def setup_cloud(s: State, t: Tables) -> Paragraphs:
    yield "Place your first cloud", "Setup"
    yield (
        "Everybody begins with one light cloud that holds one own drop. It may go above any tile without a cloud. The "
        "last player places first, the First Player last."
    )
    yield (
        "Drops fall onto the tile below their cloud, so compare what the crops pay and how many drops they need. Wind "
        "can move the cloud later, but only step by step."
    )
    yield "Clouds close to yours can be pushed into it. That brings many drops together quickly, also for others."


def fertilizer_tile(s: State, t: Tables) -> Paragraphs:
    yield "Place a Fertilizer token", "Fertilizer tokens"
    yield (
        f"Before the tiles are turned up, {counted(int(t.fertilizer_tokens), 'Fertilizer token')} are "
        f"placed{' by you' if s.players == 1 else ' in turn order'}. No two may lie on neighbouring tiles, and all "
        "must find a place."
    )
    yield (
        "A token stays for the whole game. A Harvest there pays every player with drops on the tile 1 point more; only "
        "sprouting Rice pays nobody."
    )
    yield (
        "You can't know the crops yet. What you know is the position: a tile with many neighbours is easier to reach "
        "for clouds, yours and those of the others."
    )


def turn(s: State, t: Tables) -> Paragraphs:
    last = s.last_turns > 0
    section = "One Round of Play" if s.players == 1 else "Playing Cards"
    if last:
        section = "Passing - 2 player games" if s.players == 2 else "Passing - 3 and 4 player games"
    yield "Your last turn of the round" if last else "Your turn", section
    instead = (s.forecast_holder == s.actor) & (TIMINGS[1:] == Timing.ACTION_PHASE)
    forecast = "A forecast card in place of the turn has no vote and no second action." if instead.any() else ""
    if s.no_actions[s.actor]:
        yield "After a forecast card in place of a turn you play no action cards in this round.", forecast
    elif not _cards(s):
        yield "You hold no action cards any more.", forecast
    else:
        yield (
            "Play a card: do its action, then vote. Frost makes a new cloud with a drop of yours. The others need such "
            f"a cloud: Sun adds {SUN_DROPS} drops, Wind moves it, Rain lets one fall.",
            "A card that can do nothing still votes.",
            forecast,
        )
        yield (
            "Any two cards can stand for one card of another kind.",
            _own_power(s, Power.SUN),
            "Two matching cards then pay for a second action." if s.passed == NOBODY else "",
        )
    yield _how_to_pass(s)
    if _is_last_round(s):
        yield "This is the last round: it ends with a Harvest, and action cards that you keep are worth nothing."
    else:
        yield "Look for crops that lack few drops, and count who would be first and second there."


def _how_to_pass(s: State) -> str:
    if s.last_turns:
        return "Somebody has passed, so this is your last turn, without a second action. You may pass, too."
    if s.turns < s.players and _cards(s):
        return "Nobody may pass on the first turn of a round."
    if s.players == 1:
        more = " after one more turn of the Southern Winds" if s.variants[Variant.ONE_MORE_TURN] else ""
        discarding = "discard your hand and " if _cards(s) else ""
        return f"To pass is to {discarding}end the Action Phase{more}."
    if s.players == 2:
        return f"If you pass, the other player has one more turn. Each of you may keep {HAND_LIMIT} cards."
    return (
        "The first to pass discards the hand and takes the First Player marker (the First Player hands it to the "
        "right). Each of the others has one turn more."
    )


def optional_action(s: State, t: Tables) -> Paragraphs:
    yield "A second action?", "Playing Cards"
    yield (
        "You may do one more action in this turn, with a vote of its own.",
        "It costs two cards of its kind; two others can stand for each of them, so it takes two to four cards.",
        _own_power(s, Power.SUN),
    )
    yield "If you decline, your turn is over and the cards stay in your hand."
    yield (
        "Two actions in a row leave nobody time to answer: fill a cloud and let it overflow, or push it away and let "
        "it rain. But they use up cards that could be turns of their own.",
        "In this last round cards that you keep are worth nothing." if _is_last_round(s) else "",
    )


def pay(s: State, t: Tables) -> Paragraphs:
    price, word = int(PRICES[s.power[s.actor], s.card]), WEATHER_WORDS[s.card]
    own = int(s.hand[s.actor, s.card])
    with_own = s.optional and s.cards_left == 2 * price and own > 0 and _cards(s) - own >= price
    stand = "One card of another kind stands" if price == 1 else "Two cards of other kinds stand"
    yield f"Cards that stand for {word}", "Playing Cards"
    yield (
        f"{stand} for one {word} card. You have {counted(s.cards_left, 'card')} still to name; what you name is "
        "discarded.",
        f"One real {word} card may be one of the pair; name it first." if with_own else "",
    )
    yield (
        f"Action and vote are those of {word}, whatever you pay with. So pay with the kinds whose action and vote you "
        "will miss least in this round.",
        _IN_ORDER if s.cards_left > 1 else "",
    )


def discard(s: State, t: Tables) -> Paragraphs:
    yield f"No more than {HAND_LIMIT} cards", "Hand limit"
    yield (
        f"After the Action Phase nobody keeps more than {HAND_LIMIT} cards: you have {counted(s.cards_left, 'card')} "
        "to discard. Everybody sees the discard pile."
    )
    yield (
        "No cards are played after this round, so it doesn't matter which ones you keep."
        if _is_last_round(s)
        else f"What you keep comes on top of the {int(CARDS_DEALT[s.players])} cards of the next round. Pairs pay for "
        "second actions, and different kinds leave you more choice.",
        _IN_ORDER if s.cards_left > 1 else "",
    )


# --- Card actions ----------------------------------------------------------------------------------------------------


def frost_tile(s: State, t: Tables) -> Paragraphs:
    missing = _own_drops_missing(s, FROST_DROPS)
    yield "Frost: where the new cloud goes", "Frost action"
    yield "A light cloud with one of your drops comes above any tile that has no cloud yet.", missing
    yield _SKIPPED if missing else "", _own_power(s, Power.FROST)
    yield (
        "Choose a tile whose crop you want to water, or one from which Wind takes the cloud there. Beside another "
        "cloud it can be pushed into that one, or that one into yours: together they are a thundercloud, which Rain "
        "weather pours out."
    )


def frost_cloud(s: State, t: Tables) -> Paragraphs:
    missing = _own_drops_missing(s, FROST_DROPS)
    yield "Frost without a cloud", "Gioco in 5 giocatori"
    yield (
        f"All {int(t.clouds)} clouds are above the Fields. With five players a Frost action then puts one of your "
        "drops into a cloud where you have none.",
        missing,
        _SKIPPED if missing else "",
    )
    yield (
        "From now on your Sun, Wind and Rain actions work on that cloud, and so does Sun weather. Look which tile it "
        "hangs over, and how full it is.",
        _CHECKS,
    )


def frost_power(s: State, t: Tables) -> Paragraphs:
    yield "Frost power: a second drop", "Gelo"
    yield (
        f"You have just made a cloud above {tile_name(s.players, s.target)}. Your power lets you put a second drop "
        "from your supply into it, each time as you like."
    )
    yield (
        "Two drops are worth more than one when Sun weather doubles them. You have "
        f"{counted(int(s.supply[s.actor]), 'drop')} left in your supply, and drops come back to it when crops are "
        "harvested."
    )


def sun_cloud(s: State, t: Tables) -> Paragraphs:
    missing = _own_drops_missing(s, SUN_DROPS)
    yield "Sun: which cloud gets drops", "Sun action"
    yield (
        f"Exactly {SUN_DROPS} of your drops go into one cloud that already holds a drop of yours.",
        missing,
        _SKIPPED if missing else "",
    )
    yield _CHECKS
    yield (
        "Count first what would lie on that tile after an overflow, and who would be ahead there. A cloud that stays "
        f"just below {OVERFLOWS_AT} drops overflows for whoever adds the next one or merges it."
    )


def wind_cloud(s: State, t: Tables) -> Paragraphs:
    yield "Wind: which cloud moves", "Wind action"
    yield (
        "Choose a cloud that holds at least one drop of yours, however many drops of others are in it. Where it goes "
        "is asked next.",
        _own_power(s, Power.WIND) or "It moves one tile north, east, south or west.",
    )
    yield _CHECKS
    yield (
        "Bring drops of yours to a crop that you want, or take drops of others away from one where they would beat "
        "you.",
        _lake(s, f"Onto the Lake it gets up to {LAKE_DROPS} of your drops, and off it it may go further."),
    )


def wind_direction(s: State, t: Tables) -> Paragraphs:
    yield "Wind: which way", "Wind action"
    yield (
        f"The cloud above {tile_name(s.players, s.target)} moves one tile north, east, south or west, as far as the "
        "Fields go.",
        _lake(s, f"Onto the Lake it gets up to {LAKE_DROPS} of your drops."),
    )
    yield _CHECKS
    yield (
        "So look at both sides: which crop will its drops fall on there, and does it meet a cloud whose drops help you "
        "or somebody else?"
    )


def wind_tile(s: State, t: Tables) -> Paragraphs:
    far = bool(s.power[s.actor] == Power.WIND)
    yield "Wind: to which tile", "Vento" if far else "The Lake"
    yield (
        f"With your power the cloud above {tile_name(s.players, s.target)} may go to any other tile. Clouds on its way "
        "don't matter; it merges only where it ends."
        if far
        else "A cloud that leaves the Lake goes on over tiles without clouds as far as you like. Where it meets a "
        "cloud, it must stop. It can't come back to the Lake in this action.",
        _lake(s, f"Onto the Lake it gets up to {LAKE_DROPS} of your drops.") if far else "",
    )
    yield _CHECKS
    yield "Choose the tile where its drops bring you most, or where they bring the others least."


def rain_drop(s: State, t: Tables) -> Paragraphs:
    closed = (s.crop == Crop.SNOWDROP) & (s.blooms == 0)
    can_rain = bool(((s.cloud_drops[:, s.actor] > 0) & ~closed).any())
    yield "Rain: which drop falls", "Rain action" if can_rain else "Pioggia"
    yield (
        "One drop falls from a cloud that holds a drop of yours. It may be anybody's drop. If you are in another cloud "
        "as well, a second drop may fall from that one."
        if can_rain
        else "No drop can fall from a cloud of yours now. You may also decline.",
        _own_power(s, Power.RAIN),
    )
    yield (
        "Own drops win places on the tile. A drop of another's can be what the crop still needs to grow, and it leaves "
        "the cloud to you.",
        "A cloud without drops is gone.",
    )
    yield (
        "A closed Snowdrop takes no drops." if _has_crop(s, Crop.SNOWDROP) else "",
        _lake(s, "A drop that falls onto the Lake goes back to its owner."),
    )


def rain_second_drop(s: State, t: Tables) -> Paragraphs:
    yield "Rain: a second drop?", "Rain action"
    yield (
        f"One drop will fall from the cloud above {tile_name(s.players, s.target)}. One more may fall from another "
        "cloud that holds a drop of yours, again anybody's. You may also leave it at one."
    )
    yield (
        "Both fall together, and only then crops grow. Leave the second one in its cloud if it is worth more there: "
        "Sun weather may double it, and Wind may still take it to another crop."
    )


def take_drop(s: State, t: Tables) -> Paragraphs:
    in_weather = s.phase == Phase.WEATHER
    needed = (
        int(s.cloud_drops[s.target, s.actor]) if in_weather else SUN_DROPS if s.card == Weather.SUN else FROST_DROPS
    )
    missing = max(1, needed - int(s.supply[s.actor]))
    yield (
        "A drop from a tile",
        "Sun Weather" if in_weather else "Sun action" if s.card == Weather.SUN else "Frost action",
    )
    yield (
        f"Your supply has {counted(missing, 'drop')} too few. What it lacks comes from tiles where your drops lie, one "
        "drop after another."
    )
    yield (
        "A crop that falls below its number dries out at once: its growing token goes, and Coffee or Rice must sprout "
        "and develop anew."
    )
    yield (
        "So take a drop where you keep your place without it, or where you have little to win, and where the crop "
        "keeps enough drops."
    )


# --- Votes and weather -----------------------------------------------------------------------------------------------


def vote(s: State, t: Tables) -> Paragraphs:
    own, following = WEATHER_WORDS[s.card], WEATHER_WORDS[(s.card + 1) % NUM_KINDS]
    dice, final = bool((s.dice != HARVEST).any()), _is_last_round(s)
    most = "more votes than the other" if s.owners == 2 else "the most votes"
    yield "Vote", "Voting"
    yield (
        f"Vote for {own}, or for {following}, the next weather clockwise"
        + (", or turn a Harvest die down by one vote." if dice else "; all dice show Harvest already."),
        "Your supply of votes is empty, so a vote for weather is moved from another space."
        if not s.vote_supply[s.actor]
        else "",
    )
    yield (
        "In this last round every weather with a vote happens, to everybody."
        if final
        else "The two weathers with the most votes will happen, to everybody.",
        f"Whoever has {most} on one of {'the two largest' if final else 'them'} advances on the Voting Wins track, "
        "which pays at the end.",
        "With five players a sole leader advances by two, and the second by one." if s.players == 5 else "",
    )
    yield (
        "A die turned down brings 1 point, from 1 to Harvest 2 points." if dice else "",
        "A Harvest comes in any case." if final else "With all three on Harvest, crops are harvested this round.",
    )
    yield "Ask which weather helps your drops" + ("." if final else ", and whether you want a Harvest now.")


def move_vote(s: State, t: Tables) -> Paragraphs:
    yield "Move a vote", "Voting"
    yield (
        f"You have no vote left in your supply. So the one for {WEATHER_WORDS[s.target_space]} comes from another "
        "weather space where you have one."
    )
    yield (
        "Take it where you lead by more than one vote or can't win, or from weather that you would rather not see. "
        "Votes come back to you when the weather on which they lie has happened."
    )


def choose_weather(s: State, t: Tables) -> Paragraphs:
    left = RESOLVED_SPACES - int(s.selected.sum())
    who = "you break all ties" if s.players == 1 else "the First Player decides, and that is you"
    yield "Which weather?", "Resolving Weather Spaces"
    yield (
        f"Weather spaces have equally many votes, and {who}: {left} of them {'is' if left == 1 else 'are'} still to be "
        "selected.",
        "In this last round all weather with votes happens; you choose what counts for Voting Wins."
        if _is_last_round(s)
        else "",
    )
    yield (
        "Frost makes every light cloud a thundercloud.",
        "Sun doubles your drops in one cloud, and the neutral ones in all."
        if s.players == 1
        else "Sun doubles each player's drops in one cloud.",
        "Wind lets you move a drop between tiles, and then blows yours to the north."
        if s.players == 1
        else "Wind lets each player move a drop between tiles.",
        "Rain pours out all thunderclouds. They happen in this order.",
    )
    yield "Look at what they do to your drops, and who has the most votes there: that is worth a Voting Win."


def sun_weather_cloud(s: State, t: Tables) -> Paragraphs:
    own, supply = s.cloud_drops[:, s.actor], int(s.supply[s.actor])
    must = bool(((own > 0) & (own <= supply)).any())
    yield "Sun weather: double your drops", "Sun Weather"
    yield (
        "Double your drops in one cloud. The new ones come from your supply, and what it lacks from your drops on "
        "tiles; never fewer than needed.",
        "You must double one, as your supply has enough for it."
        if must
        else "Your supply alone has not enough for any, so you may decline.",
    )
    yield (
        "The Southern Winds have doubled theirs already, in every cloud that their supply sufficed for."
        if s.players == 1
        else "Players do so one after another, clockwise from the First Player.",
        _OVERFLOWS,
    )
    yield (
        "Coffee that sprouts develops at the end of this weather, also if an overflow has just made it sprout."
        if _has_crop(s, Crop.COFFEE)
        else ""
    )


def wind_weather_drop(s: State, t: Tables) -> Paragraphs:
    yield "Wind weather: which drop moves", "Wind Weather"
    yield (
        "You must move one drop that lies on a tile to a neighbouring tile. It may be anybody's, and drops in clouds "
        "stay where they are.",
        "After that the wind takes one of your drops from each of P3, P4, P5 and P6, one after another, to the tile "
        "north of it."
        if s.players == 1
        else "Everybody moves one, anticlockwise, beginning with the last player.",
    )
    yield (
        "One drop can change who is first on two tiles. It can also make one crop grow and another dry out: a tile "
        "below its number loses its growing token at once."
    )
    yield "So look for ties, and for tiles that have just enough drops or lack one."


def wind_weather_direction(s: State, t: Tables) -> Paragraphs:
    yield "Wind weather: where the drop goes", "Wind Weather"
    yield (
        f"The drop on {tile_name(s.players, s.target)} moves one tile north, east, south or west.",
        _lake(s, "On the Lake it would go back to its owner's supply."),
        "A closed Snowdrop takes none." if _has_crop(s, Crop.SNOWDROP) else "",
    )
    yield (
        "It counts there at once: for the number that the crop needs to grow, and for the places in a Harvest. An own "
        "drop belongs where it gains you a place, another's where it takes none from you."
    )


# --- Flowers ---------------------------------------------------------------------------------------------------------


def pod_tile(s: State, t: Tables) -> Paragraphs:
    yield "Place a pod", "Dente di Leone"
    yield (
        f"The wind blew while you have a drop on the grown Dandelion. So you place {PODS_A_PLAYER} pods on two tiles "
        f"without one; {s.choices_left} {'is' if s.choices_left == 1 else 'are'} left to place. They are named in the "
        "order of the tiles."
    )
    yield (
        "A tile with a pod pays each player 1 point less in the next Harvest. The Dandelion pays its first a point for "
        "every pod on other tiles, and its second half of that."
    )
    yield "Pods hurt most where many others score and you don't."


def keep_drop(s: State, t: Tables) -> Paragraphs:
    yield "Harvest power: keep a drop", "Raccolto"
    yield (
        f"On up to {KEPT_DROPS} tiles that have just been harvested one of your drops may stay, instead of going back "
        f"to your supply. You can name {counted(s.choices_left, 'more tile')}.",
        "They are named in their order; if you decline, no more drops stay.",
    )
    yield (
        "This was the last Harvest, so nothing depends on it any more."
        if _is_last_round(s)
        else "A drop that stays counts for the next Harvest there: the crop needs one less, and you begin with one. "
        "But your supply has one less for clouds."
    )


def forecast(s: State, t: Tables) -> Paragraphs:
    held = int((s.forecast_holder == s.actor).sum())
    yield "Play a forecast card?", "Uso delle carte Previsione"
    yield f"You hold a card that can be played now, {TIMING_TEXTS[Timing(s.timing)]}."
    yield (
        f"Of your {DEALT} forecast cards you play at most two in the whole game."
        + (" With this one the other one that you hold is discarded." if held < DEALT else ""),
        "A card that you don't play stays secret and in your hand until its moment comes again.",
    )
    yield (
        "This is the last round, and cards that are never played bring nothing."
        if _is_last_round(s)
        else "Play it when it does much. It needs not only its moment but also a target, and mostly drops in your "
        "supply."
    )


FORECAST_ADVICE = {
    2: "Only tiles of this Harvest can be named, and drops count as they were scored there. So take the one with most "
    "of yours.",
    4: "The cloud may go above any tile without a cloud, but not above the Lake. A tile that has just been harvested "
    "begins anew, so think of the next Harvest.",
    6: "It may be any cloud off the Lake, also one without a drop of yours. Count who would be first on the tile when "
    "all of its drops have fallen, and whether the crop then grows.",
    8: "It is one of your drops that moves now, before everybody moves one for Wind weather. Look for tiles where "
    "one drop changes a place, or makes a crop grow.",
    9: "It may be any tile but the Lake or a closed Snowdrop, whether a cloud is above it or not. Look for a crop that "
    "lacks one drop, or for a tie.",
    10: "Name the cloud first, then the tile, which may be any but the Lake. A cloud there merges with it into a "
    f"thundercloud. Your drop is added then, and with {OVERFLOWS_AT} drops it overflows.",
    11: "All three come from one tile with a cloud above it, and may be anybody's. The crop may dry out by it, and the "
    "cloud may overflow, so that they fall down again with all the others.",
    12: "It may be anybody's cloud, as long as it holds no more than four drops. It is yours then too, for Sun, Wind "
    f"and Rain. With {GROWS_AT} drops it becomes a thundercloud.",
    15: "You name the drop of each cloud, one after another in the order of the tiles; any owner's will do. Let yours "
    "fall where they gain a place, and others' where they gain none.",
    16: "The cloud may go above any tile without a cloud, but not above the Lake. Three drops are one short of a "
    "thundercloud, which Rain weather pours out.",
}
"""Advice for forecast cards, by the number of the card."""


def forecast_choice(s: State, t: Tables) -> Paragraphs:
    number = int(s.forecast)
    card = FORECASTS[number]
    yield f"Forecast card {number}", "Forecast Card Reference"
    yield f"Your forecast card, played {card.when}: {card.text}."
    yield FORECAST_ADVICE[number]


def forecast_direction(s: State, t: Tables) -> Paragraphs:
    yield f"Forecast card {s.forecast}: where the drop goes", "Forecast Card Reference"
    yield (
        f"Your drop on {tile_name(s.players, s.target)} moves one tile north, east, south or west.",
        _lake(s, "It can't go onto the Lake."),
        "It can't go onto a closed Snowdrop." if _has_crop(s, Crop.SNOWDROP) else "",
    )
    yield (
        "Both tiles are looked at right away: one may begin to grow, the other may dry out. After that everybody moves "
        "a drop for Wind weather, so your gain should be larger than one drop can undo."
    )


def forecast_vote(s: State, t: Tables) -> Paragraphs:
    yield f"Forecast card {s.forecast}: a vote", "Forecast Card Reference"
    yield (
        "You add one vote to any weather space, before the spaces are selected.",
        "" if s.vote_supply[s.actor] else "Your supply of votes is empty, so it is moved from another space.",
    )
    yield (
        f"Everybody else has voted, so count: a vote can bring a weather among the {RESOLVED_SPACES} with the most "
        "votes, or make you the one with the most votes on a space that happens anyway."
    )


# --- The end ---------------------------------------------------------------------------------------------------------


def game_over(s: State, t: Tables) -> Paragraphs:
    names, won = owner_names(s.players), Config().game.winners(s)
    so = f"So {win_text([names[seat] for seat in won])}."
    yield "The game is over", "Game End" if s.players == 1 else "Game End & Victory"
    if s.forfeited != NOBODY:
        yield f"{names[s.forfeited]} chose an action that the rules don't allow. That ends the game, and loses it."
        yield so
        return
    points = ", ".join(f"{name} {s.points[seat]}" for seat, name in enumerate(names))
    most = int(s.points[: s.owners].max())
    tied = [seat for seat in range(s.owners) if s.points[seat] == most]
    if s.players == 1:
        rule = "The player wins with more points than the Southern Winds; with as many, the Southern Winds win."
    elif len(tied) == 1:
        rule = "The most points win. Equal points would have been decided by Voting Wins."
    elif len(won) < len(tied):
        rule = "Several have the most points, and of them the one with more Voting Wins is first."
    else:
        rule = "Several have the most points and as many Voting Wins, so they share the victory."
    yield (
        "After the Harvest of the last round Voting Wins brought the points of their track, and the most Wheat tokens "
        f"{int(t.wheat_bonus)} more."
    )
    yield f"Points: {points}.", rule, so
