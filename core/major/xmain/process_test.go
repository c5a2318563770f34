//go:build unix

package xmain_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/major/xhook"
	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/core/major/xreg/xregnode"
	"github.com/plinthgo/plinth/core/major/xresult"
)

// programs are the main functions that this test binary can play.
var programs = map[string]func(){
	"serve": func() { serve() },
	"panic": func() { serve(func(context.Context, ...any) { panic("task gone wrong") }) },
	"hang": func() {
		serve(func(ctx context.Context, _ ...any) {
			<-ctx.Done()
			xlog.Info(ctx, "task hangs")
			select {}
		})
	},
	"begun":                          begun,
	"signal at the end of the start": signalAtTheEndOfTheStart,
	"signal between":                 signalBetween,
	"two signals between":            twoSignalsBetween,
	"signal in the start hook":       signalInTheStartHook,
	"blocked logger":                 blockedLogger,
	"stubborn start":                 stubbornStart,
	"registered":                     registered,
	"ignored hangup":                 func() { signal.Ignore(syscall.SIGHUP); serve() },
	"slow start": func() {
		serveNodes([]xregnode.Node{{
			Key:  "closes",
			Node: func(context.Context) (any, error) { return said{"node closed"}, nil },
		}, {
			Key: "slow", Node: func(ctx context.Context) (any, error) {
				xlog.Info(ctx, "node starts slowly")
				<-ctx.Done()
				return nil, context.Cause(ctx)
			},
		}})
	},
}

// said is a value that says in the log that it was closed.
type said struct{ what string }

func (s said) Close() { xlog.Info(context.Background(), s.what) }

func serve(tasks ...xmain.Task) {
	serveNodes([]xregnode.Node{{Key: "node", Node: func(context.Context) (any, error) {
		return said{"node closed"}, nil
	}}}, tasks...)
}

func serveNodes(nodes []xregnode.Node, tasks ...xmain.Task) {
	reg := xreg.Register(context.Background(), nodes, xoption.WithHealth(),
		xoption.WithRoute(func(ctx context.Context, e *gin.Engine) {
			xhook.OnStop(ctx, "hook",
				func(ctx context.Context) error { xlog.Info(ctx, "stop hook"); return nil })
			e.GET("/work", func(c *gin.Context) {
				select {
				case <-time.After(3 * time.Millisecond):
					xresult.Success(c, "worked")
				case <-c.Request.Context().Done():
					_ = c.Error(c.Request.Context().Err())
				}
			})
		}))
	xmain.Runner(reg, nil, nil, tasks...)
}

// process is a program that runs.
type process struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines chan string

	mu  sync.Mutex
	out strings.Builder
}

// play starts a program with an environment of its own.
func play(t *testing.T, name string, env ...string) *process {
	t.Helper()
	p, pipe := prepareProgram(t, name, env...)
	go p.read(bufio.NewScanner(pipe))
	return p
}

// prepareProgram starts a program whose output nobody reads yet.
func prepareProgram(t *testing.T, name string, env ...string) (*process, io.Reader) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a process")
	}
	p := &process{
		t: t, cmd: exec.CommandContext(t.Context(), os.Args[0]),
		lines: make(chan string, 10000),
	}
	p.cmd.Dir = t.TempDir()
	p.cmd.Env = append([]string{
		programKey.String() + "=" + name, "PATH=" + p.cmd.Dir, "HOME=" + p.cmd.Dir,
		"TMPDIR=" + p.cmd.Dir,
		"PLINTH_HOST=127.0.0.1", "PLINTH_PORT=0", "LOG_DIR=none", "PLINTH_DRAIN_DELAY=0s",
	}, env...)
	pipe, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.Stderr = p.cmd.Stdout
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return p, pipe
}

// read reads the output to its end.
func (p *process) read(scan *bufio.Scanner) {
	defer close(p.lines)
	for scan.Scan() {
		p.mu.Lock()
		p.out.WriteString(scan.Text() + "\n")
		p.mu.Unlock()
		p.lines <- scan.Text()
	}
}

// output returns what the program has written.
func (p *process) output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.String()
}

