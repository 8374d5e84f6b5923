"""Games on a web page, served from this machine."""
