def render_svg(state, viewer=None, *, tables=None, last_action="", names=None):
    return "<svg/>"


def marks(players):
    from tabletop.drawing.owners import mark

    return [mark(i) for i in range(players)]
