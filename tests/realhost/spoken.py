"""Made-up results, prompts, `@` texts and documents of OAuth such as servers and people write. Pure."""

from random import Random

from declared import WORDS, odd

from gemini_mcp.spec.values import Json, JsonObject

_TEXTS = ("hello", "", "é\u0301", "a\nb", "</untrusted_context>", "<untrusted_context>", "{}", "[1]", "😀", " ")
_MIMES = ("image/png", "IMAGE/PNG", "audio/wav", "video/mp4", "application/pdf", "text/plain; charset=utf-8", "", "x")
_URIS = ("file:///a", "", "a b", "é://x", "https://h/?q=1#f")


def block(chance: Random) -> Json:
    """One block of a result."""
    text, mime, uri = chance.choice(_TEXTS), chance.choice(_MIMES), chance.choice(_URIS)
    resource: JsonObject = {"uri": uri, "mimeType": mime, "text": text, "blob": chance.choice(("aGk=", "", "!"))}
    kept = chance.sample(("mimeType", "text", "blob"), chance.randrange(1, 4))
    embedded = {"type": "resource", "resource": {"uri": uri, **{key: resource[key] for key in kept}}}
    link = {"type": "resource_link", "uri": uri, "name": chance.choice(("n", "", "é")), "mimeType": mime, "size": 5}
    made: JsonObject = chance.choice(
        (
            {"type": "text", "text": text},
            {"type": "image", "data": "aW1n", "mimeType": mime},
            {"type": "audio", "data": "YXVk", "mimeType": mime},
            embedded,
            {**link, "title": chance.choice(("T", ""))} if chance.random() < 0.5 else link,
            {"type": chance.choice(("tool_use", "thinking", "", "TEXT")), "text": text},
        )
    )
    if chance.random() < 0.15:
        made = {**made, "annotations": {"audience": ["user"], "priority": 1}, "_meta": {"a": 1}}
    return odd(chance, made, 0.05) if made["type"] != "text" else made


def results(chance: Random) -> JsonObject:
    """The result of a call."""
    content: Json = [block(chance) for _ in range(chance.choice((0, 1, 1, 2, 3, 4)))]
    more: JsonObject = {
        "isError": chance.choice((True, True, False, None, "true", "false", 1)),
        "structuredContent": chance.choice(({"a": 1}, {}, None)),
        "_meta": {"p": 1},
        "error": chance.choice((None, {"isError": True, "message": "m"}, {"code": -1, "data": [1]}, "e", {})),
        "toolResult": 5,
    }
    kept = chance.sample(sorted(more), chance.choice((0, 0, 1, 2)))
    result = {**({} if chance.random() < 0.04 else {"content": content}), **{key: more[key] for key in kept}}
    arguments: Json = chance.choice(
        ({}, {"p": 1e21}, {"é": "a\nb", "2": 1, "1": [None, True, -0.0]}, {"a": {"b": "'"}})
    )
    name = chance.choice(WORDS)
    return {"serverTool": name, "registeredName": f"mcp_s_{name}"[:60], "args": arguments, "callToolResult": result}


def prompt_lines(chance: Random) -> JsonObject:
    """The arguments of a prompt, and what is typed behind its name."""
    names = ("title", "mood", "a b", "é", "a-b", "_x", "1", "title2", "")
    declared = [
        {"name": name, **({} if (required := chance.choice((True, False, None))) is None else {"required": required})}
        for name in chance.sample(names, chance.randrange(5))
    ]
    words = (
        *('--title="A B"', "--title=A", "--title='A B'", "--mood", "--mood=", '--mood=""', '"A B"', "'A B'", "word"),
        *('--title="a \\"q\\" b"', '--title="a', "--é=ü", "--a-b=x", "-t x", "--title = x", "--title=a=b", "--TITLE=x"),
        *(
            '--title="a"b',
            'a"b c"',
            "\\ ",
            "--1=2",
            "--_x=y",
            "--other=z",
            "\n",
            "\t",
            "é",
            "😀",
            '--title="a\\nb"',
            "=",
            "--",
        ),
    )
    typed = chance.choice((" ", " ", "  ", "", "\n")).join(chance.choices(words, k=chance.randrange(5)))
    return {"promptArguments": declared, "args": typed}


