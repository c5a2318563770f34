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

// processGroup contains the processes of one check and the directory of their IDs.
type processGroup struct {
	h       NodesHarness
	dir     string
	started int
}

// process is a child process.
type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr output // also contains its log

	slot    int
	backend string
	exited  bool
}

// output is the output of a process.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

// String returns the output so far.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

func newProcessGroup(t *testing.T, h NodesHarness) *processGroup {
	t.Helper()
	return &processGroup{h: h, dir: t.TempDir()}
}

// launch starts a process without waiting until it is ready.
func (g *processGroup) launch(t *testing.T, r childConfig) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	g.started++
	r.Address, r.File = g.h.Address, filepath.Join(g.dir, strconv.Itoa(g.started))
	spec, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: exec.CommandContext(t.Context(), self, "-test.run=^$")} //nolint:gosec // this program
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
func (g *processGroup) start(t *testing.T, r childConfig) *process {
	t.Helper()
	for retries := 2; ; retries-- {
		p := g.launch(t, r)
		err := p.waitReady()
		if err == nil {
			return p
		}
		if retries == 0 || !strings.Contains(err.Error(), xlease.ErrLost.Error()) {
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

// waitReady waits until the process has a node ID. It returns the error of a process that
// exits.
func (p *process) waitReady() error {
	var err error
	words := strings.Fields(p.read())
	if len(words) == 3 && words[0] == "ready" {
		p.backend = words[2]
		p.slot, err = strconv.Atoi(words[1])
		return err
	}
	err = fmt.Errorf("%s: %s", strings.Join(words, " "), p.stderr.String())
	p.kill()
	return err
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
func (p *process) send(command string) { _, _ = io.WriteString(p.in, command+"\n") }

// command sends a command and checks the response.
func (p *process) command(t *testing.T, command, want string) {
	t.Helper()
	p.send(command)
	if got := p.read(); got != want {
		t.Fatalf("%s: response = %q, want %q; %s", command, got, want, p.stderr.String())
	}
}

// result is the result of generating IDs.
type result struct {
	generated, failed int
	failure           string
}

// readResult reads the result of a generate or stop command.
func (p *process) readResult(t *testing.T) result {
	t.Helper()
	var r result
	line := p.read()
	words := strings.SplitN(line, " ", 5)
	if len(words) != 5 || words[0] != "generated" {
		t.Fatalf("response = %q, want the number of generated IDs; %s", line, p.stderr.String())
	}
	r.generated, _ = strconv.Atoi(words[1])
	r.failed, _ = strconv.Atoi(words[2])
	p.slot, _ = strconv.Atoi(words[3])
	r.failure = words[4]
	return r
}

// generate generates n IDs.
func (p *process) generate(t *testing.T, n int) result {
	t.Helper()
	p.send("generate " + strconv.Itoa(n))
	return p.readResult(t)
}

// stop stops the run command.
func (p *process) stop(t *testing.T) result {
	t.Helper()
	p.send("stop")
	return p.readResult(t)
}

// generateUntilOK generates n IDs repeatedly until no error occurs.
func (p *process) generateUntilOK(t *testing.T, n int) {
	t.Helper()
	for start := time.Now(); ; sleep(50 * time.Millisecond) {
		r := p.generate(t, n)
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
	p.exited = true
}

// kill kills the process.
func (p *process) kill() {
	if !p.exited {
		p.exited = true
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	}
}
