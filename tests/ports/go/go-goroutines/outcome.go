// The way a run has ended in, an answer or a failure out.

package main

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"syscall"
)

// outcome is how a run has ended.
type outcome struct {
	exit           int
	signal         syscall.Signal // 0 unless a signal ended it
	timedOut       bool
	stdout, stderr []byte
}

var signalNames = map[syscall.Signal]string{
	syscall.SIGHUP: "SIGHUP", syscall.SIGINT: "SIGINT", syscall.SIGQUIT: "SIGQUIT", syscall.SIGILL: "SIGILL",
	syscall.SIGTRAP: "SIGTRAP", syscall.SIGABRT: "SIGABRT", syscall.SIGBUS: "SIGBUS", syscall.SIGFPE: "SIGFPE",
	syscall.SIGKILL: "SIGKILL", syscall.SIGUSR1: "SIGUSR1", syscall.SIGSEGV: "SIGSEGV", syscall.SIGUSR2: "SIGUSR2",
	syscall.SIGPIPE: "SIGPIPE", syscall.SIGALRM: "SIGALRM", syscall.SIGTERM: "SIGTERM",
}

// sentences says what an exit code means; the first that fits is said.
var sentences = []struct {
	exit   int // 0 for any
	stderr *regexp.Regexp
	text   string
}{
	{173, nil, "The quota of the Gemini API is used up (HTTP 429, exit code 173). Wait, choose another `model`, or raise the quota."},
	{0, regexp.MustCompile(`RESOURCE_EXHAUSTED|TerminalQuotaError|exhausted your (?:capacity|quota)|[Qq]uota exceeded`),
		"The quota of the Gemini API is used up (exit code {exit}). Wait, choose another `model`, or raise the quota."},
	{42, regexp.MustCompile(`Invalid session identifier|No previous sessions found`),
		"gemini does not know this session in this directory (exit code 42). Sessions belong to the directory they began in: send the same `cwd`, or begin a new one with `chat`."},
	{41, nil, "gemini is not signed in (exit code 41). Set GEMINI_API_KEY in the server's environment, or run `gemini` once in a terminal and choose how to sign in. gemini reads ~/.gemini/.env only in a directory that it trusts."},
	{42, nil, "gemini did not accept its input (exit code 42). A prompt that starts with `/` may be a command that works only in a terminal: rephrase it."},
	{44, nil, "gemini could not start its sandbox (exit code 44). Check that Docker, Podman or sandbox-exec works."},
	{52, nil, "A settings file of gemini is broken (exit code 52). Correct ~/.gemini/settings.json or .gemini/settings.json below `cwd`."},
	{53, nil, "The session reached its limit of turns (exit code 53). Begin a new one with `chat`, or raise model.maxSessionTurns in gemini's settings."},
	{54, nil, "A tool that gemini called failed for good (exit code 54). Read the message below, then try again or ask without that tool."},
	{55, nil, "gemini does not trust this directory (exit code 55). Run `gemini` there once and trust it."},
	{130, nil, "gemini was interrupted (exit code 130). Try again."},
	{144, nil, "The Gemini API refused the request as malformed (HTTP 400, exit code 144). Check the model's name and the API key."},
	{145, nil, "The Gemini API did not accept the credentials (HTTP 401, exit code 145). Set a valid GEMINI_API_KEY, or sign in again."},
	{147, nil, "The Gemini API denies access (HTTP 403, exit code 147). Check that the account or key may use this model."},
	{244, nil, "The Gemini API failed (HTTP 500, exit code 244). Try again later, or choose another `model`."},
	{247, nil, "The Gemini API is overloaded (HTTP 503, exit code 247). Try again later, or choose another `model`."},
	{0, regexp.MustCompile(`not running in a trusted directory|[Uu]ntrusted (?:folder|directory|workspace)|folder is not trusted`),
		"gemini does not trust this directory (exit code {exit}). Run `gemini` there once and trust it."},
	{0, regexp.MustCompile(`env: .?node.?: No such file or directory|\bnode: (?:command )?not found`),
		"gemini needs Node, and no `node` is on the server's PATH (exit code {exit})."},
	{0, nil, "gemini failed with exit code {exit}. Read the message below."},
}

