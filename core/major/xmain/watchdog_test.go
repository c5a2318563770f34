//go:build unix

package xmain_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/core/major/xreg/xregnode"
)

// deafWriter writes to standard output until it is stuck for ever.
type deafWriter struct{ stuck chan struct{} }

func (w deafWriter) Write(p []byte) (int, error) {
	select {
	case <-w.stuck:
		select {}
	default:
		return os.Stdout.Write(p)
	}
}

// blockedLogger serves with a logger of its own, which blocks for ever once the service
// is ready.
func blockedLogger() {
	w := deafWriter{make(chan struct{})}
	engine, err := xlog.New(xlog.Config{Writer: w, Format: xlog.FormatJSON})
	if err != nil {
		panic(err)
	}
	reg := xreg.Register(context.Background(), nil, xoption.WithLogger(engine),
		xoption.WithHealth())
	xmain.Runner(reg, nil, nil, func(ctx context.Context, _ ...any) {
		<-reg.Life().Readied()
		time.Sleep(50 * time.Millisecond) //nolint:forbidigo // the line "ready" comes right after
		close(w.stuck)
		_, _ = os.Stdout.WriteString(`{"msg":"stuck"}` + "\n")
		<-ctx.Done()
	})
}

// stubbornStart has a node that does not look at its context.
func stubbornStart() {
	reg := xreg.Register(context.Background(),
		[]xregnode.Node{{Key: "stubborn", Node: func(ctx context.Context) (any, error) {
			xlog.Info(ctx, "node starts")
			select {}
		}}})
	xmain.Runner(reg, nil, nil)
}

// registered stops for longer than the shutdown timeout, without a Runner.
func registered() {
	reg := xreg.Register(context.Background(), nil)
	xlog.Info(reg.Init.Ctx, "registered")
	<-reg.StopRequested().Done()
	time.Sleep(3 * time.Second) //nolint:forbidigo // longer than the watchdog of the start would wait
	xlog.Info(context.Background(), "finished")
	_ = reg.Close(context.Background())
}

// deaf starts a program and reads its output until it is ready, and no further.
func deaf(t *testing.T, name string, env ...string) (p *process, url string) {
	t.Helper()
	p, pipe := prepareProgram(t, name, env...)
	for scan := bufio.NewScanner(pipe); scan.Scan(); {
		var line map[string]any
		if json.Unmarshal(scan.Bytes(), &line) == nil && line["msg"] == "ready" {
			return p, line["address"].(string)
		}
	}
	t.Fatal("the program was never ready")
	return nil, ""
}

// ended waits for the end of a program whose output is not read.
func (p *process) ended(within time.Duration) (code int) {
	p.t.Helper()
	kill := time.AfterFunc(within, func() {
		p.t.Errorf("the program has not ended within %s", within)
		_ = p.cmd.Process.Kill()
	})
	defer kill.Stop()
	if err, exit := p.cmd.Wait(), (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	return p.cmd.ProcessState.ExitCode()
}

// flood sends requests until the pipe of the log is full several times over.
func flood(t *testing.T, url string) {
	t.Helper()
	client := &http.Client{Timeout: patience}
	defer client.CloseIdleConnections()
	for i := range 1000 {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/nothing",
			http.NoBody)
		resp, err := client.Do(req)
		if err != nil {
			t.Fatalf("request %d: %v", i+1, err)
		}
		_ = resp.Body.Close()
	}
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/healthz", http.NoBody)
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("/healthz = %d, want 200", resp.StatusCode)
	}
}

func TestRunner_blockedStandardOutput(t *testing.T) {
	t.Run("requests are answered and a signal ends the program in order", func(t *testing.T) {
		p, url := deaf(t, "serve")
		flood(t, url)
		p.signal(syscall.SIGTERM)
		if code := p.ended(patience); code != 0 {
			t.Errorf("exit code = %d, want 0", code)
		}
	})
	t.Run("a second signal ends it at once", func(t *testing.T) {
		p, url := deaf(t, "hang")
		flood(t, url)
		p.signal(syscall.SIGTERM)
		time.Sleep(100 * time.Millisecond) //nolint:forbidigo // two at once are one for the kernel
		p.signal(syscall.SIGTERM)
		if code := p.ended(10 * time.Second); code != 143 {
			t.Errorf("exit code = %d, want 143", code)
		}
	})
}

