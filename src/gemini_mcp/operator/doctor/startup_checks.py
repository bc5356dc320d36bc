"""Checks of what gemini finds when it starts: settings, sign-in, trust, sessions, and what a client withholds. Edge.

Each makes a `Diagnosis` of the place. What gemini itself decides is in `operator/gemini`.
"""

from gemini_mcp.call.outcome import NotStarted
from gemini_mcp.host.settings import trust
from gemini_mcp.operator.doctor.place import Diagnosis, Place
from gemini_mcp.operator.gemini.sign_in import KEY, SignIn
from gemini_mcp.operator.gemini.startup import look
from gemini_mcp.operator.variables import kept_by_clients, lost_in_clients

TRUST_SINCE = (0, 41)
"""The first version of gemini that refuses to work in a directory that is not trusted."""

RETENTION_SINCE = (0, 33)
"""The first version of gemini that deletes old sessions."""

PROBE = "`gemini-mcp-server doctor --probe` asks gemini itself."


def check_directory(place: Place) -> Diagnosis:
    """Is there a place to run in?"""
    found = place.found_directory
    if isinstance(found, NotStarted):
        named = found.fields.get("cwd", "the current directory")
        return Diagnosis(False, f"{named} cannot be entered", "Create it, or start the server elsewhere.")
    return Diagnosis(True, place.shown(place.directory))


def check_settings(place: Place) -> Diagnosis:
    """Can gemini read its files?"""
    startup = place.startup
    if startup.faults:
        seen = "; ".join(f"{place.shown(path)}: {problem}" for path, problem in startup.faults.items())
        return Diagnosis(False, seen, "Correct the file; gemini ends with exit code 52.")
    return Diagnosis(
        True, place.shown(startup.settings_file) if startup.settings_file.exists() else "none, which is fine"
    )


def check_sign_in(place: Place) -> Diagnosis:
    """Can gemini sign in?"""
    found = place.startup.sign_in
    if found.missing is None:
        named = ", ".join(found.rests_on)
        seen = (f"{named} {_source(found, place)}" if named else found.way) or ""
        return Diagnosis(True, seen, None if found.is_certain else f"Only gemini can tell whether that works. {PROBE}")
    if (unread := _unread(place)) is not None:
        action = f"Trust the directory, as the next check says: gemini reads {unread} only in a trusted one."
        return Diagnosis(False, f"{unread} says how, but gemini does not read it here", action)
    file = place.startup.env_file
    read = f"; of all `.env` files gemini reads {place.shown(file)} here" if file else ""
    seen = f"{found.way}: {found.missing}{read}" if found.way else f"{found.missing}{read}"
    return Diagnosis(False, seen, _way_to_sign_in(found))


def check_trust(place: Place) -> Diagnosis:
    """Will gemini work in this directory?"""
    startup, directory = place.startup, place.shown(place.directory)
    said = trust.said_by(startup.environ)
    if said and startup.is_trusted:
        action = "Its settings and .env act; leave it off for strangers' code."
        return Diagnosis(True, "every directory is trusted", action)
    if not startup.needs_trust:
        return Diagnosis(True, "folder trust is switched off")
    if startup.is_trusted:
        return Diagnosis(True, f"{directory} is trusted")
    if place.version < TRUST_SINCE:
        return Diagnosis(True, "this version of gemini works in any directory")
    if said is False:
        return Diagnosis(
            False, "the environment forbids trust", "Unset GEMINI_CLI_TRUST_WORKSPACE and GEMINI_RESTRICTED_MODE."
        )
    action = "Run `gemini` here once and trust it, or start the server with --trust-workspace (exit code 55)."
    return Diagnosis(False, f"{directory} is not trusted", action)


def check_retention(place: Place) -> Diagnosis:
    """Will sessions still be there when they are resumed?"""
    if place.startup.setting("general.sessionRetention.enabled") is False:
        return Diagnosis(True, "kept")
    if place.version < RETENTION_SINCE:
        return Diagnosis(True, "kept by this version of gemini")
    action = "gemini may delete a session after it was resumed. `gemini-mcp-server doctor --fix` switches that off."
    return Diagnosis(True, "retention is on", action)


def check_clients(place: Place) -> Diagnosis:
    """Does the server get from a client what it gets here?"""
    lost = lost_in_clients(place.inherited)
    if not lost:
        return Diagnosis(True, "get all that gemini needs")
    without = look(place.directory, kept_by_clients(place.environ))
    needed = [name for name in place.startup.sign_in.rests_on if name in lost]
    action = "`--print-config CLIENT` says how they get there."
    if needed and without.sign_in.missing:
        action = f"Without {' and '.join(needed)} gemini is not signed in (exit code 41). {action}"
    return Diagnosis(True, f"most do not pass on {', '.join(lost)}", action)


def _unread(place: Place) -> str | None:
    """The `.env` file that would sign gemini in if it trusted the directory."""
    if place.startup.is_trusted:
        return None
    there = look(place.directory, {**place.environ, **trust.EVERYWHERE})
    return place.shown(there.env_file) if there.env_file and there.sign_in.missing is None else None


def _source(found: SignIn, place: Place) -> str:
    file = place.startup.env_file
    is_from_file = file is not None and any(name not in place.environ for name in found.rests_on)
    return f"from {place.shown(file)}" if file is not None and is_from_file else "from the environment"


def _way_to_sign_in(found: SignIn) -> str:
    action = "Put GEMINI_API_KEY into ~/.gemini/.env, or run `gemini` once in a terminal and sign in (exit code 41)."
    return f"{action} A key in the system's keychain is not seen here: {PROBE}" if found.way == KEY else action
