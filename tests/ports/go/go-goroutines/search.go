// JSON in a text that holds other things.

package main

import (
	"bytes"
	"encoding/json"
	"strings"
)

// depthLimit bounds the nesting, and so the time, of a JSON search.
const depthLimit = 200

type scanned int

const (
	whole  scanned = iota // a JSON value
	broken                // no JSON
	cut                   // JSON that breaks off at the end of the text
)

// scan reads the JSON value that begins at text[i] and returns its end.
func scan(text []byte, i, depth int) (int, scanned) {
	skip := func() {
		for i < len(text) && strings.IndexByte(" \t\r\n", text[i]) >= 0 {
			i++
		}
	}
	skip()
	if i == len(text) {
		return i, cut
	}
	if depth > depthLimit {
		return i, broken
	}
	switch first := text[i]; first {
	case '"':
		for i++; i < len(text); i++ {
			switch {
			case text[i] == '"':
				return i + 1, whole
			case text[i] == '\\':
				i++
			case text[i] < 0x20:
				return i, broken
			}
		}
		return len(text), cut
	case '{', '[':
		last := first + 2 // in ASCII the closing one
		for i++; ; i++ {
			skip()
			if i == len(text) {
				return i, cut
			}
			if text[i] == last && text[i-1] != ',' {
				return i + 1, whole
			}
			if first == '{' {
				if text[i] != '"' {
					return i, broken
				}
				end, state := scan(text, i, depth+1)
				if state != whole {
					return end, state
				}
				i = end
				skip()
				if i == len(text) {
					return i, cut
				}
				if text[i] != ':' {
					return i, broken
				}
				i++
			}
			end, state := scan(text, i, depth+1)
			if state != whole {
				return end, state
			}
			i = end
			skip()
			switch {
			case i == len(text):
				return i, cut
			case text[i] == last:
				return i + 1, whole
			case text[i] != ',':
				return i, broken
			}
		}
	}
	start := i
	for i < len(text) && (text[i] >= 'a' && text[i] <= 'z' || text[i] >= '0' && text[i] <= '9' ||
		strings.IndexByte("+-.E", text[i]) >= 0) {
		i++
	}
	if i == len(text) {
		return i, cut
	}
	if !json.Valid(text[start:i]) {
		return i, broken
	}
	return i, whole
}

// found is what a JSON search has found in an output.
type found struct {
	last  fields // the last object with a response or an error
	other bool   // an object on a line of its own, without either
	cut   bool   // JSON that breaks off
}

// search looks for objects that stand beside each other in a text, without
// those that are to be skipped.
func search(text []byte, skipped func(raw []byte) bool) found {
	var result found
	for i := 0; i < len(text); i++ {
		if text[i] != '{' && text[i] != '[' {
			continue
		}
		end, state := scan(text, i, 0)
		if state == whole && !json.Valid(text[i:end]) {
			state = broken
		}
		switch {
		case state == whole && text[i] == '{':
			var value fields
			if json.Unmarshal(text[i:end], &value) == nil && !skipped(text[i:end]) {
				_, hasText := value["response"]
				if hasText || isGiven(value["error"]) {
					result.last = value
				} else if beginsLine(text, i) {
					result.other = true
				}
			}
			i = end - 1
		case state == whole:
			if len(bytes.TrimSpace(text)) == end-i {
				result.other = true
			}
			i = end - 1
		case state == cut && text[i] == '{':
			next := bytes.TrimSpace(text[i+1:])
			if beginsLine(text, i) || bytes.HasPrefix(next, []byte(`"`)) {
				result.cut = true
				return result
			}
		}
	}
	return result
}

func beginsLine(text []byte, i int) bool {
	line := bytes.LastIndexByte(text[:i], '\n') + 1
	return len(bytes.TrimSpace(text[line:i])) == 0
}

// isGiven tells whether a value is there and not null.
func isGiven(raw json.RawMessage) bool {
	return len(raw) > 0 && string(raw) != "null"
}

// asText returns the text of a JSON string.
func asText(raw json.RawMessage) (string, bool) {
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	var text string
	return text, json.Unmarshal(raw, &text) == nil
}

// message returns what an error of gemini's JSON says.
func message(raw json.RawMessage) string {
	if text, ok := asText(raw); ok {
		return text
	}
	var value fields
	if json.Unmarshal(raw, &value) != nil {
		return ""
	}
	text, _ := asText(value["message"])
	return text
}
