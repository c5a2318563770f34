// Package stdio serves the protocol over standard input and output through the HTTP
// endpoint.
//
//	err := stdio.Serve(ctx, os.Stdin, os.Stdout, endpoint)
//
// Messages are lines (MCP, section stdio). Serve handles them one after another, so that
// every request has a response at the end of the input. An invalid line receives an error
// from the endpoint, and the session continues. Empty lines are ignored.
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
	// requestTimeout is the timeout of a message.
	requestTimeout = 10 * time.Second
	// maxLine is the number of bytes that are kept of a line. It is larger than the limit
	// of the endpoint.
	maxLine = 2 << 20
)

// Serve responds to the messages of in until its end, when it returns nil, or until the
// first message after ctx is done. It does not close the streams.
func Serve(ctx context.Context, in io.Reader, out io.Writer, endpoint http.Handler) error {
	s := session{endpoint: endpoint}
	lines := bufio.NewReader(in)
	for ctx.Err() == nil {
		line, err := readLine(lines)
		if line = bytes.TrimSpace(line); len(line) > 0 {
			line = s.respond(ctx, line)
		}
		if len(line) > 0 {
			if _, err := out.Write(line); err != nil {
				return fmt.Errorf("write response: %w", err)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read message: %w", err)
		}
	}
	return nil
}

// readLine returns the next line. It truncates a long line, which the endpoint then
// rejects.
func readLine(lines *bufio.Reader) (line []byte, err error) {
	for {
		part, err := lines.ReadSlice('\n')
		line = append(line, part[:min(len(part), maxLine-len(line))]...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// A session stores the values of the HTTP headers of the protocol.
type session struct {
	endpoint http.Handler
	version  string // negotiated by initialize, if called
}

// respond returns the response to a message as a line, or nil. The endpoint writes each
// response as one line.
func (s *session) respond(ctx context.Context, message []byte) []byte {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/",
		bytes.NewReader(message))
	if err != nil {
		return nil // the address is a valid constant
	}
	method := s.describe(r.Header, message)
	w := &response{header: http.Header{}}
	s.endpoint.ServeHTTP(w, r)
	if method == "initialize" {
		s.learn(w.body.Bytes())
	}
	var responses []byte
	for line := range bytes.Lines(w.body.Bytes()) { // one line, or several events
		line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("data:")))
		if json.Valid(line) {
			responses = append(append(responses, line...), '\n')
		}
	}
	return responses
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
	_ = json.Unmarshal(message, &m) // an invalid message has no headers
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

// learn stores the version of the response to initialize.
func (s *session) learn(response []byte) {
	var initialized struct {
		Result struct {
			Version string `json:"protocolVersion"`
		} `json:"result"`
	}
	if err := json.Unmarshal(response, &initialized); err == nil && initialized.Result.Version != "" {
		s.version = initialized.Result.Version
	}
}

// A response records the body of a response.
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
