//go:build unix

package runner_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"google.golang.org/grpc"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xhook"
	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/core/major/xreg/xregnode"
	"github.com/plinthgo/plinth/core/major/xresult"
	"github.com/plinthgo/plinth/grpcx/internal/call/calltest"
	pb "github.com/plinthgo/plinth/grpcx/internal/testproto"
	"github.com/plinthgo/plinth/grpcx/runner"
)

const (
	// gracefulKey is the timeout of the graceful stop.
	gracefulKey xenv.EnvKey = "XGRPCRUNNER_TEST_GRACEFUL"
	// victimKey, methodKey and connectionsKey are the address, the method and the number
	// of connections of an attack.
	victimKey      xenv.EnvKey = "XGRPCRUNNER_TEST_VICTIM"
	methodKey      xenv.EnvKey = "XGRPCRUNNER_TEST_METHOD"
	connectionsKey xenv.EnvKey = "XGRPCRUNNER_TEST_CONNECTIONS"
)

// programs are the main functions that this test binary can run.
var programs = map[string]func(){
	"serve":  func() { serveProgram() },
	"attack": attackProgram,
	"slow registration": func() {
		serveProgram(runner.WithRegisterService(func(ctx context.Context, _ grpc.ServiceRegistrar) {
			xlog.Info(ctx, "registering")
			<-ctx.Done()
		}))
	},
}

// loggedNode is a node that logs its Close.
type loggedNode struct{}

// Close implements the close method of a node.
func (loggedNode) Close() { xlog.Info(context.Background(), "node closed") }

// serveProgram is the main function of a server.
func serveProgram(options ...runner.Option) {
	go listenToInput()
	nodes := []xregnode.Node{{
		Key:  "node",
		Node: func(context.Context) (any, error) { return loggedNode{}, nil },
	}}
	reg := xreg.Register(context.Background(), nodes, xoption.WithHealth(),
		xoption.WithRoute(func(_ context.Context, e *gin.Engine) {
			e.GET("/slow", func(c *gin.Context) {
				xlog.Info(c, "entered")
				waitForRelease(c)
				xresult.Success(c, "slow")
			})
		}))
	service := &calltest.Service{OnUnary: handleUnary, OnServer: handleStream}
	xmain.Runner(reg, nil, nil, runner.New(append(options,
		runner.WithGracefulStopTimeout(xenv.GetEnvDuration(gracefulKey,
			runner.DefaultGracefulStopTimeout)),
		runner.WithRegisterService(func(_ context.Context, r grpc.ServiceRegistrar) {
			pb.RegisterTestServiceServer(r, service)
		}),
	)...))
}

// attackProgram is the main function of an attacker. It runs until its input is closed.
func attackProgram() {
	ctx, cancel := context.WithCancel(context.Background())
	go listenToInput()
	for range xenv.GetEnvInt(connectionsKey, 1) {
		wait, err := attack(ctx,
			xenv.GetEnvString(victimKey, ""), xenv.GetEnvString(methodKey, ""), 1000)
		if err != nil {
			xlog.Error(ctx, "attack failed", slog.Any("error", err))
			os.Exit(1)
		}
		defer wait()
	}
	xlog.Info(ctx, "attacking")
	<-released
	cancel()
}

// released is closed when the test closes the program's input.
var released = make(chan struct{})

// listenToInput closes released at the end of the input.
func listenToInput() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	close(released)
}

// waitForRelease waits for shutdown and then until the test closes the program's input.
func waitForRelease(ctx context.Context) {
	<-xhook.Draining(ctx)
	<-released
}

// handleUnary behaves as the text of the request requires.
func handleUnary(ctx context.Context, request *pb.TestRequest) (*pb.TestResponse, error) {
	if text := request.GetText(); text != "work" && text != "settle" {
		xlog.Info(ctx, "entered")
		defer xlog.Info(ctx, "returned")
	}
	switch request.GetText() {
	case "work":
		<-time.After(3 * time.Millisecond) // shutdown starts during a call
	case "settle":
		debug.FreeOSMemory()
	case "slow":
		waitForRelease(ctx)
	case "wait for cancel":
		<-ctx.Done()
		return nil, ctx.Err()
	case "ignore cancel":
		select {}
	}
	return &pb.TestResponse{Text: request.GetText()}, nil
}

// handleStream sends one message and then behaves as the text of the request requires.
func handleStream(
	request *pb.TestRequest, stream grpc.ServerStreamingServer[pb.TestResponse],
) error {
	ctx := stream.Context()
	if err := stream.Send(&pb.TestResponse{}); err != nil {
		return err
	}
	if request.GetText() == "draining" {
		<-xhook.Draining(ctx)
		return stream.Send(&pb.TestResponse{Text: "goodbye"})
	}
	<-ctx.Done()
	return ctx.Err()
}