// A logger of the application's own may block for ever.
func TestRunner_blockedLogger(t *testing.T) {
	t.Run("the watchdog ends the program after the shutdown timeout", func(t *testing.T) {
		p := play(t, "blocked logger", "PLINTH_SHUTDOWN_TIMEOUT=500ms")
		p.line("stuck")
		p.signal(syscall.SIGTERM)
		if code, took := p.exit(); code != 1 || took > 15*time.Second {
			t.Errorf("exit code = %d after %s, want 1 soon after 2.5s", code, took)
		}
	})
	t.Run("a second signal ends it at once", func(t *testing.T) {
		p := play(t, "blocked logger", "PLINTH_SHUTDOWN_TIMEOUT=5m")
		p.line("stuck")
		p.signal(syscall.SIGTERM)
		time.Sleep(100 * time.Millisecond) //nolint:forbidigo // two at once are one for the kernel
		p.signal(syscall.SIGINT)
		if code, took := p.exit(); code != 130 || took > 10*time.Second {
			t.Errorf("exit code = %d after %s, want 130 at once", code, took)
		}
	})
}

func TestRegister_nodeThatIgnoresItsContext(t *testing.T) {
	t.Run("the watchdog ends the program after the shutdown timeout", func(t *testing.T) {
		p := play(t, "stubborn start", "PLINTH_SHUTDOWN_TIMEOUT=500ms")
		p.line("node starts")
		p.signal(syscall.SIGTERM)
		if code, took := p.exit(); code != 1 || took > 15*time.Second {
			t.Errorf("exit code = %d after %s, want 1 soon after 2.5s", code, took)
		}
		p.order("start interrupted", "shutdown timeout exceeded", "node stubborn")
	})
	t.Run("a second signal ends it at once", func(t *testing.T) {
		p := play(t, "stubborn start")
		p.line("node starts")
		p.signal(syscall.SIGTERM)
		p.line("start interrupted")
		p.signal(syscall.SIGTERM)
		if code, took := p.exit(); code != 143 || took > 10*time.Second {
			t.Errorf("exit code = %d after %s, want 143 at once", code, took)
		}
	})
}

func TestRegister_programWithoutRunner(t *testing.T) {
	p := play(t, "registered", "PLINTH_SHUTDOWN_TIMEOUT=500ms")
	p.line("registered")
	p.signal(syscall.SIGTERM)
	if code, _ := p.exit(); code != 0 {
		t.Errorf("exit code = %d, want 0", code)
	}
	p.order("stop requested", "finished")
}

func TestRunner_closedStandardOutput(t *testing.T) {
	p, pipe := prepareProgram(t, "serve")
	var url string
	for scan := bufio.NewScanner(pipe); url == "" && scan.Scan(); {
		var line map[string]any
		if json.Unmarshal(scan.Bytes(), &line) == nil && line["msg"] == "ready" {
			url, _ = line["address"].(string)
		}
	}
	if err := pipe.(io.Closer).Close(); err != nil {
		t.Fatal(err)
	}
	flood(t, url)
	p.signal(syscall.SIGTERM)
	if code := p.ended(patience); code != 0 {
		t.Errorf("exit code = %d, want 0", code)
	}
}

func TestRunner_hangup(t *testing.T) {
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("the tests run with SIGHUP ignored")
	}
	p := play(t, "serve", "PLINTH_DRAIN_DELAY=300ms")
	p.line("ready")
	began := time.Now()
	p.signal(syscall.SIGHUP)
	if code, _ := p.exit(); code != 0 || time.Since(began) < 300*time.Millisecond {
		t.Errorf("exit code = %d after %s, want 0 after the drain delay", code, time.Since(began))
	}
	p.order("stopping", "stop hook", "node closed", "stopped")
}

func TestRunner_ignoredHangup(t *testing.T) {
	p := play(t, "ignored hangup")
	p.line("ready")
	p.signal(syscall.SIGHUP)
	p.signal(syscall.SIGTERM)
	if code, _ := p.exit(); code != 0 {
		t.Errorf("exit code = %d, want 0: the first signal is ignored as under nohup", code)
	}
	p.order("signal: terminated", "stopped")
}
