// Package stdio stands between standard input and output and the protocol's SDK, and answers what the SDK would end the session
// for.
//
//	err := server.Run(ctx, stdio.New(os.Stdin, os.Stdout))
//
// Messages are lines (MCP, section stdio). The SDK takes a line that it cannot read for the end of the session, and at the end of
// its input it drops the answers that it still works on. Here a line that is no message is answered with an error, without an id
// where none could be read, and the session goes on; the end of input is passed on when every request is answered, or after
// a grace of ten seconds. A client that does not read its answers holds the session up until it ends.
//
//	a line that is empty                                  ignored
//	a line that is not UTF-8 or not one JSON value        -32700
//	a line above 1 MiB                                    -32600
//	a value that is no message, an id that would change   -32600
//	a batch where the version has none, or of too many    -32600
//	a request with the id of one that is not answered     -32600
package stdio

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/plinthgo/plinth/docs/internal/rpc"
)

const (
	// maxLine bounds a line, in bytes.
	maxLine = 1 << 20
	// grace is how long requests may take that are not answered at the end of input.
	grace = 10 * time.Second
)

// withBatches are the versions of the protocol that have batches.
var withBatches = []string{"2024-11-05", "2025-03-26"}

// New returns a transport over two streams, which are not closed. The session ends at the end of in.
func New(in io.Reader, out io.Writer) mcp.Transport {
	f := &filter{in: bufio.NewReader(in), out: out, open: map[string]bool{}, closed: make(chan struct{})}
	f.answered.L = &f.mu
	return &mcp.IOTransport{Reader: reader{f}, Writer: writer{f}, MaxLineLength: -1} // the length is bounded here
}

// A filter is what reader and writer share.
type filter struct {
	in   *bufio.Reader // of the goroutine that reads
	rest []byte        // of the line that is being read

	writing sync.Mutex // one line at a time; not mu, which a client that does not read must not hold up
	out     io.Writer

	mu       sync.Mutex
	answered sync.Cond       // an answer was written, or the session is closed
	open     map[string]bool // keys of the requests that are not answered; true for initialize
	leaving  int             // answers that are being written
	batches  bool            // the client speaks a version that has them

	once   sync.Once
	closed chan struct{}
}

type (
	reader struct{ *filter }
	writer struct{ *filter }
)

// Read implements io.Reader.
func (f reader) Read(p []byte) (int, error) {
	for len(f.rest) == 0 {
		line, err := f.line()
		if errors.Is(err, errLong) {
			f.answer(rpc.Refuse(jsonrpc.CodeInvalidRequest, err.Error()))
			continue
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			if no := f.admit(line); no != nil {
				f.answer(*no)
			} else {
				f.rest = append(line, '\n')
			}
		}
		if err != nil && len(f.rest) == 0 {
			f.settle()
			return 0, err
		}
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

var errLong = fmt.Errorf("a message has %d bytes at most", maxLine)

// line returns the next line, or errLong in place of one that is too long.
func (f reader) line() ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := f.in.ReadSlice('\n')
		if long = long || len(line)+len(bytes.TrimRight(part, "\r\n")) > maxLine; !long {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case long && (err == nil || errors.Is(err, io.EOF)):
			return nil, errLong
		case err != nil && !errors.Is(err, io.EOF):
			return line, fmt.Errorf("read a message: %w", err)
		default:
			return line, err
		}
	}
}

// admit returns the answer to a line that the SDK must not see, and otherwise takes note of its requests.
func (f reader) admit(line []byte) *rpc.Answer {
	b, no := rpc.Read(line)
	f.mu.Lock()
	defer f.mu.Unlock()
	if no != nil {
		if key, ok := rpc.Key(no.ID); ok && f.isOpen(key) {
			no.ID = nil // that of another answer
		}
		return no
	}
	if err := f.note(b); err != nil {
		refused := rpc.Refuse(jsonrpc.CodeInvalidRequest, err.Error())
		return &refused
	}
	return nil
}

// note keeps the ids of requests until they are answered. It is called with mu held, as isOpen.
func (f *filter) note(b rpc.Body) error {
	if b.Batch && !f.batches {
		return errors.New("this version of the protocol has no batches: send one message a line")
	}
	calls := map[string]bool{}
	for _, m := range b.Messages {
		key, ok := m.Call()
		if !ok {
			continue
		}
		if f.isOpen(key) {
			return errors.New("the id is that of a request which is not answered yet")
		}
		calls[key] = m.Method == "initialize"
	}
	maps.Copy(f.open, calls)
	return nil
}

func (f *filter) isOpen(key string) bool {
	_, open := f.open[key]
	return open
}

// learn takes from the answer to initialize whether batches may follow.
func (f *filter) learn(line []byte) {
	var answer struct {
		Result struct {
			Version string `json:"protocolVersion"`
		} `json:"result"`
	}
	if err := json.Unmarshal(line, &answer); err == nil && answer.Result.Version != "" {
		f.batches = slices.Contains(withBatches, answer.Result.Version)
	}
}

// settle waits until every answer is written, or the session is closed.
func (f reader) settle() {
	late := time.AfterFunc(grace, f.close)
	defer late.Stop()
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.open) > 0 || f.leaving > 0 {
		select {
		case <-f.closed:
			return
		default:
			f.answered.Wait()
		}
	}
}

// answer writes an answer that the SDK knows nothing of.
func (f *filter) answer(a rpc.Answer) {
	line, err := json.Marshal(a)
	if err != nil { // an id that was read from JSON can be written
		return
	}
	f.writing.Lock()
	defer f.writing.Unlock()
	_, _ = f.out.Write(append(line, '\n')) // the SDK notices a reader that has gone
}

// Write implements io.Writer. The SDK writes whole lines.
func (f writer) Write(line []byte) (int, error) {
	f.answers(line)
	f.writing.Lock()
	_, err := f.out.Write(rpc.Plain(line))
	f.writing.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.leaving--
	f.answered.Broadcast()
	if err != nil {
		return 0, err // as it is
	}
	return len(line), nil
}

// answers frees the ids that a line answers, before the client reads it and uses them again.
func (f writer) answers(line []byte) {
	b, _ := rpc.Read(bytes.TrimSpace(line))
	f.mu.Lock()
	defer f.mu.Unlock()
	f.leaving++
	for _, m := range b.Messages {
		key, ok := rpc.Key(m.Answerable())
		if !ok || m.Method != "" {
			continue
		}
		if f.open[key] {
			f.learn(line)
		}
		delete(f.open, key)
	}
}

// close wakes who waits for answers.
func (f *filter) close() {
	f.once.Do(func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		close(f.closed)
		f.answered.Broadcast()
	})
}

// Close implements io.Closer.
func (f reader) Close() error {
	f.close()
	return nil
}

// Close implements io.Closer.
func (f writer) Close() error { return nil }