// process is a running program.
type process struct {
	t       *testing.T
	cmd     *exec.Cmd
	input   io.Closer
	lines   chan string
	address string // of gRPC
	url     string // of HTTP

	mu  sync.Mutex
	out strings.Builder
}

// startProgram starts a program with an isolated environment.
func startProgram(t *testing.T, name string, env ...string) *process {
	t.Helper()
	p := &process{
		t:     t,
		cmd:   exec.CommandContext(t.Context(), os.Args[0]),
		lines: make(chan string, 100000),
	}
	p.cmd.Dir = t.TempDir()
	p.cmd.Env = append([]string{
		programKey.String() + "=" + name,
		"PATH=" + p.cmd.Dir, "HOME=" + p.cmd.Dir, "TMPDIR=" + p.cmd.Dir,
		"PLINTH_HOST=127.0.0.1", "PLINTH_PORT=0", "GRPC_PORT=0", "LOG_DIR=none",
		"PLINTH_DRAIN_DELAY=0s",
	}, env...)
	pipe, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if p.input, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	p.cmd.Stderr = p.cmd.Stdout
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.lines)
		for scan := bufio.NewScanner(pipe); scan.Scan(); {
			p.mu.Lock()
			p.out.WriteString(scan.Text() + "\n")
			p.mu.Unlock()
			p.lines <- scan.Text()
		}
	}()
	return p
}

// ready waits until the program serves gRPC and HTTP.
func (p *process) ready() *process {
	p.t.Helper()
	for p.address == "" || p.url == "" {
		line := p.line("serving gRPC", "ready")
		address, _ := line["address"].(string)
		if line["msg"] == "ready" {
			p.url = address
		} else {
			p.address = address
		}
	}
	return p
}

// output returns the output of the program.
func (p *process) output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.String()
}

// line waits for a log line with one of these messages.
func (p *process) line(messages ...string) map[string]any {
	p.t.Helper()
	timeout := time.After(testTimeout)
	for {
		select {
		case text, ok := <-p.lines:
			var line map[string]any
			if json.Unmarshal([]byte(text), &line) == nil &&
				slices.Contains(messages, fmt.Sprint(line["msg"])) {
				return line
			}
			if !ok {
				p.t.Fatalf("program exited without a line %q:\n%s", messages, p.output())
			}
		case <-timeout:
			p.t.Fatalf("no line %q in\n%s", messages, p.output())
		}
	}
}

// terminate sends SIGTERM.
func (p *process) terminate() {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
}

// release closes the program's input.
func (p *process) release() {
	p.t.Helper()
	if err := p.input.Close(); err != nil {
		p.t.Error(err)
	}
}

// wantExit waits until the program exits and checks its exit code. The program must exit
// within shutdownLimit.
func (p *process) wantExit(code int) {
	p.t.Helper()
	started := time.Now()
	for range p.lines { // until the pipe is closed
	}
	err := p.cmd.Wait()
	if e := (*exec.ExitError)(nil); err != nil && !errors.As(err, &e) {
		p.t.Fatal(err)
	}
	got, elapsed := p.cmd.ProcessState.ExitCode(), time.Since(started)
	if got != code || elapsed > shutdownLimit {
		p.t.Errorf("exit code = %d after %s, want %d within %s:\n%s",
			got, elapsed, code, shutdownLimit, p.output())
	}
}

// wantOrder checks that the output contains these strings in order.
func (p *process) wantOrder(texts ...string) {
	p.t.Helper()
	rest := p.output()
	for _, text := range texts {
		_, after, found := strings.Cut(rest, text)
		if !found {
			p.t.Errorf("%q is missing or out of order in\n%s", text, p.output())
			return
		}
		rest = after
	}
}

// wantOnce checks that the output contains text exactly once.
func (p *process) wantOnce(text string) {
	p.t.Helper()
	if n := strings.Count(p.output(), text); n != 1 {
		p.t.Errorf("%q occurs %d times, want once:\n%s", text, n, p.output())
	}
}

func (p *process) client() pb.TestServiceClient {
	return pb.NewTestServiceClient(dial(p.t, p.address))
}

// openStream opens a stream and waits for its first message.
func (p *process) openStream(text string) grpc.ServerStreamingClient[pb.TestResponse] {
	p.t.Helper()
	stream, err := p.client().ServerStream(p.t.Context(), &pb.TestRequest{Text: text})
	if err == nil {
		_, err = stream.Recv()
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return stream
}
