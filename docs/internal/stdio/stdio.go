// Package stdio speaks the protocol over standard input and output, through the endpoint
// that speaks it over HTTP.
//
//	err := stdio.Serve(ctx, os.Stdin, os.Stdout, endpoint)
//
// Messages are lines (MCP, section stdio). They are answered one after the other, so that
// at the end of input every request has its answer. A line that is no message is answered
// with an error, as the endpoint does it, and the session goes on; an empty line is
// ignored.
package stdio

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// patience bounds the answer to one message.
	patience = 10 * time.Second
	// maxLine bounds what is kept of a line, in bytes. It is more than the endpoint
	// reads.
	maxLine = 2 << 20
)

// Serve answers the messages of in until its end, which is no error, or until ctx ends
// and a message has come. The streams are not closed.
func Serve(ctx context.Context, in io.Reader, out io.Writer, endpoint http.Handler) error {
	s := session{endpoint: endpoint}
	lines := bufio.NewReader(in)
	for ctx.Err() == nil {
		line, err := readLine(lines)
		if line = bytes.TrimSpace(line); len(line) > 0 {
			line = s.answer(ctx, line)
		}
		if len(line) > 0 {
			if _, err := out.Write(line); err != nil {
				return fmt.Errorf("write an answer: %w", err)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read a message: %w", err)
		}
	}
	return nil
}

// readLine returns the next line. Of one that is too long it keeps the beginning, which
// the endpoint refuses.
func readLine(lines *bufio.Reader) (line []byte, err error) {
	for {
		part, err := lines.ReadSlice('\n')
		line = append(line, part[:min(len(part), maxLine-len(line))]...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// A session knows what the protocol's headers say over HTTP.
type session struct {
	endpoint http.Handler
	version  string // that initialize has agreed on, if it was called
}

// answer returns the answer to a message as a line, or nothing where there is none. The
// endpoint writes each in one line.
func (s *session) answer(ctx context.Context, message []byte) []byte {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/",
		bytes.NewReader(message))
	if err != nil {
		return nil // the address is a constant, and valid
	}
	method := s.describe(r.Header, message)
	w := &response{header: http.Header{}}
	s.endpoint.ServeHTTP(w, r)
	if method == "initialize" {
		s.learn(w.body.Bytes())
	}
	var answers []byte
	for line := range bytes.Lines(w.body.Bytes()) { // one, or several events
		line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("data:")))
		if json.Valid(line) {
			answers = append(append(answers, line...), '\n')
		}
	}
	return answers
}

// describe sets the headers that repeat parts of a message, and returns its method.
func (s *session) describe(h http.Header, message []byte) (method string) {
	var m struct {
		Method string `json:"method"`
		Params struct {
			Name string         `json:"name"`
			URI  string         `json:"uri"`
			Meta map[string]any `json:"_meta"`
		} `json:"params"`
	}
	_ = json.Unmarshal(message, &m) // what is no message has no headers
	h.Set("Content-Type", "application/json")
	version, ok := m.Params.Meta[mcp.MetaKeyProtocolVersion].(string)
	if !ok && m.Method != "initialize" {
		version = s.version
	}
	for name, value := range map[string]string{
		"MCP-Protocol-Version": version, "Mcp-Method": m.Method,
		"Mcp-Name": m.Params.Name + m.Params.URI,
	} {
		if value != "" {
			h.Set(name, value)
		}
	}
	return m.Method
}

// learn takes the version from the answer to initialize.
func (s *session) learn(answer []byte) {
	var initialized struct {
		Result struct {
			Version string `json:"protocolVersion"`
		} `json:"result"`
	}
	if err := json.Unmarshal(answer, &initialized); err == nil && initialized.Result.Version != "" {
		s.version = initialized.Result.Version
	}
}

// A response keeps the body of an answer.
type response struct {
	header http.Header
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (w *response) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (*response) WriteHeader(int) {}

// Write implements http.ResponseWriter.
func (w *response) Write(p []byte) (int, error) { return w.body.Write(p) }
