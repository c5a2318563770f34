package guard

import (
	"encoding/json"
	"mime"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Error codes of JSON-RPC 2.0.
const (
	codeParse          = -32700
	codeInvalidRequest = -32600
	codeMethodNotFound = -32601
	codeInternal       = -32603
)

// A refusal is a JSON-RPC error as an HTTP answer.
type refusal struct {
	status     int
	allow      string // the header, with 405
	disconnect bool   // part of the request is still to come

	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Error   rpcError        `json:"error"`
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func refuse(status, code int, text string) *refusal {
	return &refusal{status: status, Version: "2.0", Error: rpcError{Code: code, Message: text}}
}

func (no *refusal) write(w http.ResponseWriter) {
	h := w.Header()
	h.Del("Content-Length")
	h.Del("Content-Encoding")
	h.Set("Content-Type", typeJSON)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	if no.allow != "" {
		h.Set("Allow", no.allow)
	}
	if no.disconnect {
		h.Set("Connection", "close")
	}
	body, err := json.Marshal(no)
	if err != nil { // an id that was read from JSON can be written
		body = nil
	}
	w.WriteHeader(no.status)
	_, _ = w.Write(body) // the client has gone
}

// maxText bounds what is kept of a text that the SDK refuses with.
const maxText = 1 << 10

// A response passes on what the SDK answers, except that it holds back a plain text with an error's status until finish
// turns it into a refusal.
type response struct {
	http.ResponseWriter
	header  http.Header // of the request
	message []byte      // the body of the request
	begun   bool        // something was passed on
	held    int         // the status that is held back, or 0
	text    []byte
}

// WriteHeader implements http.ResponseWriter.
func (w *response) WriteHeader(status int) {
	if w.held != 0 {
		return
	}
	kind, _, _ := mime.ParseMediaType(w.Header().Get("Content-Type"))
	switch {
	case w.begun:
	case status >= http.StatusBadRequest && kind == "text/plain":
		w.held = status
		return
	case kind == typeStream:
		w.Header().Set("X-Accel-Buffering", "no")
	}
	w.begun = w.begun || status >= http.StatusOK
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *response) Write(p []byte) (int, error) {
	if w.held == 0 && !w.begun {
		w.WriteHeader(http.StatusOK)
	}
	if w.held == 0 {
		return w.ResponseWriter.Write(p)
	}
	w.text = append(w.text, p[:min(len(p), maxText-len(w.text))]...)
	return len(p), nil
}

// FlushError serves http.ResponseController.
func (w *response) FlushError() error {
	if w.held != 0 {
		return nil
	}
	if !w.begun {
		w.WriteHeader(http.StatusOK)
	}
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Unwrap serves http.ResponseController.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Texts of the SDK that are told apart.
const (
	unknownMethod  = "JSON RPC not handled"
	unknownVersion = "Unsupported protocol version"
)

// finish answers what was held back.
func (w *response) finish() {
	if w.held == 0 {
		return
	}
	m := parseMessage(w.message)
	text := strings.TrimPrefix(strings.TrimSpace(string(w.text)), "Bad Request: ")
	no := refuse(w.held, codeInvalidRequest, text)
	no.ID = m.id()
	switch {
	case w.held >= http.StatusInternalServerError:
		no.Error.Code = codeInternal
	case strings.HasPrefix(text, unknownVersion):
		no.Error.Code = mcp.CodeUnsupportedProtocolVersion
		no.Error.Data = mcp.UnsupportedProtocolVersionData{
			Supported: mcp.SupportedProtocolVersions(), Requested: w.header.Get("MCP-Protocol-Version"),
		}
	case strings.HasPrefix(text, unknownMethod) && m.Method != "" && len(m.ID) == 0:
		for _, name := range []string{"Content-Type", "X-Content-Type-Options"} {
			w.Header().Del(name)
		}
		w.ResponseWriter.WriteHeader(http.StatusAccepted)
		return
	case strings.HasPrefix(text, unknownMethod):
		no.Error.Code = codeMethodNotFound
		no.Error.Message = "method not found" + strings.TrimSuffix(strings.TrimPrefix(text, unknownMethod), " unsupported")
		if no.ID != nil {
			no.status = http.StatusOK
		}
	}
	no.write(w.ResponseWriter)
}