// line waits for a line of the log with this message.
func (p *process) line(msg string) map[string]any {
	p.t.Helper()
	timeout := time.After(patience)
	for {
		select {
		case text, ok := <-p.lines:
			var line map[string]any
			if json.Unmarshal([]byte(text), &line) == nil && line["msg"] == msg {
				return line
			}
			if !ok {
				p.t.Fatalf("ended without the line %q:\n%s", msg, p.output())
			}
		case <-timeout:
			p.t.Fatalf("no line %q in\n%s", msg, p.output())
		}
	}
}

// signal sends a signal.
func (p *process) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// exit waits for the end and returns the exit code and how long it took.
func (p *process) exit() (code int, took time.Duration) {
	p.t.Helper()
	began := time.Now()
	for range p.lines { // until the pipe is closed
	}
	err := p.cmd.Wait()
	if e := (*exec.ExitError)(nil); err != nil && !errors.As(err, &e) {
		p.t.Fatal(err)
	}
	return p.cmd.ProcessState.ExitCode(), time.Since(began)
}

// order reports whether the output holds these texts one after the other.
func (p *process) order(texts ...string) {
	p.t.Helper()
	rest := p.output()
	for _, text := range texts {
		_, after, found := strings.Cut(rest, text)
		if !found {
			p.t.Errorf("%q is missing or too early in\n%s", text, p.output())
			return
		}
		rest = after
	}
}

// load sends requests until new connections are refused.
type load struct {
	url       string
	served    atomic.Int64 // before and during the drain
	unready   atomic.Bool  // /readyz has said 503
	after     atomic.Int64 // served since then
	mu        sync.Mutex
	failures  []string
	keepAlive bool
}

func (l *load) fail(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failures = append(l.failures, fmt.Sprintf(format, args...))
}

// client sends one request after the other.
func (l *load) client(ctx context.Context) {
	client := &http.Client{
		Transport: &http.Transport{DisableKeepAlives: !l.keepAlive},
		Timeout:   patience,
	}
	defer client.CloseIdleConnections()
	for {
		req, _ := http.NewRequestWithContext(ctx, http.MethodPost, l.url+"/work",
			strings.NewReader("{}"))
		req.Method = http.MethodGet
		resp, err := client.Do(req)
		if errors.Is(err, syscall.ECONNREFUSED) {
			return
		}
		if err != nil {
			l.fail("%v", err)
			return
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK ||
			!strings.Contains(string(body), `"message":"worked"`) {
			l.fail("%d %s %v", resp.StatusCode, body, err)
			return
		}
		l.served.Add(1)
		if l.unready.Load() {
			l.after.Add(1)
		}
	}
}

// watch asks for the readiness until it is no.
func (l *load) watch(ctx context.Context) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	for {
		req, _ := http.NewRequestWithContext(ctx, http.MethodGet, l.url+"/readyz", http.NoBody)
		resp, err := client.Do(req)
		if err != nil {
			l.fail("/readyz never said no: %v", err)
			return
		}
		_ = resp.Body.Close()
		if resp.StatusCode == http.StatusServiceUnavailable {
			l.unready.Store(true)
			return
		}
	}
}

func TestStopUnderLoadLosesNoRequest(t *testing.T) {
	for _, keepAlive := range []bool{true, false} {
		t.Run(fmt.Sprintf("keep-alive %t", keepAlive), func(t *testing.T) {
			p := play(t, "serve", "PLINTH_DRAIN_DELAY=700ms")
			ready := p.line("ready")
			l := &load{url: ready["address"].(string), keepAlive: keepAlive}
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() { l.client(t.Context()) })
			}
			wg.Go(func() { l.watch(t.Context()) })
			for l.served.Load() < 100 {
				time.Sleep(time.Millisecond) //nolint:forbidigo // the clients are under way in other goroutines
			}
			p.signal(syscall.SIGTERM)
			code, took := p.exit()
			wg.Wait()
			if code != 0 {
				t.Errorf("exit code = %d, want 0:\n%s", code, p.output())
			}
			if len(l.failures) > 0 {
				t.Errorf("%d of %d requests failed, the first: %s",
					len(l.failures), l.served.Load(), l.failures[0])
			}
			if !l.unready.Load() || l.after.Load() == 0 {
				t.Errorf("not ready: %t, served after that: %d; want both",
					l.unready.Load(), l.after.Load())
			}
			if took < 700*time.Millisecond {
				t.Errorf("the stop took %s, less than the drain delay", took)
			}
			p.order("stopping", "stop hook", "node closed", "stopped")
			t.Logf("%d requests, %d of them in the drain delay, stop took %s",
				l.served.Load(), l.after.Load(), took)
		})
	}
}

