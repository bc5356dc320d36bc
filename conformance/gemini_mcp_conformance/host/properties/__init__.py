"""Properties of a host: what must hold for every input, and not only for those of the vectors; pure.

Each asks the host about one input and raises PropertyBroken with a sentence. To add one, decorate a function with its
inputs, the requirements that it decides and the profile of hosts that it binds. A module that is put here is loaded.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from functools import partial

from gemini_mcp_conformance.host.properties.registry import PROPERTIES
from gemini_mcp_conformance.host.questions import HostCheck, checks_of
from gemini_mcp_conformance.host.searching import search

for module in pkgutil.iter_modules(__path__, f"{__name__}."):
    importlib.import_module(module.name)


def checks(examples: int, start: int) -> Iterator[HostCheck]:
    """The checks of every property; none without examples."""
    for one in PROPERTIES if examples else ():
        name = one.holds.__name__
        complain = partial(search, one.holds, one.inputs, examples, start)
        sentence = f"{name.replace('_', ' ').capitalize()}."
        yield from checks_of(f"property {name.replace('_', '-')}", sentence, one.requirements, one.profile, complain)
