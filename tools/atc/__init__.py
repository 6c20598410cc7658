"""atc's command line: a script written for atc runs with the command's name changed to gecc-translate.

`flags` is the table of all flags, `command` reads a command line by it, `run` does what it asks for.
"""