// answer is what a run that succeeded has said.
type answer struct {
	text     string
	session  string
	warnings json.RawMessage
}

// failure is why there is no answer.
type failure struct {
	sentence string
	ran      bool // whether there is a stderr to quote
	stderr   string
}

func (f *failure) Error() string { return f.sentence }

// read turns an ended run into an answer or a failure.
func read(ended *outcome, private []string) (*answer, *failure) {
	stderr := strings.ToValidUTF8(string(ended.stderr), "\ufffd")
	shown := withhold(stderr, private)
	fail := func(sentence, said string) *failure {
		if said = mask(withhold(said, private)); said != "" {
			sentence += " Gemini CLI says: " + said
		}
		return &failure{sentence: sentence, ran: true, stderr: tail(mask(tail(shown, 8*stderrShown)), stderrShown)}
	}
	echoed := func(raw []byte) bool {
		for _, text := range private {
			if strings.Contains(text, string(raw)) {
				return true
			}
		}
		return false
	}

	switch {
	case ended.timedOut:
		return nil, fail("gemini did not finish in time and was stopped. Ask for less at once.", "")
	case ended.signal != 0:
		name, known := signalNames[ended.signal]
		if !known {
			name = strconv.Itoa(int(ended.signal))
		}
		return nil, fail("gemini was ended by signal "+name+
			". Try again; if it was the system that ran out of memory, ask for less at once.", "")
	case ended.exit != 0:
		said := ""
		if last := search([]byte(stderr), echoed).last; last != nil {
			said = message(last["error"])
		}
		for _, entry := range sentences {
			if (entry.exit == 0 || entry.exit == ended.exit) &&
				(entry.stderr == nil || entry.stderr.MatchString(shown)) {
				return nil, fail(strings.ReplaceAll(entry.text, "{exit}", strconv.Itoa(ended.exit)), said)
			}
		}
	}

	result := search(ended.stdout, func([]byte) bool { return false })
	switch {
	case result.last != nil && isGiven(result.last["error"]):
		return nil, fail("Gemini reported an error instead of an answer. Rephrase the prompt, or try again.",
			message(result.last["error"]))
	case result.last != nil:
		text, isText := asText(result.last["response"])
		if !isText {
			break
		}
		if text == "" && !hasItems(result.last["warnings"]) && asksNoModel(result.last["stats"]) {
			return nil, fail("gemini asked no model: the prompt may be too long for its context.", "")
		}
		session, _ := asText(result.last["session_id"])
		said := &answer{text: text, session: session}
		if isGiven(result.last["warnings"]) {
			said.warnings = result.last["warnings"]
		}
		return said, nil
	case len(bytes.TrimSpace(ended.stdout)) == 0:
		return nil, fail("gemini ended without any output. It may have been interrupted; try again.", "")
	case result.cut:
		return nil, fail("gemini ended in the middle of its answer: the JSON on its output is incomplete. Try again.", "")
	case !result.other:
		return &answer{text: string(ended.stdout)}, nil
	}
	return nil, fail("gemini printed JSON without a text in `response`. "+
		"Update Gemini CLI with `npm install -g @google/gemini-cli`, or try again.", "")
}

// asksNoModel tells whether the statistics count models, but none.
func asksNoModel(stats json.RawMessage) bool {
	var counted struct{ Models fields }
	return json.Unmarshal(stats, &counted) == nil && counted.Models != nil && len(counted.Models) == 0
}

// hasItems tells whether the JSON is a list that is not empty.
func hasItems(list json.RawMessage) bool {
	var items []json.RawMessage
	return json.Unmarshal(list, &items) == nil && len(items) > 0
}

var listed = regexp.MustCompile(`^[\s\v]*([0-9]+)\.[\s\v][^\n]*\[([^\[\]\s\v]+)\][^\[\]]*$`)

// newest returns the id of the entry with the highest index.
func newest(listing string) string {
	index, id := "", ""
	for _, line := range strings.Split(listing, "\n") {
		entry := listed.FindStringSubmatch(line)
		if entry == nil {
			continue
		}
		number := strings.TrimLeft(entry[1], "0")
		if id == "" || len(number) > len(index) || len(number) == len(index) && number > index {
			index, id = number, entry[2]
		}
	}
	return id
}
