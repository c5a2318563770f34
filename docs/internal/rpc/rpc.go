// Package rpc reads JSON-RPC 2.0 messages as far as what stands in front of the protocol's SDK needs them, and writes errors.
//
// It refuses what the SDK would end a session over stdio for, or answer with the names of its own types, and what it would change
// without a word: the SDK keeps ids as 64-bit integers that were read as floating-point
// numbers, so that 1.5 comes back as 1 and 9007199254740993 as 9007199254740992, and it answers one of two messages that
// share an id within a batch.
package rpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxBatch bounds the messages of a batch, each of which may ask for a whole page.
const maxBatch = 16

// maxNumber is the largest number that every JSON library keeps (RFC 8259, section 6).
const maxNumber = 1<<53 - 1

// An Answer is a message that says that something failed. Without an ID it belongs to no message.
type Answer struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Error   Error           `json:"error"`
}

// An Error is what failed.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

// Refuse returns an answer to no message.
func Refuse(code int, text string) Answer {
	return Answer{Version: "2.0", Error: Error{Code: code, Message: text}}
}

// A Body is one message, or a batch.
type Body struct {
	Messages []Message // one, or those of the batch
	Batch    bool
}

// A Message is a request, a notification, which has no ID, or an answer, which has no Method.
type Message struct {
	ID     json.RawMessage
	Method string

	members map[string]json.RawMessage
}

// Read returns the messages of a text. The answer is not nil where the text must not go any further; it has the id of the message
// where there is only one, and its id is not what is wrong.
func Read(text []byte) (Body, *Answer) {
	texts, batch, err := split(text)
	switch {
	case err != nil:
		return refuse(jsonrpc.CodeParseError, "parse error: "+err.Error())
	case len(texts) == 0:
		return refuse(jsonrpc.CodeInvalidRequest, "the batch holds no message")
	case len(texts) > maxBatch:
		return refuse(jsonrpc.CodeInvalidRequest, fmt.Sprintf("a batch holds %d messages at most", maxBatch))
	}
	b := Body{Batch: batch}
	seen := map[string]bool{}
	for _, text := range texts {
		m := parse(text)
		key, isCall := m.Call()
		_, err := jsonrpc.DecodeMessage(text)
		switch {
		case isCall && !m.keepsID():
			return refuse(jsonrpc.CodeInvalidRequest, "the id must be a string, or an integer between -(2^53-1) and 2^53-1")
		case err != nil || m.malformed():
			return Body{}, m.noMessage(batch)
		case isCall && seen[key]:
			return refuse(jsonrpc.CodeInvalidRequest, "two messages of the batch have the same id")
		}
		seen[key] = isCall
		b.Messages = append(b.Messages, m)
	}
	return b, nil
}

// noMessage returns the answer to a message that is malformed.
func (m Message) noMessage(batch bool) *Answer {
	_, no := refuse(jsonrpc.CodeInvalidRequest, "the value is no message of JSON-RPC 2.0")
	if !batch && !m.isAnswer() {
		no.ID = m.Answerable()
	}
	return no
}

// malformed reports whether the message breaks a rule of JSON-RPC 2.0 that the SDK does not enforce: a method
// is a string (section 4), and an answer has either a result or an error (section 5).
func (m Message) malformed() bool {
	if method, ok := m.members["method"]; ok {
		return method[0] != '"'
	}
	_, succeeded := m.members["result"]
	fault, failed := m.members["error"]
	return succeeded == failed || failed && !isError(fault)
}

// isAnswer reports whether the message has a result or an error, and no method. Its id is one of the server's.
func (m Message) isAnswer() bool {
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

func refuse(code int, text string) (Body, *Answer) {
	no := Refuse(code, text)
	return Body{}, &no
}

// split returns the texts of the messages in a text.
func split(text []byte) (messages []json.RawMessage, batch bool, err error) {
	switch {
	case len(text) == 0:
		return nil, false, errors.New("the message is empty")
	case !utf8.Valid(text):
		return nil, false, errors.New("the message is not UTF-8")
	}
	var whole json.RawMessage
	if err := json.Unmarshal(text, &whole); err != nil { // which tells of bytes behind the value, too
		return nil, false, err
	}
	if !bytes.HasPrefix(whole, []byte("[")) {
		return []json.RawMessage{whole}, false, nil
	}
	return messages, true, json.Unmarshal(whole, &messages)
}

// parse reads the names of members in their very case, as the SDK does. What is no object has none.
func parse(text json.RawMessage) Message {
	var m Message
	_ = json.Unmarshal(text, &m.members)
	m.ID = m.members["id"]
	_ = json.Unmarshal(m.members["method"], &m.Method)
	return m
}

// keepsID reports whether the SDK gives the id back as it came.
func (m Message) keepsID() bool {
	if m.ID[0] == '"' {
		return true
	}
	n, err := strconv.ParseInt(string(m.ID), 10, 64)
	return err == nil && -maxNumber <= n && n <= maxNumber && strconv.FormatInt(n, 10) == string(m.ID)
}

// Answerable is the id where it is of a type that the protocol has, a string or a number, otherwise nil.
func (m Message) Answerable() json.RawMessage {
	if len(m.ID) == 0 || m.ID[0] != '"' && m.ID[0] != '-' && (m.ID[0] < '0' || m.ID[0] > '9') {
		return nil
	}
	return m.ID
}

// Call reports whether the message is a request that is answered, and returns its key.
func (m Message) Call() (key string, ok bool) {
	key, ok = Key(m.Answerable())
	return key, ok && m.isRequest()
}

// IsNotification reports whether the message is a request without an id.
func (m Message) IsNotification() bool { return m.isRequest() && len(m.ID) == 0 }

// isRequest reports whether the message has a method, which may be the empty text.
func (m Message) isRequest() bool {
	_, ok := m.members["method"]
	return ok
}

// Key is the same text for ids that are the same however they are written.
func Key(id json.RawMessage) (key string, ok bool) {
	if len(id) == 0 || id[0] != '"' {
		return string(id), len(id) > 0
	}
	var text string
	err := json.Unmarshal(id, &text)
	return `"` + text, err == nil
}
