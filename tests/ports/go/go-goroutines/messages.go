// Messages of MCP, both ways.

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"unicode/utf8"
)

// call is a request that runs gemini.
type call struct {
	id     requestID
	cancel context.CancelFunc
	mutex  sync.Mutex
	over   bool // answered or cancelled: nothing more may be sent for it
}

type server struct {
	output sync.Mutex
	out    io.Writer
	gone   func() // called when the client cannot be written to

	mutex   sync.Mutex
	closing bool
	calls   map[string]*call
	queues  map[string]chan struct{} // the last of those that wait for a session
	running sync.WaitGroup
}

// jsonText writes a value as JSON on one line.
func jsonText(value any) string {
	var buffer strings.Builder
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err) // only values of this program are written
	}
	return strings.TrimSuffix(buffer.String(), "\n")
}

func (s *server) send(message object) {
	message["jsonrpc"] = "2.0"
	line := jsonText(message) + "\n"
	s.output.Lock()
	defer s.output.Unlock()
	if _, err := io.WriteString(s.out, line); err != nil {
		s.gone()
	}
}

// requestID is the id of a request, and how its result is dressed.
type requestID struct {
	raw       json.RawMessage
	stateless bool
}

func (s *server) result(id requestID, result object) {
	if id.stateless {
		result["resultType"] = "complete"
		meta, given := result["_meta"].(object)
		if !given {
			meta = object{}
			result["_meta"] = meta
		}
		meta[metaServer] = serverInfo
	}
	s.send(object{"id": id.raw, "result": result})
}

func (s *server) fail(id requestID, code int, text string) {
	s.failWith(id, object{"code": code, "message": text})
}

func (s *server) failWith(id requestID, fault object) {
	if id.raw == nil {
		id.raw = json.RawMessage("null")
	}
	s.send(object{"id": id.raw, "error": fault})
}

// era tells whether a request carries its own version, and answers it when
// what it carries is wrong.
func (s *server) era(id requestID, params fields) (isStateless, served bool) {
	var meta fields
	if raw := params["_meta"]; len(raw) > 0 && json.Unmarshal(raw, &meta) != nil {
		s.fail(id, -32602, "Invalid params: `_meta` should be an object.")
		return false, true
	}
	named, given := meta[metaVersion]
	if !given {
		return false, false
	}
	version, isText := asText(named)
	if !isText {
		s.fail(id, -32602, "Invalid params: `"+metaVersion+"` should be a string.")
		return true, true
	}
	if version != stateless {
		s.failWith(id, object{"code": -32022, "message": "Unsupported protocol version.",
			"data": object{"supported": []string{stateless}, "requested": version}})
		return true, true
	}
	if client := meta[metaClient]; len(client) == 0 || client[0] != '{' {
		s.fail(id, -32602, "Invalid params: `"+metaClient+"` should be an object.")
		return true, true
	}
	return true, false
}

// handle answers one line of the client.
func (s *server) handle(line []byte) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return
	}
	if !utf8.Valid(line) || !json.Valid(line) {
		s.fail(requestID{}, -32700, "Parse error: the line is no JSON in UTF-8.")
		return
	}
	var request fields
	if line[0] != '{' || json.Unmarshal(line, &request) != nil {
		s.fail(requestID{}, -32600, "Invalid request: a message is one JSON object.")
		return
	}
	rawID, hasID := request["id"]
	id := requestID{raw: rawID}
	rawMethod, hasMethod := request["method"]
	if !hasMethod && (request["result"] != nil || request["error"] != nil) {
		return // a response, though nothing was asked
	}
	if hasID {
		if kind := kindOf(rawID); kind != "a string" && kind != "a number" {
			s.fail(requestID{}, -32600, "Invalid request: `id` should be a string or a number.")
			return
		}
	}
	method, isText := asText(rawMethod)
	if !isText {
		s.fail(id, -32600, "Invalid request: `method` should be a string.")
		return
	}
	params := fields{}
	rawParams, hasParams := request["params"]
	paramsFault := hasParams && isGiven(rawParams) && json.Unmarshal(rawParams, &params) != nil
	if !hasID {
		if method == "notifications/cancelled" && !paramsFault {
			s.cancelled(params["requestId"])
		}
		return
	}
	if version, _ := asText(request["jsonrpc"]); version != "2.0" {
		s.fail(id, -32600, "Invalid request: `jsonrpc` should be \"2.0\".")
		return
	}
	if paramsFault {
		s.fail(id, -32602, "Invalid params: `params` should be an object.")
		return
	}

	isStateless, served := s.era(id, params)
	if served {
		return
	}
	id.stateless = isStateless
	if isStateless && method == "server/discover" {
		s.result(id, object{
			"supportedVersions": []string{stateless},
			"capabilities":      object{"tools": object{}},
			"ttlMs":             listMilliseconds,
			"cacheScope":        "public",
		})
		return
	}

	switch method {
	case "initialize":
		version, _ := asText(params["protocolVersion"])
		chosen := revisions[len(revisions)-1]
		for _, known := range revisions {
			if known == version {
				chosen = known
			}
		}
		s.result(id, object{
			"protocolVersion": chosen,
			"capabilities":    object{"tools": object{}},
			"serverInfo":      serverInfo,
		})
	case "ping":
		s.result(id, object{})
	case "tools/list":
		if isGiven(params["cursor"]) {
			s.fail(id, -32602, "Invalid params: there is one page only, and no cursor.")
			return
		}
		list := object{"tools": toolDefinitions}
		if isStateless {
			list["ttlMs"], list["cacheScope"] = listMilliseconds, "public"
		}
		s.result(id, list)
	case "tools/call":
		s.call(id, params)
	default:
		s.fail(id, -32601, "Method not found.")
	}
}
