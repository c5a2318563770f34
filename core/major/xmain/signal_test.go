//go:build unix

package xmain_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/major/internal/startup"
	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg"
)

// registerSignals prints a line as soon as the program catches signals.
func registerSignals() {
	reg := xreg.Register(context.Background(), nil,
		func(*startup.Plan) { _, _ = os.Stdout.WriteString("signals registered\n") },
		xoption.WithHealth())
	xmain.Runner(reg, nil, nil)
}

// kill sends SIGTERM to the process. The kernel may merge two pending signals.
func kill() {
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		panic(err)
	}
}

// signalInRoute receives a signal at the end of Register.
func signalInRoute() {
	reg := xreg.Register(context.Background(), nil,
		xoption.WithRoute(func(context.Context, *gin.Engine) { kill() }))
	xmain.Runner(reg, nil, nil)
}

// signalBetween receives a signal between Register and Runner.
func signalBetween() {
	reg := xreg.Register(context.Background(), nil)
	kill()
	<-reg.StopRequested().Done()
	xmain.Runner(reg, nil, nil)
}

// twoSignalsBetween receives two signals between Register and Runner. It calls Runner
// only if the second one is lost.
func twoSignalsBetween() {
	reg := xreg.Register(context.Background(), nil)
	kill()
	<-reg.StopRequested().Done()
	kill()
	<-time.After(testTimeout)
	xmain.Runner(reg, nil, nil)
}

// cancelInStartHook cancels the context of Register while the Runner starts.
func cancelInStartHook() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	reg := xreg.Register(ctx, nil)
	reg.Lifecycle().OnStart("hook", func(ctx context.Context) error {
		cancel()
		<-ctx.Done()
		return context.Cause(ctx)
	})
	xmain.Runner(reg, nil, nil)
}

func TestRunner_StartupSignals(t *testing.T) {
	t.Run("at a random moment", func(t *testing.T) {
		const rounds = 80
		var mu sync.Mutex
		codes := map[int]int{}
		slots := make(chan struct{}, 4)
		var wg sync.WaitGroup
		for range rounds {
			slots <- struct{}{}
			wg.Go(func() {
				defer func() { <-slots }()
				p := startProgram(t, "register signals")
				time.Sleep(time.Duration(rand.Int64N(int64(20 * time.Millisecond)))) //nolint:forbidigo // a random moment
				p.signal(syscall.SIGTERM)
				watchdog := time.AfterFunc(testTimeout, func() {
					t.Errorf("the signal was lost:\n%s", p.output())
					_ = p.cmd.Process.Kill()
				})
				code, _ := p.exit()
				watchdog.Stop()
				mu.Lock()
				defer mu.Unlock()
				out := p.output()
				switch registered := strings.Contains(out, "signals registered"); {
				case !registered:
					codes[-2]++ // during the startup of the runtime
				case code == 0 || code == 1 && strings.Contains(out, "start interrupted"):
					codes[code]++
				default:
					t.Errorf("exit code = %d, want 0, or 1 for an interrupted start:\n%s",
						code, out)
				}
			})
		}
		wg.Wait()
		t.Logf("exit codes: %v (-2: before main)", codes)
	})

	t.Run("at the end of Register", func(t *testing.T) {
		for range 20 {
			p := startProgram(t, "signal in route", "PLINTH_DRAIN_DELAY=10ms")
			watchdog := time.AfterFunc(5*time.Second, func() { _ = p.cmd.Process.Kill() })
			code, _ := p.exit()
			watchdog.Stop()
			if code != 0 && code != 1 {
				t.Fatalf("exit code = %d, want 0, or 1 for an interrupted start:\n%s",
					code, p.output())
			}
		}
	})

	t.Run("between Register and Runner", func(t *testing.T) {
		p := startProgram(t, "signal between")
		if code, _ := p.exit(); code != 0 {
			t.Errorf("exit code = %d, want 0:\n%s", code, p.output())
		}
		p.checkOrder("stopping", "interrupted by signal: terminated", "stopped")
		if strings.Contains(p.output(), `"msg":"ready"`) {
			t.Errorf("the service became ready:\n%s", p.output())
		}
	})

	t.Run("twice between Register and Runner", func(t *testing.T) {
		p := startProgram(t, "two signals between")
		if code, _ := p.exit(); code != 143 || !strings.Contains(p.output(), "second signal") {
			t.Errorf("exit code = %d, want 143 and a log line:\n%s", code, p.output())
		}
	})

	t.Run("cancellation in a start hook", func(t *testing.T) {
		p := startProgram(t, "cancel in start hook")
		watchdog := time.AfterFunc(5*time.Second, func() { _ = p.cmd.Process.Kill() })
		defer watchdog.Stop()
		if code, _ := p.exit(); code != 0 {
			t.Errorf("exit code = %d, want 0:\n%s", code, p.output())
		}
		if strings.Contains(p.output(), `"msg":"ready"`) {
			t.Errorf("the service became ready:\n%s", p.output())
		}
	})
}

func TestRunContext_SecondSignal(t *testing.T) {
	s := prepare(t, nil)
	entered, cause := make(chan struct{}), make(chan error, 1)
	s.Lifecycle().OnShutdown("a", func(ctx context.Context) error {
		close(entered)
		<-ctx.Done()
		cause <- context.Cause(ctx)
		return nil
	})
	s.start()
	kill()
	wait(t, entered, "the shutdown hook")
	kill()
	var second *xmain.SignalError
	if err := s.result(); !errors.As(err, &second) {
		t.Errorf("RunContext = %v, want a *SignalError", err)
	}
	if err := <-cause; err == nil || !strings.Contains(err.Error(), "second signal") {
		t.Errorf("cause = %v, want the second signal", err)
	}
}
