package leasetest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease"
)

// family is the processes of one check and the directory of their IDs.
type family struct {
	h       NodesHarness
	dir     string
	started int
}

// process is a child process.
type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr text // also contains its log

	slot    int
	backend string
	ended   bool
}

// text is the output of a process.
type text struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements io.Writer.
func (t *text) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.buf.Write(p)
}

// String returns the output so far.
func (t *text) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.buf.String()
}

func newFamily(t *testing.T, h NodesHarness) *family {
	t.Helper()
	return &family{h: h, dir: t.TempDir()}
}

// launch starts a process without waiting until it is ready.
func (f *family) launch(t *testing.T, r role) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f.started++
	r.Address, r.File = f.h.Address, filepath.Join(f.dir, strconv.Itoa(f.started))
	spec, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: exec.CommandContext(t.Context(), self, "-test.run=^$")} //nolint:gosec // this very program
	p.cmd.Env = append(os.Environ(), childVariable.String()+"="+string(spec))
	p.cmd.Stderr = &p.stderr
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	return p
}

// start starts a process and waits until it has a node ID. It retries a few times if the
// process loses its lease before it is ready, as may happen with a short lease on a busy
// machine.
func (f *family) start(t *testing.T, r role) *process {
	t.Helper()
	for left := 2; ; left-- {
		p := f.launch(t, r)
		err := p.waitReady()
		if err == nil {
			return p
		}
		if left == 0 || !strings.Contains(err.Error(), xlease.ErrLost.Error()) {
			t.Fatalf("a process has no node ID: %v", err)
		}
		t.Logf("start another process: %v", err)
	}
}

// ready waits until the process has a node ID.
func (p *process) ready(t *testing.T) {
	t.Helper()
	if err := p.waitReady(); err != nil {
		t.Fatalf("a process has no node ID: %v", err)
	}
}

// waitReady waits until the process has a node ID, and returns its error otherwise.
func (p *process) waitReady() error {
	var err error
	switch words := strings.Fields(p.read()); {
	case len(words) == 3 && words[0] == "ready":
		p.backend = words[2]
		p.slot, err = strconv.Atoi(words[1])
		return err
	default:
		err = fmt.Errorf("%s: %s", strings.Join(words, " "), p.stderr.String())
		p.kill()
		return err
	}
}

// read returns the next response, or "" after the last.
func (p *process) read() string {
	for {
		line, err := p.out.ReadString('\n')
		if text, ok := strings.CutPrefix(line, responsePrefix); ok {
			return strings.TrimSpace(text)
		}
		_, _ = p.stderr.Write([]byte(line))
		if err != nil {
			return ""
		}
	}
}

// send sends a command without waiting for the response.
func (p *process) send(order string) { _, _ = io.WriteString(p.in, order+"\n") }

// order sends a command and checks the response.
func (p *process) order(t *testing.T, order, want string) {
	t.Helper()
	p.send(order)
	if got := p.read(); got != want {
		t.Fatalf("%s: response = %q, want %q; %s", order, got, want, p.stderr.String())
	}
}

// result is the result of generating IDs.
type result struct {
	made, failed int
	failure      string
}

// made reads the result of a make or stop command.
func (p *process) made(t *testing.T) result {
	t.Helper()
	var r result
	line := p.read()
	words := strings.SplitN(line, " ", 5)
	if len(words) != 5 || words[0] != "made" {
		t.Fatalf("response = %q, want a made response; %s", line, p.stderr.String())
	}
	r.made, _ = strconv.Atoi(words[1])
	r.failed, _ = strconv.Atoi(words[2])
	p.slot, _ = strconv.Atoi(words[3])
	r.failure = words[4]
	return r
}

// make generates n IDs.
func (p *process) make(t *testing.T, n int) result {
	t.Helper()
	p.send("make " + strconv.Itoa(n))
	return p.made(t)
}

// stop stops the run command.
func (p *process) stop(t *testing.T) result {
	t.Helper()
	p.send("stop")
	return p.made(t)
}

// recover generates IDs until no error occurs.
func (p *process) recover(t *testing.T, n int) {
	t.Helper()
	for start := time.Now(); ; pass(50 * time.Millisecond) {
		r := p.make(t, n)
		if r.failed == 0 {
			return
		}
		if time.Since(start) > maxDelay {
			t.Fatalf("a process generates no IDs after %s: %s", maxDelay, r.failure)
		}
	}
}

// close makes the process release its node ID and exit.
func (p *process) close(t *testing.T) {
	t.Helper()
	_ = p.in.Close()
	line := p.read()
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("a process exited with %v: %s %s", err, line, p.stderr.String())
	}
	p.ended = true
}

// kill kills the process.
func (p *process) kill() {
	if !p.ended {
		p.ended = true
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	}
}
