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

// blockingWriter writes to standard output until blocked is closed, and then blocks
// forever.
type blockingWriter struct{ blocked chan struct{} }

func (w blockingWriter) Write(p []byte) (int, error) {
	select {
	case <-w.blocked:
		select {}
	default:
		return os.Stdout.Write(p)
	}
}

// blockedLogger is a program whose logger blocks forever once the service is ready.
func blockedLogger() {
	w := blockingWriter{make(chan struct{})}
	engine, err := xlog.New(xlog.Config{Writer: w, Format: xlog.FormatJSON})
	if err != nil {
		panic(err)
	}
	reg := xreg.Register(context.Background(), nil, xoption.WithLogger(engine),
		xoption.WithHealth())
	xmain.Runner(reg, nil, nil, func(ctx context.Context, _ ...any) {
		<-reg.Lifecycle().Ready()
		time.Sleep(50 * time.Millisecond) //nolint:forbidigo // until the line "ready" is logged
		close(w.blocked)
		_, _ = os.Stdout.WriteString(`{"msg":"blocked"}` + "\n")
		<-ctx.Done()
	})
}

// hangingStart is a program with a node that ignores its context.
func hangingStart() {
	reg := xreg.Register(context.Background(),
		[]xregnode.Node{{Key: "hanging", Node: func(ctx context.Context) (any, error) {
			xlog.Info(ctx, "node starting")
			select {}
		}}})
	xmain.Runner(reg, nil, nil)
}

// registerOnly is a program without a Runner whose shutdown exceeds the shutdown timeout.
func registerOnly() {
	reg := xreg.Register(context.Background(), nil)
	xlog.Info(reg.Init.Ctx, "registered")
	<-reg.StopRequested().Done()
	time.Sleep(3 * time.Second) //nolint:forbidigo // longer than the startup watchdog waits
	xlog.Info(context.Background(), "finished")
	_ = reg.Close(context.Background())
}

// startBlocked starts a program and reads its output only until it is ready.
func startBlocked(t *testing.T, name string, env ...string) (p *process, url string) {
	t.Helper()
	p, pipe := startUnread(t, name, env...)
	for scan := bufio.NewScanner(pipe); scan.Scan(); {
		var line map[string]any
		if json.Unmarshal(scan.Bytes(), &line) == nil && line["msg"] == "ready" {
			return p, line["address"].(string)
		}
	}
	t.Fatal("the program did not become ready")
	return nil, ""
}