func TestInterruptEndsInOrderToo(t *testing.T) {
	p := play(t, "serve")
	p.line("ready")
	p.signal(syscall.SIGINT)
	if code, _ := p.exit(); code != 0 {
		t.Errorf("exit code = %d, want 0", code)
	}
	p.order("stop hook", "node closed", "stopped")
	if strings.Contains(p.output(), "stop requested") {
		t.Errorf("the start still speaks of the stop, which is the Runner's:\n%s", p.output())
	}
}

func TestSecondSignalEndsAtOnce(t *testing.T) {
	for _, tc := range []struct {
		second syscall.Signal
		want   int
	}{{syscall.SIGTERM, 143}, {syscall.SIGINT, 130}} {
		t.Run(tc.second.String(), func(t *testing.T) {
			p := play(t, "hang")
			p.line("ready")
			p.signal(syscall.SIGTERM)
			p.line("task hangs")
			p.signal(tc.second)
			code, took := p.exit()
			if code != tc.want || took > 5*time.Second {
				t.Errorf("exit code = %d after %s, want %d at once", code, took, tc.want)
			}
		})
	}
}

func TestShutdownTimeoutBoundsTheWholeStop(t *testing.T) {
	p := play(t, "hang", "PLINTH_SHUTDOWN_TIMEOUT=500ms")
	p.line("ready")
	p.signal(syscall.SIGTERM)
	code, took := p.exit()
	if code != 1 || took > 3*time.Second {
		t.Errorf("exit code = %d after %s, want 1 soon after 500ms", code, took)
	}
	p.order("stop hook", "node closed", "tasks are still running")
}

func TestPanicOfATaskExitsWith1(t *testing.T) {
	p := play(t, "panic")
	if code, _ := p.exit(); code != 1 {
		t.Errorf("exit code = %d, want 1", code)
	}
	p.order("task gone wrong", "stop hook", "node closed")
}

func TestPortInUseExitsWith1AndNamesTheVariable(t *testing.T) {
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	p := play(t, "serve", "PLINTH_PORT="+port)
	code, took := p.exit()
	if code != 1 || took > 5*time.Second {
		t.Errorf("exit code = %d after %s, want 1 within 5s", code, took)
	}
	p.order("node closed", "PLINTH_PORT", "address already in use")
}

func TestWrongSettingsExitWith1AndOneLineEach(t *testing.T) {
	p := play(t, "serve", "PLINTH_PORT=abc", "LOG_LEVEL=loud", "DATABASE_PASS=s3cret",
		"NOSQL_PORT=x")
	code, took := p.exit()
	if code != 1 || took > 5*time.Second {
		t.Errorf("exit code = %d after %s, want 1 within 5s", code, took)
	}
	out := p.output()
	if strings.Count(out, "\n") != 3 || strings.Contains(out, "s3cret") {
		t.Errorf("output\n%s\nwant three lines without a secret", out)
	}
	for _, want := range []string{
		`PLINTH_PORT: \"abc\"`, `LOG_LEVEL: \"loud\"`,
		`NOSQL_PORT: \"x\"`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("output\n%s\nlacks %s", out, want)
		}
	}
}

func TestSignalDuringTheStartGivesItUp(t *testing.T) {
	p := play(t, "slow start")
	p.line("node starts slowly")
	p.signal(syscall.SIGTERM)
	if code, _ := p.exit(); code != 1 {
		t.Errorf("exit code = %d, want 1", code)
	}
	p.order("start interrupted", "interrupted by signal: terminated", "node closed")
}
