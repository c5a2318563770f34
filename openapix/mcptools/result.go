package mcptools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/plinthgo/plinth/core/common/xbase"
	"github.com/plinthgo/plinth/core/major/xapi"
	"github.com/plinthgo/plinth/core/major/xhttp"
)

// recorder records a response.
type recorder struct {
	header   http.Header
	status   int
	body     bytes.Buffer
	limit    int  // of the body
	exceeded bool // the body is larger
	aborted  bool // the handler aborted the response
}

var errTooLarge = errors.New("mcptools: the response is too large")

// Header implements http.ResponseWriter.
func (w *recorder) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *recorder) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.status = status
	}
}

// Write implements http.ResponseWriter.
func (w *recorder) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if w.exceeded = w.exceeded || len(p) > w.limit-w.body.Len(); w.exceeded {
		return 0, errTooLarge
	}
	return w.body.Write(p)
}

// Flush implements http.Flusher, which gin requires.
func (w *recorder) Flush() {}

// result returns the result of a call.
func (t *tool) result(w *recorder) *mcp.CallToolResult {
	switch {
	case w.exceeded:
		return failure(fmt.Sprintf("the response exceeds %d bytes: request less data", w.limit))
	case w.aborted:
		return failure("the response is incomplete")
	case w.status >= http.StatusBadRequest:
	case t.op.Response == xapi.ResponseEmpty:
		return text("success")
	case t.op.Response == xapi.ResponseJSON:
		return t.success(w.body.Bytes())
	}
	return t.envelope(w)
}

// envelope returns the result of a call whose response should be an envelope.
func (t *tool) envelope(w *recorder) *mcp.CallToolResult {
	var data json.RawMessage
	envelope := xbase.BaseResponse{Data: &data}
	err := json.Unmarshal(w.body.Bytes(), &envelope)
	switch {
	case err != nil || envelope.Output == "":
		return failure(foreign(w))
	case envelope.Output != xbase.OutputSuccess:
		envelope.Overhead = 0
		body, _ := json.Marshal(envelope) // it consists of valid JSON
		return failure(string(body))
	case t.tool.OutputSchema == nil:
		return text(envelope.Message)
	default:
		return t.success(data)
	}
}

// success returns a result with structured content.
func (t *tool) success(data json.RawMessage) *mcp.CallToolResult {
	if t.wrapped {
		members := map[string]json.RawMessage{}
		if len(data) > 0 {
			members[dataName] = data
		}
		data, _ = json.Marshal(members) // it consists of valid JSON
	}
	r := text(string(data))
	r.StructuredContent = data
	return r
}

const maxForeign = 1 << 10 // bytes

// foreign describes a response that is not an envelope, for example of a middleware.
func foreign(w *recorder) string {
	message := fmt.Sprintf("HTTP status %d %s", w.status, http.StatusText(w.status))
	kind, _, _ := mime.ParseMediaType(xhttp.ContentType.Get(w.header))
	if kind != mimeJSON && kind != "text/plain" {
		return message
	}
	body := w.body.Bytes()
	return message + ": " + strings.ToValidUTF8(string(body[:min(len(body), maxForeign)]), "")
}

func text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}

// failure returns a result with an error that the model can see.
func failure(s string) *mcp.CallToolResult {
	r := text(s)
	r.IsError = true
	return r
}
