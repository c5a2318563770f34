package guard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	typeJSON   = "application/json"
	typeStream = "text/event-stream"
)

// accept checks what the header says of the request, before the body is read.
func accept(r *http.Request) *refusal {
	if r.Method != http.MethodPost {
		no := refuse(http.StatusMethodNotAllowed, codeInvalidRequest, "method "+r.Method+" not allowed: send messages with POST")
		no.allow = allow
		return no
	}
	if !acceptsJSON(r.Header.Values("Accept")) {
		return refuse(http.StatusNotAcceptable, codeInvalidRequest, "the Accept header excludes "+typeJSON)
	}
	if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != typeJSON {
		return refuse(http.StatusUnsupportedMediaType, codeInvalidRequest, "the Content-Type must be "+typeJSON)
	}
	if e := r.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return refuse(http.StatusUnsupportedMediaType, codeInvalidRequest, "the body must have no Content-Encoding")
	}
	return nil
}

// acceptsJSON reports whether an Accept header (RFC 9110, section 12.5.1) admits JSON. One that is missing or empty does.
func acceptsJSON(values []string) bool {
	header := strings.Join(values, ",")
	if strings.TrimSpace(header) == "" {
		return true
	}
	specificity, accepted := 0, false
	for item := range strings.SplitSeq(header, ",") {
		name, params, err := mime.ParseMediaType(item)
		rank := map[string]int{"*/*": 1, "application/*": 2, typeJSON: 3}[name]
		if err != nil || rank < specificity || rank == 0 {
			continue
		}
		q, err := strconv.ParseFloat(params["q"], 64)
		yes := err != nil || q > 0
		accepted = yes || rank == specificity && accepted
		specificity = rank
	}
	return accepted
}

// complete returns the request as the SDK wants it: with an Accept header of both types, and a body that cannot fail.
func complete(r *http.Request, body []byte) *http.Request {
	whole := r.Clone(r.Context())
	whole.Header.Set("Accept", typeJSON+", "+typeStream)
	whole.Body = io.NopCloser(bytes.NewReader(body))
	whole.ContentLength = int64(len(body))
	whole.TransferEncoding = nil
	return whole
}

// read returns the body of a request, which is one JSON value.
func (g *guard) read(w http.ResponseWriter, r *http.Request) ([]byte, *refusal) {
	if r.ContentLength > g.maxBody {
		return nil, g.tooLarge()
	}
	// The server takes the deadline back at the end of the body. A recorder has none, and no slow client.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(g.readTimeout))
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, g.maxBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, g.tooLarge()
	case errors.Is(err, os.ErrDeadlineExceeded):
		no := refuse(http.StatusRequestTimeout, codeInvalidRequest, "the body did not arrive in time")
		no.disconnect = true
		return nil, no
	case err != nil:
		return nil, refuse(http.StatusBadRequest, codeInvalidRequest, "the body broke off")
	}
	return body, check(body)
}

func (g *guard) tooLarge() *refusal {
	no := refuse(http.StatusRequestEntityTooLarge, codeInvalidRequest, fmt.Sprintf("the body exceeds %d bytes", g.maxBody))
	no.disconnect = true
	return no
}

// check refuses what is not one JSON value. The SDK would overlook bytes that follow the first.
func check(body []byte) *refusal {
	switch {
	case len(body) == 0:
		return refuse(http.StatusBadRequest, codeParse, "parse error: the body is empty")
	case !utf8.Valid(body):
		return refuse(http.StatusBadRequest, codeParse, "parse error: the body is not UTF-8")
	}
	var value json.RawMessage
	if err := json.Unmarshal(body, &value); err != nil {
		return refuse(http.StatusBadRequest, codeParse, "parse error: "+err.Error())
	}
	var batch []json.RawMessage
	if json.Unmarshal(body, &batch) == nil && len(batch) > maxBatch {
		return refuse(http.StatusBadRequest, codeInvalidRequest, fmt.Sprintf("a batch holds %d messages at most", maxBatch))
	}
	return nil
}

// maxBatch bounds the messages of a batch, each of which may ask for a whole page.
const maxBatch = 16

// A message is what the guard needs of a JSON-RPC message.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
}

// parseMessage returns the zero message for what is no JSON object.
func parseMessage(body []byte) message {
	var m message
	if err := json.Unmarshal(body, &m); err != nil {
		return message{ID: m.ID}
	}
	return m
}

// id is the message's id where it is of a type that the protocol has: a string or a number.
func (m message) id() json.RawMessage {
	if len(m.ID) == 0 || m.ID[0] != '"' && m.ID[0] != '-' && (m.ID[0] < '0' || m.ID[0] > '9') {
		return nil
	}
	return m.ID
}
