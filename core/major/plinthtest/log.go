package plinthtest

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"
)

// recorder stores everything that is written to it.
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

func (r *recorder) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// LogText returns the log of the application, one JSON object per line.
func (a *App) LogText() string { return a.logs.String() }

// LogsOf returns the log lines with this message, decoded by encoding/json: time, level,
// name, msg, request_id and the attributes.
func (a *App) LogsOf(message string) []map[string]any {
	a.tb.Helper()
	var list []map[string]any
	for row := range strings.Lines(a.LogText()) {
		var line map[string]any
		if err := json.Unmarshal([]byte(row), &line); err != nil {
			a.tb.Fatalf("plinthtest: log: %q is not a JSON line: %v", row, err)
		}
		if line["msg"] == message {
			list = append(list, line)
		}
	}
	return list
}