// waitExit waits for a program whose output is not read, and returns its exit code.
func (p *process) waitExit(within time.Duration) (code int) {
	p.t.Helper()
	kill := time.AfterFunc(within, func() {
		p.t.Errorf("the program did not exit within %s", within)
		_ = p.cmd.Process.Kill()
	})
	defer kill.Stop()
	if err, exit := p.cmd.Wait(), (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	return p.cmd.ProcessState.ExitCode()
}

// flood sends enough requests to fill the pipe of the log several times.
func flood(t *testing.T, url string) {
	t.Helper()
	client := &http.Client{Timeout: testTimeout}
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

func TestRunner_BlockedStdout(t *testing.T) {
	t.Run("requests are served and a signal shuts the program down gracefully", func(t *testing.T) {
		p, url := startBlocked(t, "serve")
		flood(t, url)
		p.signal(syscall.SIGTERM)
		if code := p.waitExit(testTimeout); code != 0 {
			t.Errorf("exit code = %d, want 0", code)
		}
	})
	t.Run("a second signal exits immediately", func(t *testing.T) {
		p, url := startBlocked(t, "hang")
		flood(t, url)
		p.signal(syscall.SIGTERM)
		time.Sleep(100 * time.Millisecond) //nolint:forbidigo // the kernel merges two pending signals
		p.signal(syscall.SIGTERM)
		if code := p.waitExit(10 * time.Second); code != 143 {
			t.Errorf("exit code = %d, want 143", code)
		}
	})
}

// A logger that the application supplies can block forever.
func TestRunner_BlockedLogger(t *testing.T) {
	t.Run("the watchdog exits after the shutdown timeout", func(t *testing.T) {
		p := startProgram(t, "blocked logger", "PLINTH_SHUTDOWN_TIMEOUT=500ms")
		p.waitLine("blocked")
		p.signal(syscall.SIGTERM)
		if code, elapsed := p.exit(); code != 1 || elapsed > 15*time.Second {
			t.Errorf("exit code = %d after %s, want 1 soon after 2.5s", code, elapsed)
		}
	})
	t.Run("a second signal exits immediately", func(t *testing.T) {
		p := startProgram(t, "blocked logger", "PLINTH_SHUTDOWN_TIMEOUT=5m")
		p.waitLine("blocked")
		p.signal(syscall.SIGTERM)
		time.Sleep(100 * time.Millisecond) //nolint:forbidigo // the kernel merges two pending signals
		p.signal(syscall.SIGINT)
		if code, elapsed := p.exit(); code != 130 || elapsed > 10*time.Second {
			t.Errorf("exit code = %d after %s, want 130 immediately", code, elapsed)
		}
	})
}

func TestRegister_HangingNode(t *testing.T) {
	t.Run("the watchdog exits after the shutdown timeout", func(t *testing.T) {
		p := startProgram(t, "hanging start", "PLINTH_SHUTDOWN_TIMEOUT=500ms")
		p.waitLine("node starting")
		p.signal(syscall.SIGTERM)
		if code, elapsed := p.exit(); code != 1 || elapsed > 15*time.Second {
			t.Errorf("exit code = %d after %s, want 1 soon after 2.5s", code, elapsed)
		}
		p.checkOrder("start interrupted", "shutdown timeout exceeded", "node hanging")
	})
	t.Run("a second signal exits immediately", func(t *testing.T) {
		p := startProgram(t, "hanging start")
		p.waitLine("node starting")
		p.signal(syscall.SIGTERM)
		p.waitLine("start interrupted")
		p.signal(syscall.SIGTERM)
		if code, elapsed := p.exit(); code != 143 || elapsed > 10*time.Second {
			t.Errorf("exit code = %d after %s, want 143 immediately", code, elapsed)
		}
	})
}

func TestRegister_WithoutRunner(t *testing.T) {
	p := startProgram(t, "register only", "PLINTH_SHUTDOWN_TIMEOUT=500ms")
	p.waitLine("registered")
	p.signal(syscall.SIGTERM)
	if code, _ := p.exit(); code != 0 {
		t.Errorf("exit code = %d, want 0", code)
	}
	p.checkOrder("stop requested", "finished")
}

func TestRunner_ClosedStdout(t *testing.T) {
	p, pipe := startUnread(t, "serve")
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
	if code := p.waitExit(testTimeout); code != 0 {
		t.Errorf("exit code = %d, want 0", code)
	}
}

func TestRunner_SIGHUP(t *testing.T) {
	t.Run("shuts the program down gracefully", func(t *testing.T) {
		if signal.Ignored(syscall.SIGHUP) {
			t.Skip("the tests run with SIGHUP ignored")
		}
		p := startProgram(t, "serve", "PLINTH_DRAIN_DELAY=300ms")
		p.waitLine("ready")
		start := time.Now()
		p.signal(syscall.SIGHUP)
		if code, _ := p.exit(); code != 0 || time.Since(start) < 300*time.Millisecond {
			t.Errorf("exit code = %d after %s, want 0 after the drain delay",
				code, time.Since(start))
		}
		p.checkOrder("stopping", "stop hook", "node closed", "stopped")
	})

	t.Run("remains ignored under nohup", func(t *testing.T) {
		p := startProgram(t, "ignored hangup")
		p.waitLine("ready")
		p.signal(syscall.SIGHUP)
		p.signal(syscall.SIGTERM)
		if code, _ := p.exit(); code != 0 {
			t.Errorf("exit code = %d, want 0: SIGHUP is ignored", code)
		}
		p.checkOrder("signal: terminated", "stopped")
	})
}
