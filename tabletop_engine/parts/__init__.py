"""Parts of card and board games, as rules that the rules of a game call.

Each module has one kind of part. Parts read and write arrays of a record that the game itself declares. So a part takes
no room in the record of a game that does not use it.

| module | parts |
|---|---|
| `sets` | sets of up to 64 different things as bits |
| `decks` | decks whose order is kept or not, and discards |
| `slots` | places for cards: markets that are refilled, hands |
| `turns` | turn order, passing, and choices that all make at the same time |
| `auctions` | auctions with rising bids |
| `tracks` | markers on tracks |
| `boards` | boards of squares or hexagons: neighbours and connected areas |
"""
