// What the server offers: revisions, limits, tools, as the specification has them.

package main

import (
	"encoding/json"
	"time"
)

const (
	serverName    = "gemini-mcp-server"
	serverVersion = "1.0.0"

	grace            = 600 * time.Millisecond // from SIGTERM to SIGKILL
	exitLimit        = 1700 * time.Millisecond
	timeout          = 600 * time.Second
	progressInterval = 5 * time.Second
	listingTimeout   = 8 * time.Second

	argumentLimit = 128000  // bytes of a prompt that travels as an argument
	promptLimit   = 8388608 // bytes of a prompt that gemini reads
	stderrShown   = 8192
	stderrKept    = 4 << 20
	secretLength  = 8 // shorter values of variables would mask ordinary words
	privateLength = 4 // so would shorter prompts
)

// The revisions of MCP that begin with initialize, the newest last.
var revisions = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}

// The revision whose requests carry their own version, and keys of its _meta.
const (
	stateless        = "2026-07-28"
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaClient       = "io.modelcontextprotocol/clientCapabilities"
	metaServer       = "io.modelcontextprotocol/serverInfo"
	listMilliseconds = 3600000
)

var serverInfo = object{"name": serverName, "version": serverVersion}

var toolDefinitions = []json.RawMessage{
	json.RawMessage(`{
  "name": "chat",
  "title": "Chat with Gemini",
  "description": "Starts a new Gemini session.",
  "inputSchema": {
    "type": "object",
    "properties": {
      "prompt": {"type": "string", "description": "The prompt that starts the session."},
      "model": {"type": "string", "description": "Optional: The model to use (e.g., 'gemini-3-pro', 'gemini-3-flash')."},
      "systemPrompt": {"type": "string", "description": "System prompt that sets how the assistant behaves."},
      "cwd": {"type": "string", "description": "Working directory in which the gemini CLI runs."}
    },
    "required": ["prompt"]
  },
  "annotations": {
    "title": "Chat with Gemini",
    "readOnlyHint": false,
    "destructiveHint": true,
    "idempotentHint": false,
    "openWorldHint": true
  }
}`),
	json.RawMessage(`{
  "name": "chat-reply",
  "title": "Reply in a Gemini session",
  "description": "Continues an existing Gemini session.",
  "inputSchema": {
    "type": "object",
    "properties": {
      "prompt": {"type": "string", "description": "The prompt that continues the conversation."},
      "sessionId": {"type": "string", "description": "ID of the session to continue. Without it the latest session is used."},
      "model": {"type": "string", "description": "The model to use for this turn."},
      "systemPrompt": {"type": "string", "description": "System prompt that sets how the assistant behaves."},
      "cwd": {"type": "string", "description": "Working directory in which the gemini CLI runs."}
    },
    "required": ["prompt"]
  },
  "annotations": {
    "title": "Reply in a Gemini session",
    "readOnlyHint": false,
    "destructiveHint": true,
    "idempotentHint": false,
    "openWorldHint": true
  }
}`),
}

// Arguments of each tool, in the order in which they are checked.
var toolArguments = map[string][]string{
	"chat":       {"prompt", "model", "systemPrompt", "cwd"},
	"chat-reply": {"prompt", "sessionId", "model", "systemPrompt", "cwd"},
}

type object = map[string]any
type fields = map[string]json.RawMessage
