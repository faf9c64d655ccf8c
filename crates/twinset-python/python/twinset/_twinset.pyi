from typing import Any

__version__: str

class TwinsetError(Exception): ...

class Place:
    def __init__(self, ending: str = "") -> None: ...

def call(words: list[Any]) -> list[Any]: ...
