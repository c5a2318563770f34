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

// begun serves, and says so as soon as signals are the program's own.
func begun() {
	reg := xreg.Register(context.Background(), nil,
		func(*startup.Plan) { _, _ = os.Stdout.WriteString("begun\n") }, xoption.WithHealth())
	xmain.Runner(reg, nil, nil)
}

// kill sends the program a SIGTERM. Two at once are one for the kernel.
func kill() {
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		panic(err)
	}
}

// signalAtTheEndOfTheStart is told to stop when hardly anything is left of the start.
func signalAtTheEndOfTheStart() {
	reg := xreg.Register(context.Background(), nil,
		xoption.WithRoute(func(context.Context, *gin.Engine) { kill() }))
	xmain.Runner(reg, nil, nil)
}

// signalBetween is told to stop after Register and before Runner.
func signalBetween() {
	reg := xreg.Register(context.Background(), nil)
	kill()
	<-reg.StopRequested().Done()
	xmain.Runner(reg, nil, nil)
}

// twoSignalsBetween is told to end at once before Runner, which it reaches only if that
// is lost.
func twoSignalsBetween() {
	reg := xreg.Register(context.Background(), nil)
	kill()
	<-reg.StopRequested().Done()
	kill()
	<-time.After(patience)
	xmain.Runner(reg, nil, nil)
}

// signalInTheStartHook is told to stop by a context that ends while the Runner starts.
func signalInTheStartHook() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	reg := xreg.Register(ctx, nil)
	reg.Life().OnStart("hook", func(ctx context.Context) error {
		cancel()
		<-ctx.Done()
		return context.Cause(ctx)
	})
	xmain.Runner(reg, nil, nil)
}

func TestSignalAtAnyMomentOfTheStartEndsTheProgramInOrder(t *testing.T) {
	const rounds = 80
	var mu sync.Mutex
	codes := map[int]int{}
	slots := make(chan struct{}, 4)
	var wg sync.WaitGroup
	for range rounds {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			p := play(t, "begun")
			time.Sleep(time.Duration(rand.Int64N(int64(20 * time.Millisecond)))) //nolint:forbidigo // the moment is the point
			p.signal(syscall.SIGTERM)
			watchdog := time.AfterFunc(patience, func() {
				t.Errorf("the signal was lost:\n%s", p.output())
				_ = p.cmd.Process.Kill()
			})
			code, _ := p.exit()
			watchdog.Stop()
			mu.Lock()
			defer mu.Unlock()
			out := p.output()
			switch began := strings.Contains(out, "begun"); {
			case !began:
				codes[-2]++ // the runtime's own start
			case code == 0 || code == 1 && strings.Contains(out, "start interrupted"):
				codes[code]++
			default:
				t.Errorf("exit code = %d, want 0, or 1 for an interrupted start:\n%s", code, out)
			}
		})
	}
	wg.Wait()
	t.Logf("exit codes: %v (-2: before main)", codes)
}

func TestSignalAtTheEndOfTheStartIsNotLost(t *testing.T) {
	for range 20 {
		p := play(t, "signal at the end of the start", "PLINTH_DRAIN_DELAY=10ms")
		done := time.AfterFunc(5*time.Second, func() { _ = p.cmd.Process.Kill() })
		code, _ := p.exit()
		done.Stop()
		if code != 0 && code != 1 {
			t.Fatalf("exit code = %d, want 0, or 1 for an interrupted start:\n%s", code, p.output())
		}
	}
}

func TestSignalBetweenRegisterAndRunnerEndsInOrderAndNeverReady(t *testing.T) {
	p := play(t, "signal between")
	if code, _ := p.exit(); code != 0 {
		t.Errorf("exit code = %d, want 0:\n%s", code, p.output())
	}
	p.order("stopping", "interrupted by signal: terminated", "stopped")
	if strings.Contains(p.output(), `"msg":"ready"`) {
		t.Errorf("the service was ready:\n%s", p.output())
	}
}

func TestSecondSignalBetweenRegisterAndRunnerEndsAtOnce(t *testing.T) {
	p := play(t, "two signals between")
	if code, _ := p.exit(); code != 143 || !strings.Contains(p.output(), "second signal") {
		t.Errorf("exit code = %d, want 143 and a word about it:\n%s", code, p.output())
	}
}

func TestSecondSignalEndsTheContextOfShutdownHooks(t *testing.T) {
	s := prepare(t, nil)
	entered, cause := make(chan struct{}), make(chan error, 1)
	s.Life().OnShutdown("a", func(ctx context.Context) error {
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

func TestEndOfTheContextWhileTheRunnerStartsIsAStop(t *testing.T) {
	p := play(t, "signal in the start hook")
	done := time.AfterFunc(5*time.Second, func() { _ = p.cmd.Process.Kill() })
	defer done.Stop()
	if code, _ := p.exit(); code != 0 {
		t.Errorf("exit code = %d, want 0:\n%s", code, p.output())
	}
	if strings.Contains(p.output(), `"msg":"ready"`) {
		t.Errorf("the service was ready:\n%s", p.output())
	}
}
