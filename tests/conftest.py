"""For all tests: windows open on SDL's screen that is none, also where there is a real one."""

import os

os.environ["SDL_VIDEODRIVER"] = "dummy"
