//go:build unix

package xmain_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
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

// programs are the main functions that this test binary can run.
var programs = map[string]func(){
	"serve": func() { serve() },
	"panic": func() { serve(func(context.Context, ...any) { panic("task failed") }) },
	"hang": func() {
		serve(func(ctx context.Context, _ ...any) {
			<-ctx.Done()
			xlog.Info(ctx, "task hangs")
			select {}
		})
	},
	"register signals":     registerSignals,
	"signal in route":      signalInRoute,
	"signal between":       signalBetween,
	"two signals between":  twoSignalsBetween,
	"cancel in start hook": cancelInStartHook,
	"blocked logger":       blockedLogger,
	"hanging start":        hangingStart,
	"register only":        registerOnly,
	"ignored hangup":       func() { signal.Ignore(syscall.SIGHUP); serve() },
	"slow start": func() {
		serveNodes([]xregnode.Node{{
			Key:  "closes",
			Node: func(context.Context) (any, error) { return closeLogger{"node closed"}, nil },
		}, {
			Key: "slow", Node: func(ctx context.Context) (any, error) {
				xlog.Info(ctx, "node starting")
				<-ctx.Done()
				return nil, context.Cause(ctx)
			},
		}})
	},
}

// closeLogger is the value of a node that logs its Close.
type closeLogger struct{ message string }

func (s closeLogger) Close() { xlog.Info(context.Background(), s.message) }

