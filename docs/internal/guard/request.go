package guard

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/plinthgo/plinth/docs/internal/accept"
)

const (
	typeJSON   = "application/json"
	typeStream = "text/event-stream"
)

// checkHeader checks the headers before the body is read.
func checkHeader(r *http.Request) *rejection {
	if r.Method != http.MethodPost {
		rejected := reject(http.StatusMethodNotAllowed, jsonrpc.CodeInvalidRequest,
			"method "+r.Method+" not allowed: send messages with POST")
		rejected.allow = allow
		return rejected
	}
	if !acceptsJSON(r.Header.Values("Accept")) {
		return reject(http.StatusNotAcceptable, jsonrpc.CodeInvalidRequest,
			"the Accept header excludes "+typeJSON)
	}
	if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != typeJSON {
		return reject(http.StatusUnsupportedMediaType, jsonrpc.CodeInvalidRequest,
			"the Content-Type must be "+typeJSON)
	}
	if e := r.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return reject(http.StatusUnsupportedMediaType, jsonrpc.CodeInvalidRequest,
			"the body must have no Content-Encoding")
	}
	return nil
}

// acceptsJSON reports whether an Accept header (RFC 9110, section 12.5.1) allows JSON. A
// missing or empty header allows JSON.
func acceptsJSON(values []string) bool {
	if strings.TrimSpace(strings.Join(values, "")) == "" {
		return true
	}
	specificity, accepted := 0, false
	for name, q := range accept.Items(values) {
		rank := map[string]int{"*/*": 1, "application/*": 2, typeJSON: 3}[name]
		if rank < specificity || rank == 0 {
			continue
		}
		accepted = q > 0 || rank == specificity && accepted
		specificity = rank
	}
	return accepted
}

// complete returns the request with an Accept header of both media types and a body in
// memory.
func complete(r *http.Request, body []byte) *http.Request {
	whole := r.Clone(r.Context())
	whole.Header.Set("Accept", typeJSON+", "+typeStream)
	whole.Body = io.NopCloser(bytes.NewReader(body))
	whole.ContentLength = int64(len(body))
	whole.TransferEncoding = nil
	return whole
}

// receive reads the body of a request.
func (g *guard) receive(w http.ResponseWriter, r *http.Request) ([]byte, *rejection) {
	if r.ContentLength > g.maxBody {
		return nil, g.tooLarge()
	}
	// The server resets the deadline after the body. A test recorder supports no
	// deadlines, and has no slow client.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(g.readTimeout))
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, g.maxBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, g.tooLarge()
	case errors.Is(err, os.ErrDeadlineExceeded):
		rejected := reject(http.StatusRequestTimeout, jsonrpc.CodeInvalidRequest,
			"timeout reading the body")
		rejected.disconnect = true
		return nil, rejected
	case err != nil:
		return nil, reject(http.StatusBadRequest, jsonrpc.CodeInvalidRequest, "the body is truncated")
	}
	return body, nil
}

func (g *guard) tooLarge() *rejection {
	rejected := reject(http.StatusRequestEntityTooLarge, jsonrpc.CodeInvalidRequest,
		fmt.Sprintf("the body exceeds %d bytes", g.maxBody))
	rejected.disconnect = true
	return rejected
}
