// Package rpc reads JSON-RPC 2.0 messages as far as what stands in front of the protocol's SDK needs them, and writes errors.
//
// It refuses what the SDK would change without a word: the SDK keeps ids as 64-bit integers that were read as floating-point
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
)

// Error codes of JSON-RPC 2.0.
const (
	ParseError     = -32700
	InvalidRequest = -32600
	MethodNotFound = -32601
	InvalidParams  = -32602
	InternalError  = -32603
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

// A Message is a request, a notification, which has no ID, or an answer, which has no Method. What is no object has neither.
type Message struct {
	Text   json.RawMessage `json:"-"`
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
}

// Read returns the messages of a text. The answer is not nil where the text must not go any further.
func Read(text []byte) (Body, *Answer) {
	b, err := split(text)
	if err != nil {
		return Body{}, ptr(Refuse(ParseError, "parse error: "+err.Error()))
	}
	if len(b.Messages) > maxBatch {
		return Body{}, ptr(Refuse(InvalidRequest, fmt.Sprintf("a batch holds %d messages at most", maxBatch)))
	}
	seen := map[string]bool{}
	for _, m := range b.Messages {
		if no := m.check(); no != nil {
			return Body{}, no
		}
		if key, ok := m.Key(); ok && m.Method != "" {
			if seen[key] {
				return Body{}, ptr(Refuse(InvalidRequest, "two messages of the batch have the same id"))
			}
			seen[key] = true
		}
	}
	return b, nil
}

func split(text []byte) (Body, error) {
	switch {
	case len(text) == 0:
		return Body{}, errors.New("the message is empty")
	case !utf8.Valid(text):
		return Body{}, errors.New("the message is not UTF-8")
	}
	var whole json.RawMessage
	if err := json.Unmarshal(text, &whole); err != nil { // which tells of bytes behind the value, too
		return Body{}, err
	}
	if !bytes.HasPrefix(whole, []byte("[")) {
		return Body{Messages: []Message{parse(whole)}}, nil
	}
	var texts []json.RawMessage
	if err := json.Unmarshal(whole, &texts); err != nil {
		return Body{}, err
	}
	b := Body{Batch: true}
	for _, text := range texts {
		b.Messages = append(b.Messages, parse(text))
	}
	return b, nil
}

func parse(text json.RawMessage) Message {
	var m Message
	if err := json.Unmarshal(text, &m); err != nil {
		m = Message{ID: m.ID}
	}
	m.Text = text
	return m
}

// check refuses an id that would come back as another one.
func (m Message) check() *Answer {
	if m.Method == "" || len(m.ID) == 0 || m.ID[0] != '-' && (m.ID[0] < '0' || m.ID[0] > '9') {
		return nil
	}
	if n, err := strconv.ParseInt(string(m.ID), 10, 64); err != nil || n > maxNumber || n < -maxNumber || strconv.FormatInt(n, 10) != string(m.ID) {
		return ptr(Refuse(InvalidRequest, "the id must be a string, or an integer between -(2^53-1) and 2^53-1"))
	}
	return nil
}

// Answerable is the id where it is of a type that the protocol has, a string or a number, otherwise nil.
func (m Message) Answerable() json.RawMessage {
	if len(m.ID) == 0 || m.ID[0] != '"' && m.ID[0] != '-' && (m.ID[0] < '0' || m.ID[0] > '9') {
		return nil
	}
	return m.ID
}

// Key is the same text for ids that are the same however they are written.
func (m Message) Key() (key string, ok bool) {
	id := m.Answerable()
	if id == nil || id[0] != '"' {
		return string(id), id != nil
	}
	var text string
	err := json.Unmarshal(id, &text)
	return `"` + text, err == nil
}

func ptr(a Answer) *Answer { return &a }