func serve(tasks ...xmain.Task) {
	serveNodes([]xregnode.Node{{Key: "node", Node: func(context.Context) (any, error) {
		return closeLogger{"node closed"}, nil
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

// process is a running program.
type process struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines chan string

	mu  sync.Mutex
	out strings.Builder
}

// startProgram starts a program with its own environment and reads its output.
func startProgram(t *testing.T, name string, env ...string) *process {
	t.Helper()
	p, pipe := startUnread(t, name, env...)
	go p.read(bufio.NewScanner(pipe))
	return p
}

// startUnread starts a program without reading its output.
func startUnread(t *testing.T, name string, env ...string) (*process, io.Reader) {
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

func (p *process) read(scan *bufio.Scanner) {
	defer close(p.lines)
	for scan.Scan() {
		p.mu.Lock()
		p.out.WriteString(scan.Text() + "\n")
		p.mu.Unlock()
		p.lines <- scan.Text()
	}
}

func (p *process) output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.String()
}

// waitLine waits for a log line with this message.
func (p *process) waitLine(msg string) map[string]any {
	p.t.Helper()
	timeout := time.After(testTimeout)
	for {
		select {
		case text, ok := <-p.lines:
			var line map[string]any
			if json.Unmarshal([]byte(text), &line) == nil && line["msg"] == msg {
				return line
			}
			if !ok {
				p.t.Fatalf("exited without the line %q:\n%s", msg, p.output())
			}
		case <-timeout:
			p.t.Fatalf("no line %q in\n%s", msg, p.output())
		}
	}
}

func (p *process) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// exit waits until the process exits. It returns the exit code and the duration of the
// wait.
func (p *process) exit() (code int, elapsed time.Duration) {
	p.t.Helper()
	start := time.Now()
	for range p.lines { // until the pipe is closed
	}
	err := p.cmd.Wait()
	if e := (*exec.ExitError)(nil); err != nil && !errors.As(err, &e) {
		p.t.Fatal(err)
	}
	return p.cmd.ProcessState.ExitCode(), time.Since(start)
}

// checkOrder checks that the output contains the substrings in this order.
func (p *process) checkOrder(substrings ...string) {
	p.t.Helper()
	rest := p.output()
	for _, text := range substrings {
		_, after, found := strings.Cut(rest, text)
		if !found {
			p.t.Errorf("%q is missing or out of order in\n%s", text, p.output())
			return
		}
		rest = after
	}
}

func TestRunner_Signals(t *testing.T) {
	t.Run("SIGINT shuts the program down gracefully", func(t *testing.T) {
		p := startProgram(t, "serve")
		p.waitLine("ready")
		p.signal(syscall.SIGINT)
		if code, _ := p.exit(); code != 0 {
			t.Errorf("exit code = %d, want 0", code)
		}
		p.checkOrder("stop hook", "node closed", "stopped")
		if strings.Contains(p.output(), "stop requested") {
			t.Errorf("xreg logs the signal in addition to the Runner:\n%s", p.output())
		}
	})

	t.Run("a second signal exits immediately", func(t *testing.T) {
		for _, tc := range []struct {
			second syscall.Signal
			want   int
		}{{syscall.SIGTERM, 143}, {syscall.SIGINT, 130}} {
			t.Run(tc.second.String(), func(t *testing.T) {
				p := startProgram(t, "hang")
				p.waitLine("ready")
				p.signal(syscall.SIGTERM)
				p.waitLine("task hangs")
				p.signal(tc.second)
				code, elapsed := p.exit()
				if code != tc.want || elapsed > 5*time.Second {
					t.Errorf("exit code = %d after %s, want %d immediately", code, elapsed, tc.want)
				}
			})
		}
	})

	t.Run("a signal aborts the startup", func(t *testing.T) {
		p := startProgram(t, "slow start")
		p.waitLine("node starting")
		p.signal(syscall.SIGTERM)
		if code, _ := p.exit(); code != 1 {
			t.Errorf("exit code = %d, want 1", code)
		}
		p.checkOrder("start interrupted", "interrupted by signal: terminated", "node closed")
	})
}

func TestRunner_ShutdownTimeout(t *testing.T) {
	p := startProgram(t, "hang", "PLINTH_SHUTDOWN_TIMEOUT=500ms")
	p.waitLine("ready")
	p.signal(syscall.SIGTERM)
	code, elapsed := p.exit()
	if code != 1 || elapsed > 3*time.Second {
		t.Errorf("exit code = %d after %s, want 1 soon after 500ms", code, elapsed)
	}
	p.checkOrder("stop hook", "node closed", "tasks are still running")
}

func TestRunner_ExitCode(t *testing.T) {
	t.Run("panic of a task", func(t *testing.T) {
		p := startProgram(t, "panic")
		if code, _ := p.exit(); code != 1 {
			t.Errorf("exit code = %d, want 1", code)
		}
		p.checkOrder("task failed", "stop hook", "node closed")
	})

	t.Run("port in use", func(t *testing.T) {
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }()
		_, port, _ := net.SplitHostPort(l.Addr().String())
		p := startProgram(t, "serve", "PLINTH_PORT="+port)
		code, elapsed := p.exit()
		if code != 1 || elapsed > 5*time.Second {
			t.Errorf("exit code = %d after %s, want 1 within 5s", code, elapsed)
		}
		p.checkOrder("node closed", "PLINTH_PORT", "address already in use")
	})

	t.Run("invalid configuration", func(t *testing.T) {
		p := startProgram(t, "serve", "PLINTH_PORT=abc", "LOG_LEVEL=loud", "DATABASE_PASS=s3cret",
			"NOSQL_PORT=x")
		code, elapsed := p.exit()
		if code != 1 || elapsed > 5*time.Second {
			t.Errorf("exit code = %d after %s, want 1 within 5s", code, elapsed)
		}
		out := p.output()
		if strings.Count(out, "\n") != 3 || strings.Contains(out, "s3cret") {
			t.Errorf("output\n%s\nwant three lines without a secret", out)
		}
		for _, want := range []string{
			`PLINTH_PORT: \"abc\"`, `LOG_LEVEL: \"loud\"`, `NOSQL_PORT: \"x\"`,
		} {
			if !strings.Contains(out, want) {
				t.Errorf("output\n%s\nlacks %s", out, want)
			}
		}
	})
}
