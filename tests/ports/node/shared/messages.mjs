// What ports in Node share: how they read lines and messages of JSON-RPC.

/** Call `each` with every line of a stream, as bytes. Not `readline`, which also ends a line at U+2028. */
export function onLine(stream, each) {
  let pieces = [];
  stream.on("data", (piece) => {
    let start = 0;
    for (let at = piece.indexOf(10); at >= 0; at = piece.indexOf(10, start)) {
      const line = Buffer.concat([...pieces, piece.subarray(start, at)]);
      pieces = [];
      start = at + 1;
      each(line);
    }
    if (start < piece.length) pieces.push(piece.subarray(start));
  });
}

/** What reads a line: it calls a method with id and params, `notified` with method and params, or `fail`. */
export const receiver = (methods, notified, fail) => (line) => {
  if (!line.toString().trim()) return;
  let message;
  try {
    message = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(line));
  } catch {
    return fail(null, -32700, "no JSON");
  }
  const { id, jsonrpc, method, params = {} } = message ?? {};
  const isId = typeof id === "string" || typeof id === "number";
  const isRequest = typeof method === "string" && (id === undefined || isId);
  const isResponse = method === undefined && id !== undefined && ("result" in message || "error" in message);
  if (jsonrpc !== "2.0" || !(isRequest || isResponse)) return fail(isId ? id : null, -32600, "no request");
  if (isResponse) return;
  if (id === undefined) return notified(method, params);
  if (typeof params !== "object" || params === null || Array.isArray(params)) return fail(id, -32602, "params is no object");
  if (!Object.hasOwn(methods, method)) return fail(id, -32601, "unknown method");
  methods[method](id, params);
};
