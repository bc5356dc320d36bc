// Calls: one goroutine each, replies behind the earlier ones of their session.

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// idKey is equal for ids that are equal in value and in type.
func idKey(id json.RawMessage) string {
	if text, ok := asText(id); ok {
		return "text " + text
	}
	return "number " + string(id)
}

// call checks a call and starts it.
func (s *server) call(id requestID, params fields) {
	tool, isText := asText(params["name"])
	if !isText {
		s.fail(id, -32602, "Invalid params: `name` should be the name of a tool.")
		return
	}
	if _, known := toolArguments[tool]; !known {
		s.fail(id, -32602, "Invalid params: there is no such tool.")
		return
	}
	arguments := fields{}
	if raw, given := params["arguments"]; given && (raw[0] != '{' || json.Unmarshal(raw, &arguments) != nil) {
		s.fail(id, -32602, "Invalid params: `arguments` should be an object.")
		return
	}
	planned, err := plan(tool, arguments)
	if err != nil {
		s.result(id, errorResult(&failure{sentence: err.Error()}))
		return
	}
	var meta fields
	var token json.RawMessage
	if json.Unmarshal(params["_meta"], &meta) == nil && len(meta["progressToken"]) > 0 {
		if kind := kindOf(meta["progressToken"]); kind == "a string" || kind == "a number" {
			token = meta["progressToken"]
		}
	}

	ctx, cancel := context.WithCancel(context.Background())
	started := &call{id: id, cancel: cancel}
	s.mutex.Lock()
	if s.closing {
		s.mutex.Unlock()
		cancel()
		return
	}
	s.calls[idKey(id.raw)] = started
	s.running.Add(1)
	s.mutex.Unlock()
	turn, leave := s.queue(planned)
	go func() {
		defer s.running.Done()
		defer cancel()
		if token != nil {
			go s.progress(ctx, started, token)
		}
		var result object
		select {
		case <-turn:
			result = s.serve(ctx, planned)
			leave()
		case <-ctx.Done():
			go func() {
				<-turn
				leave()
			}()
		}
		s.answer(started, result)
	}()
}

// queue gives a reply its turn behind the earlier ones of its session.
func (s *server) queue(planned *invocation) (turn <-chan struct{}, leave func()) {
	key := "id " + planned.resumes
	switch planned.resumes {
	case "":
		open := make(chan struct{})
		close(open)
		return open, func() {}
	case "latest":
		directory, err := filepath.Abs(planned.cwd)
		if err == nil {
			if followed, err := filepath.EvalSymlinks(directory); err == nil {
				directory = followed
			}
		}
		key = "latest " + directory
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	before, busy := s.queues[key]
	if !busy {
		before = make(chan struct{})
		close(before)
	}
	own := make(chan struct{})
	s.queues[key] = own
	return before, func() {
		s.mutex.Lock()
		defer s.mutex.Unlock()
		if s.queues[key] == own {
			delete(s.queues, key)
		}
		close(own)
	}
}

func (s *server) answer(ended *call, result object) {
	s.mutex.Lock()
	if s.calls[idKey(ended.id.raw)] == ended {
		delete(s.calls, idKey(ended.id.raw))
	}
	s.mutex.Unlock()
	ended.mutex.Lock()
	defer ended.mutex.Unlock()
	if !ended.over {
		ended.over = true
		s.result(ended.id, result)
	}
}

func (c *call) stop() {
	c.mutex.Lock()
	c.over = true
	c.mutex.Unlock()
	c.cancel()
}

func (s *server) cancelled(id json.RawMessage) {
	if len(id) == 0 {
		return
	}
	s.mutex.Lock()
	running := s.calls[idKey(id)]
	s.mutex.Unlock()
	if running != nil {
		running.stop()
	}
}

// progress tells the client that a call has started and still runs.
func (s *server) progress(ctx context.Context, running *call, token json.RawMessage) {
	ticker := time.NewTicker(progressInterval)
	defer ticker.Stop()
	for count := 1; ; count++ {
		running.mutex.Lock()
		if running.over {
			running.mutex.Unlock()
			return
		}
		s.send(object{"method": "notifications/progress", "params": object{"progressToken": token, "progress": count}})
		running.mutex.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// serve runs gemini and makes the result of the call.
func (s *server) serve(ctx context.Context, planned *invocation) object {
	if ctx.Err() != nil {
		return nil
	}
	cwd := planned.cwd
	if cwd != "" {
		if err := enter(cwd); err != nil {
			return errorResult(&failure{sentence: err.Error()})
		}
	}
	program, err := locate()
	if err != nil {
		return errorResult(&failure{sentence: err.Error()})
	}
	file := ""
	if planned.system != "" {
		directory, path, err := writeSystemPrompt(planned.system)
		if err != nil {
			var reason syscall.Errno
			if errors.As(err, &reason) {
				err = reason
			}
			return errorResult(&failure{sentence: "The file for the system prompt could not be written: " + err.Error() +
				". Free space, or set TMPDIR to a directory this user may write."})
		}
		defer os.RemoveAll(directory)
		file = path
	}
	ended, err := run(ctx, program, planned.argv, environment(file), cwd, planned.stdin, timeout)
	if err != nil {
		return errorResult(&failure{sentence: err.Error()})
	}
	if ctx.Err() != nil {
		return nil
	}
	found, failed := read(ended, planned.private)
	if failed != nil {
		return errorResult(failed)
	}
	if found.session == "" && planned.resumes != "" && planned.resumes != "latest" {
		found.session = planned.resumes
	}
	if found.session == "" {
		found.session = list(ctx, program, cwd)
	}
	meta := object{}
	if found.session != "" {
		meta["sessionId"] = found.session
	}
	if found.warnings != nil {
		var warnings any
		decoder := json.NewDecoder(bytes.NewReader(found.warnings))
		decoder.UseNumber()
		if decoder.Decode(&warnings) == nil {
			meta["warnings"] = warnings
		}
	}
	if found.text == "" {
		meta["notice"] = "Gemini answered with an empty text."
	}
	result := object{"content": []object{{"type": "text", "text": found.text}}}
	if len(meta) > 0 {
		result["_meta"] = meta
	}
	return result
}

// list returns the id of the newest session, or nothing.
func list(ctx context.Context, program, cwd string) string {
	ended, err := run(ctx, program, []string{"--list-sessions"}, environment(""), cwd, "", listingTimeout)
	if err != nil || ended.timedOut || ended.signal != 0 || ended.exit != 0 {
		return ""
	}
	if id := newest(strings.ToValidUTF8(string(ended.stdout), "\ufffd")); id != "" {
		return id
	}
	return newest(strings.ToValidUTF8(string(ended.stderr), "\ufffd"))
}

func errorResult(failed *failure) object {
	text := "Error executing gemini: " + mask(failed.sentence)
	if failed.ran {
		text += "\nStderr: " + failed.stderr
	}
	return object{"content": []object{{"type": "text", "text": text}}, "isError": true}
}
