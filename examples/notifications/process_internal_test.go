//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/common/xbase"
	"github.com/plinthgo/plinth/core/defined/xenv"
)

// serviceKey makes the test binary run the service.
const serviceKey xenv.EnvKey = "NOTIFICATIONS_TEST_SERVICE"

func TestMain(m *testing.M) {
	if _, isService := xenv.GetEnv(serviceKey); isService {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// process is the service in a separate process.
type process struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines chan string
	out   bytes.Buffer // complete after lines is closed
	url   string
}

// line is a log line.
type line struct {
	Msg, Address, Subject, Text, Type string
	To                                []string
}

// launch starts the service in dir with only these variables, and waits until it is
// ready.
func launch(t *testing.T, dir string, env ...string) *process {
	t.Helper()
	p := &process{
		t: t, cmd: exec.CommandContext(t.Context(), os.Args[0]),
		lines: make(chan string, 100_000),
	}
	p.cmd.Dir = dir
	p.cmd.Env = append([]string{
		serviceKey.String() + "=1", "TMPDIR=" + dir, "PLINTH_PORT=0",
		"PLINTH_DRAIN_DELAY=0s", "LOG_DIR=none",
	}, env...)
	pipe, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.Stderr = p.cmd.Stdout
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.lines)
		for scan := bufio.NewScanner(pipe); scan.Scan(); {
			p.out.WriteString(scan.Text() + "\n")
			p.lines <- scan.Text()
		}
	}()
	p.url = p.await("ready").Address
	return p
}

// await returns the next log line with one of these messages.
func (p *process) await(messages ...string) line {
	p.t.Helper()
	watchdog := time.AfterFunc(20*time.Second, func() { _ = p.cmd.Process.Kill() })
	defer watchdog.Stop()
	for text := range p.lines {
		var l line
		if json.Unmarshal([]byte(text), &l) == nil && slices.Contains(messages, l.Msg) {
			return l
		}
	}
	p.t.Fatalf("the service exited without %q:\n%s", messages, p.out.String())
	return line{}
}

// exit waits until the service exits.
func (p *process) exit() (code int) {
	p.t.Helper()
	watchdog := time.AfterFunc(20*time.Second, func() { _ = p.cmd.Process.Kill() })
	defer watchdog.Stop()
	for range p.lines { // until the pipe is closed
	}
	if err, exit := p.cmd.Wait(), (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	return p.cmd.ProcessState.ExitCode()
}

// signal sends SIGTERM to the service.
func (p *process) signal() {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
}

// stop shuts the service down gracefully.
func (p *process) stop() {
	p.t.Helper()
	p.signal()
	if code := p.exit(); code != 0 {
		p.t.Errorf("exit code = %d, want 0:\n%s", code, p.out.String())
	}
}

// kill terminates the service without a shutdown.
func (p *process) kill() {
	p.t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		p.t.Fatal(err)
	}
	p.exit()
}

// request sends JSON and returns the status and the envelope. It decodes the data of the
// envelope into data unless data is nil.
func (p *process) request(method, path, language string, body, data any) (int, xbase.BaseResponse) {
	p.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		p.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(p.t.Context(), method, p.url+path, bytes.NewReader(text))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept-Language", language)
	client := &http.Client{
		Transport: &http.Transport{DisableKeepAlives: true},
		Timeout:   10 * time.Second,
	}
	resp, err := client.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	content, err := io.ReadAll(resp.Body)
	envelope := xbase.BaseResponse{Data: data}
	if err = errors.Join(err, json.Unmarshal(content, &envelope)); err != nil {
		p.t.Fatalf("%s: %v\n%s", path, err, content)
	}
	return resp.StatusCode, envelope
}

// signUp registers a user.
func (p *process) signUp(name, address, language string) {
	p.t.Helper()
	status, envelope := p.request(http.MethodPost, "/api/v1/signup",
		language, person(name, address), nil)
	if status != http.StatusOK {
		p.t.Fatalf("sign-up of %s = %d %+v", name, status, envelope)
	}
}
