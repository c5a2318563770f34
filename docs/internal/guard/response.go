package guard

import (
	"encoding/json"
	"mime"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A rejection is an HTTP response with a JSON-RPC error.
type rejection struct {
	status     int
	allow      string // header Allow, for 405
	disconnect bool   // the request is not fully read

	errorResponse
}

func reject(status, code int, text string) *rejection {
	return &rejection{status: status, errorResponse: *newError(code, text)}
}

func (rejected *rejection) write(w http.ResponseWriter) {
	h := w.Header()
	h.Del("Content-Length")
	h.Del("Content-Encoding")
	h.Set("Content-Type", typeJSON)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	if rejected.allow != "" {
		h.Set("Allow", rejected.allow)
	}
	if rejected.disconnect {
		h.Set("Connection", "close")
	}
	body, err := json.Marshal(rejected.errorResponse)
	if err != nil { // an ID parsed from JSON can be encoded
		body = nil
	}
	w.WriteHeader(rejected.status)
	_, _ = w.Write(body) // the client disconnected
}

// maxText is the number of bytes that are kept of an SDK error.
const maxText = 1 << 10

// A response forwards the SDK's response. It holds back a plain-text error until finish
// converts it to a rejection.
type response struct {
	http.ResponseWriter
	header  http.Header // of the request
	message message     // of the request
	started bool        // the response has started
	held    int         // status of the error that is held back, or 0
	text    []byte
}

// WriteHeader implements http.ResponseWriter.
func (w *response) WriteHeader(status int) {
	if w.held != 0 {
		return
	}
	kind, _, _ := mime.ParseMediaType(w.Header().Get("Content-Type"))
	switch {
	case w.started:
	case status >= http.StatusBadRequest && kind == "text/plain":
		w.held = status
		return
	case kind == typeStream:
		w.Header().Set("X-Accel-Buffering", "no")
	}
	w.started = w.started || status >= http.StatusOK
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *response) Write(p []byte) (int, error) {
	if w.held == 0 && !w.started {
		w.WriteHeader(http.StatusOK)
	}
	if w.held == 0 {
		// the SDK writes a response at once
		if _, err := w.ResponseWriter.Write(plain(p)); err != nil {
			return 0, err
		}
		return len(p), nil
	}
	w.text = append(w.text, p[:min(len(p), maxText-len(w.text))]...)
	return len(p), nil
}

// FlushError implements flushing for http.ResponseController.
func (w *response) FlushError() error {
	if w.held != 0 {
		return nil
	}
	if !w.started {
		w.WriteHeader(http.StatusOK)
	}
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Unwrap supports http.ResponseController.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// SDK errors with their own codes.
const (
	unknownMethod  = "JSON RPC not handled"
	unknownVersion = "Unsupported protocol version"
)

// finish sends the error that was held back.
func (w *response) finish() {
	if w.held == 0 {
		return
	}
	m := w.message
	text := strings.TrimPrefix(strings.TrimSpace(string(w.text)), "Bad Request: ")
	rejected := reject(w.held, jsonrpc.CodeInvalidRequest, text)
	rejected.ID = m.validID()
	switch {
	case w.held >= http.StatusInternalServerError:
		rejected.Error.Code = jsonrpc.CodeInternalError
	case strings.HasPrefix(text, unknownVersion):
		rejected.Error.Code = mcp.CodeUnsupportedProtocolVersion
		rejected.Error.Data = mcp.UnsupportedProtocolVersionData{
			Supported: mcp.SupportedProtocolVersions(),
			Requested: w.header.Get("MCP-Protocol-Version"),
		}
	case strings.HasPrefix(text, unknownMethod) && m.isNotification():
		for _, name := range []string{"Content-Type", "X-Content-Type-Options"} {
			w.Header().Del(name)
		}
		w.ResponseWriter.WriteHeader(http.StatusAccepted)
		return
	case strings.HasPrefix(text, unknownMethod):
		rejected.Error.Code = jsonrpc.CodeMethodNotFound
		rejected.Error.Message = "method not found" +
			strings.TrimSuffix(strings.TrimPrefix(text, unknownMethod), " unsupported")
		if rejected.ID != nil {
			rejected.status = http.StatusOK
		}
	}
	rejected.write(w.ResponseWriter)
}
