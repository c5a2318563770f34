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

// family is the processes of one proof, and the folder of their ids.
type family struct {
	h       NodesHarness
	dir     string
	started int
}

// process is a child, seen from its parent.
type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr text // and what its log says

	slot    int
	backend string
	ended   bool
}

// text is what a process prints.
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

// String returns all so far.
func (t *text) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.buf.String()
}

func newFamily(t *testing.T, h NodesHarness) *family {
	t.Helper()
	return &family{h: h, dir: t.TempDir()}
}

// begin starts a process, which need not be ready.
func (f *family) begin(t *testing.T, r role) *process {
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

// start starts a process that must get a number. Where it has lost that again before it
// could say so, which a short lease on a busy machine makes possible, it starts another,
// a few times.
func (f *family) start(t *testing.T, r role) *process {
	t.Helper()
	for left := 2; ; left-- {
		p := f.begin(t, r)
		err := p.born()
		if err == nil {
			return p
		}
		if left == 0 || !strings.Contains(err.Error(), xlease.ErrLost.Error()) {
			t.Fatalf("a process has no number: %v", err)
		}
		t.Logf("another process is started: %v", err)
	}
}

// ready waits until the process has a number.
func (p *process) ready(t *testing.T) {
	t.Helper()
	if err := p.born(); err != nil {
		t.Fatalf("a process has no number: %v", err)
	}
}

// born waits until the process has a number, or has said why not.
func (p *process) born() error {
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

// read returns the next answer, or "" where there is none any more.
func (p *process) read() string {
	for {
		line, err := p.out.ReadString('\n')
		if text, ok := strings.CutPrefix(line, answer); ok {
			return strings.TrimSpace(text)
		}
		_, _ = p.stderr.Write([]byte(line))
		if err != nil {
			return ""
		}
	}
}

// tell gives an order without waiting for the answer.
func (p *process) tell(order string) { _, _ = io.WriteString(p.in, order+"\n") }

// order gives an order that must get a certain answer.
func (p *process) order(t *testing.T, order, want string) {
	t.Helper()
	p.tell(order)
	if got := p.read(); got != want {
		t.Fatalf("%s: a process says %q, want %q; %s", order, got, want, p.stderr.String())
	}
}

// result is what a process says of the ids that it was to make.
type result struct {
	made, failed int
	failure      string
}

// made reads the answer to an order to make ids, or to stop.
func (p *process) made(t *testing.T) result {
	t.Helper()
	var r result
	line := p.read()
	words := strings.SplitN(line, " ", 5)
	if len(words) != 5 || words[0] != "made" {
		t.Fatalf("a process says %q, want how many ids it made; %s", line, p.stderr.String())
	}
	r.made, _ = strconv.Atoi(words[1])
	r.failed, _ = strconv.Atoi(words[2])
	p.slot, _ = strconv.Atoi(words[3])
	r.failure = words[4]
	return r
}

// make makes ids, or finds out why there are none.
func (p *process) make(t *testing.T, n int) result {
	t.Helper()
	p.tell("make " + strconv.Itoa(n))
	return p.made(t)
}

// stop ends what run began.
func (p *process) stop(t *testing.T) result {
	t.Helper()
	p.tell("stop")
	return p.made(t)
}

// recover makes ids until they come without a failure.
func (p *process) recover(t *testing.T, n int) {
	t.Helper()
	for begin := time.Now(); ; pass(50 * time.Millisecond) {
		r := p.make(t, n)
		if r.failed == 0 {
			return
		}
		if time.Since(begin) > patience {
			t.Fatalf("a process makes no ids after %s: %s", patience, r.failure)
		}
	}
}

// close lets the process end and give its number back.
func (p *process) close(t *testing.T) {
	t.Helper()
	_ = p.in.Close()
	line := p.read()
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("a process ended with %v: %s %s", err, line, p.stderr.String())
	}
	p.ended = true
}

// kill ends the process on the spot.
func (p *process) kill() {
	if !p.ended {
		p.ended = true
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	}
}
