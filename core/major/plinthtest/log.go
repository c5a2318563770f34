package plinthtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"
)

// Line is a line of the log.
type Line struct {
	// Time, Level, Name, Message and RequestID are what every line has; Level is in lower case.
	Time                            time.Time
	Level, Name, Message, RequestID string
	// Attrs are the other attributes, as encoding/json reads them.
	Attrs map[string]any
}

// recorder keeps what is written.
type recorder struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (r *recorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

// String returns what was written.
func (r *recorder) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// parse reads lines of JSON.
func parse(text string) ([]Line, error) {
	var lines []Line
	for row := range strings.Lines(text) {
		var head struct {
			Time      time.Time `json:"time"`
			Level     string    `json:"level"`
			Name      string    `json:"name"`
			Message   string    `json:"msg"`
			RequestID string    `json:"request_id"`
		}
		attrs := map[string]any{}
		if err := json.Unmarshal([]byte(row), &head); err != nil {
			return nil, fmt.Errorf("%q is no line: %w", row, err)
		}
		if err := json.Unmarshal([]byte(row), &attrs); err != nil {
			return nil, fmt.Errorf("%q is no line: %w", row, err)
		}
		for _, key := range []string{"time", "level", "name", "msg", "request_id"} {
			delete(attrs, key)
		}
		lines = append(lines, Line{
			Time: head.Time, Level: head.Level, Name: head.Name, Message: head.Message, RequestID: head.RequestID, Attrs: attrs,
		})
	}
	return lines, nil
}
