// The arguments of a call in, the command line that they ask for out, or a refusal.

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

var (
	controlCharacter = regexp.MustCompile(`[\x{0}-\x{1f}\x{7f}-\x{9f}]`)
	noPlainPrompt    = regexp.MustCompile(`^-|^(?:mcp|extensions?|skills?|hooks?|gemma|help|\$0)$|` +
		`^(?:0[xX][0-9a-fA-F]+|[0-9]*\.?[0-9]*(?:[eE][-+]?[0-9]+)?)$`)
)

// invocation is what a call becomes.
type invocation struct {
	argv    []string // without the program
	stdin   string
	cwd     string // empty for the server's own
	system  string // text of SYSTEM.md; empty for none
	resumes string // session that is continued; empty for a new one
	private []string
}

// plan turns the arguments of a call into an invocation, or says why not.
func plan(tool string, arguments fields) (*invocation, error) {
	values := map[string]string{}
	for _, name := range toolArguments[tool] {
		raw, given := arguments[name]
		if !given {
			if name == "prompt" {
				return nil, errors.New("`prompt` is missing, but should be a string.")
			}
			continue
		}
		if kind := kindOf(raw); kind != "a string" {
			return nil, fmt.Errorf("`%s` is %s, but should be a string.", name, kind)
		}
		var value string
		if err := json.Unmarshal(raw, &value); err != nil {
			return nil, fmt.Errorf("`%s` cannot be read.", name)
		}
		if refusal := refuse(name, value, hasLoneSurrogate(raw)); refusal != nil {
			return nil, refusal
		}
		values[name] = value
	}
	if strings.TrimFunc(values["systemPrompt"], isBlank) == "" {
		values["systemPrompt"] = ""
	}
	model := values["model"]

	result := &invocation{
		cwd:     values["cwd"],
		system:  values["systemPrompt"],
		private: []string{values["prompt"], values["systemPrompt"]},
	}
	if tool == "chat-reply" {
		result.resumes = values["sessionId"]
		if result.resumes == "" {
			result.resumes = "latest"
		}
		result.argv = append(result.argv, "-r", result.resumes)
	}
	switch prompt := values["prompt"]; {
	case len(prompt) > argumentLimit:
		result.stdin = prompt
	case noPlainPrompt.MatchString(prompt):
		result.argv = append(result.argv, "--prompt="+prompt)
	default:
		result.argv = append(result.argv, prompt)
	}
	result.argv = append(result.argv, "--output-format", "json")
	if model != "" {
		result.argv = append(result.argv, "-m", model)
	}
	return result, nil
}

// refuse says why an argument may not have this value.
func refuse(name, value string, loneSurrogate bool) error {
	switch {
	case strings.ContainsRune(value, 0):
		return fmt.Errorf("`%s` holds a NUL character, which no command line can carry. Send it without.", name)
	case loneSurrogate:
		return fmt.Errorf("`%s` holds a lone surrogate, which is half a character. Send valid Unicode text.", name)
	}
	switch name {
	case "prompt":
		if value == "" {
			return errors.New("`prompt` is empty, but should be the text for Gemini.")
		}
		if len(value) > promptLimit {
			return fmt.Errorf("`prompt` is %d bytes of UTF-8, but gemini reads %d at most. "+
				"Shorten it, or put the text in a file below `cwd` and name the file.", len(value), promptLimit)
		}
	case "model", "sessionId":
		if strings.HasPrefix(value, "-") {
			return fmt.Errorf("`%s` starts with `-`, which gemini would read as an option. Send a name or an id.", name)
		}
		if controlCharacter.MatchString(value) {
			return fmt.Errorf("`%s` holds a control character. Send a name or an id.", name)
		}
	}
	return nil
}

// isBlank is what `\s` matches in the patterns of the specification.
func isBlank(r rune) bool {
	return unicode.IsSpace(r) || (r >= 0x1c && r <= 0x1f)
}

// kindOf names the type of a JSON value.
func kindOf(raw json.RawMessage) string {
	switch raw[0] {
	case '"':
		return "a string"
	case '{':
		return "an object"
	case '[':
		return "an array"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

// hasLoneSurrogate tells whether an escape of a JSON string is half a character.
func hasLoneSurrogate(raw json.RawMessage) bool {
	unit := func(i int) (uint64, bool) {
		if i+6 > len(raw) || raw[i] != '\\' || raw[i+1] != 'u' {
			return 0, false
		}
		code, err := strconv.ParseUint(string(raw[i+2:i+6]), 16, 32)
		return code, err == nil
	}
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		code, isUnit := unit(i)
		switch {
		case !isUnit:
			i++
		case code >= 0xd800 && code <= 0xdbff:
			if low, ok := unit(i + 6); !ok || low < 0xdc00 || low > 0xdfff {
				return true
			}
			i += 11
		case code >= 0xdc00 && code <= 0xdfff:
			return true
		default:
			i += 5
		}
	}
	return false
}