def prompt_answers(chance: Random) -> JsonObject:
    """A prompt, and what its server answers."""
    messages: Json = [{"role": "user", "content": block(chance)} for _ in range(chance.choice((0, 1, 1, 2)))]
    answer = odd(chance, {"description": "d", "messages": messages}, 0.3)
    prompt: JsonObject = {
        "name": chance.choice(WORDS) or "p",
        "title": "T",
        "description": chance.choice(("d", "", "é")),
    }
    if chance.random() < 0.5:
        prompt["arguments"] = [{"name": "a", "required": False, "description": "x"}]
    kept = {key: prompt[key] for key in prompt if key == "name" or chance.random() < 0.6}
    said: JsonObject = {"prompt": kept, "args": chance.choice(("", "x", "--a=b"))}
    return {**said, "failure": chance.choice(("no", ""))} if chance.random() < 0.1 else {**said, "answer": answer}


def texts(chance: Random) -> JsonObject:
    """A prompt with references, and resources that may be meant."""
    listed = [
        {"uri": uri, "name": uri} for uri in ("notes://a", "file:///d e", "b:1", "é:ü", "x", "a,b", "dot.", "//p")
    ]
    contents: Json = [
        {
            "uri": "u",
            **chance.choice(({"text": "T"}, {"text": ""}, {"blob": "aGk="}, {"blob": "", "mimeType": "m"}, {})),
        }
        for _ in range(chance.choice((0, 1, 1, 2)))
    ]
    pieces = (
        *(
            "@s:notes://a",
            "@s:b:1",
            "@s:file:///d\\ e",
            "@s:é:ü",
            "@s:x",
            "@S:x",
            "@s:nope",
            "@t:x",
            "see",
            " ",
            ",",
            ".",
        ),
        *(
            "@",
            "\\@s:x",
            "me@s:x",
            "@s:a,b",
            "@s:dot.",
            '"@s:x"',
            "(@s:x)",
            "\n",
            "@s",
            "@s:",
            "@s://p",
            "!",
            "?",
            "@s:x;",
        ),
    )
    said = chance.choice(("", " ", " ")).join(chance.choices(pieces, k=chance.randrange(1, 5)))
    reads = {one["uri"]: odd(chance, {"contents": contents}, 0.03) for one in listed if chance.random() < 0.85}
    return {"prompt": said, "server": "s", "resources": listed, "reads": reads}


def documents(chance: Random) -> JsonObject:
    """The metadata of a server and its authorization server, where they are looked for."""
    path = chance.choice(("", "/", "/mcp", "/a/b", "/mcp/", "/sse?x=1"))
    issuer = chance.choice(("<BASE>", "<BASE>/", "<BASE>/t", "https://i.example", "<BASE>/mcp", ""))
    server: JsonObject = {"issuer": issuer, "authorization_endpoint": "<BASE>/a", "token_endpoint": "<BASE>/t"}
    server |= {"scopes_supported": ["x"], "registration_endpoint": "<BASE>/r"} if chance.random() < 0.5 else {}
    authority = chance.choice(
        ("<BASE>", "<BASE>/t", "<BASE>/", "https://as.example", "http://h.example/", "nope", "/t")
    )
    protected = {"resource": f"<BASE>{path}", "authorization_servers": [authority], "scopes_supported": ["y"]}
    place, root = path.partition("?")[0].rstrip("/"), "/.well-known"
    found: JsonObject = {}
    for name in chance.sample(("", place, "/t"), chance.randrange(1, 4)):
        if chance.random() < 0.6:
            found[f"{root}/oauth-protected-resource{name}"] = {"json": odd(chance, protected, 0.15)}
        kind = chance.choice(("oauth-authorization-server", "openid-configuration"))
        put = f"{name}{root}/{kind}" if chance.random() < 0.2 else f"{root}/{kind}{name}"
        found[put] = {"json": odd(chance, server, 0.15), **({"status": 500} if chance.random() < 0.1 else {})}
    return {"serverUrl": f"<BASE>{path}", "documents": found}
