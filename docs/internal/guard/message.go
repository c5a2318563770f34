package guard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxBatch is the maximum number of messages of a batch, because each may request a whole
// page.
const maxBatch = 16

// maxNumber is the largest integer that all JSON libraries preserve (RFC 8259, section
// 6).
const maxNumber = 1<<53 - 1

// An errorResponse is a JSON-RPC error response. The ID is missing if it is unknown.
type errorResponse struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Error   problem         `json:"error"`
}

// A problem is a JSON-RPC error.
type problem struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

// A message is a request, a notification (without an ID), or a response (without a
// method).
type message struct {
	id      json.RawMessage
	members map[string]json.RawMessage
}

// readMessage returns the message of a body, or the zero message for a batch. If the
// error is not nil, the body is rejected; the error has the ID of a single message, if
// the ID is valid.
//
// readMessage rejects IDs that the SDK would change: the SDK converts them from floating
// point to 64-bit integers, so that 1.5 becomes 1 and 9007199254740993 becomes
// 9007199254740992.
func readMessage(body []byte) (message, *errorResponse) {
	texts, batch, err := split(body)
	switch {
	case err != nil:
		return message{}, newError(jsonrpc.CodeParseError, "parse error: "+err.Error())
	case len(texts) == 0:
		return message{}, newError(jsonrpc.CodeInvalidRequest, "the batch is empty")
	case len(texts) > maxBatch:
		return message{}, newError(jsonrpc.CodeInvalidRequest,
			fmt.Sprintf("a batch contains at most %d messages", maxBatch))
	}
	var m message
	for _, text := range texts {
		m = parse(text)
		if e := m.rejection(text); e != nil {
			if batch {
				e.ID = nil
			}
			return m, e
		}
	}
	if batch {
		return message{}, nil
	}
	return m, nil
}

// rejection returns the response to an invalid message, or nil if the message is valid.
func (m message) rejection(text json.RawMessage) *errorResponse {
	if m.isRequest() && m.validID() != nil && !m.preservesID() {
		return newError(jsonrpc.CodeInvalidRequest,
			"the id must be a string, or an integer between -(2^53-1) and 2^53-1")
	}
	if _, err := jsonrpc.DecodeMessage(text); err == nil && !m.malformed() {
		return nil
	}
	e := newError(jsonrpc.CodeInvalidRequest, "the value is not a JSON-RPC 2.0 message")
	if !m.isResponse() {
		e.ID = m.validID()
	}
	return e
}

func newError(code int, text string) *errorResponse {
	return &errorResponse{Version: "2.0", Error: problem{Code: code, Message: text}}
}

// malformed reports whether the message violates a rule of JSON-RPC 2.0 that the SDK does
// not enforce: a method is a string (section 4), and a response has either a result or an
// error (section 5).
func (m message) malformed() bool {
	if method, ok := m.members["method"]; ok {
		return method[0] != '"'
	}
	_, succeeded := m.members["result"]
	fault, failed := m.members["error"]
	return succeeded == failed || failed && !isError(fault)
}

// isResponse reports whether the message has a result or an error, and no method. Its ID
// belongs to the server.
func (m message) isResponse() bool {
	_, succeeded := m.members["result"]
	_, failed := m.members["error"]
	return (succeeded || failed) && !m.isRequest()
}

// isError reports whether the value is an error of JSON-RPC 2.0 (section 5.1).
func isError(value json.RawMessage) bool {
	var members map[string]json.RawMessage
	var code *int64
	var message *string
	err := errors.Join(
		json.Unmarshal(value, &members),
		json.Unmarshal(members["code"], &code),
		json.Unmarshal(members["message"], &message),
	)
	return err == nil && code != nil && message != nil
}

// split returns the messages of a body.
func split(text []byte) (messages []json.RawMessage, batch bool, err error) {
	switch {
	case len(text) == 0:
		return nil, false, errors.New("the message is empty")
	case !utf8.Valid(text):
		return nil, false, errors.New("the message is not UTF-8")
	}
	var whole json.RawMessage
	// also rejects trailing bytes
	if err := json.Unmarshal(text, &whole); err != nil {
		return nil, false, err
	}
	if !bytes.HasPrefix(whole, []byte("[")) {
		return []json.RawMessage{whole}, false, nil
	}
	return messages, true, json.Unmarshal(whole, &messages)
}

// parse returns the members of an object with exact names, like the SDK. It returns no
// members for other values.
func parse(text json.RawMessage) message {
	var m message
	_ = json.Unmarshal(text, &m.members)
	m.id = m.members["id"]
	return m
}

// preservesID reports whether the SDK returns the ID unchanged.
func (m message) preservesID() bool {
	if m.id[0] == '"' {
		return true
	}
	n, err := strconv.ParseInt(string(m.id), 10, 64)
	return err == nil && -maxNumber <= n && n <= maxNumber &&
		strconv.FormatInt(n, 10) == string(m.id)
}

// validID returns the ID if it is a string or a number, and nil otherwise.
func (m message) validID() json.RawMessage {
	if len(m.id) == 0 || m.id[0] != '"' && m.id[0] != '-' && (m.id[0] < '0' || m.id[0] > '9') {
		return nil
	}
	return m.id
}

// isNotification reports whether the message is a request without an id.
func (m message) isNotification() bool { return m.isRequest() && len(m.id) == 0 }

// isRequest reports whether the message has a method, which may be empty.
func (m message) isRequest() bool {
	_, ok := m.members["method"]
	return ok
}
