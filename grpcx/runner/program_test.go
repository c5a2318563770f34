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
	// gracefulKey sets the timeout of the graceful stop of a program.
	gracefulKey xenv.EnvKey = "XGRPCRUNNER_TEST_GRACEFUL"
	// victimKey, methodKey and connectionsKey say what is attacked, and by how many
	// connections.
	victimKey      xenv.EnvKey = "XGRPCRUNNER_TEST_VICTIM"
	methodKey      xenv.EnvKey = "XGRPCRUNNER_TEST_METHOD"
	connectionsKey xenv.EnvKey = "XGRPCRUNNER_TEST_CONNECTIONS"
)

// programs are the main functions that this test binary can play.
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

// said is a node that says in the log that it was closed.
type said struct{}

// Close implements the close of a node.
func (said) Close() { xlog.Info(context.Background(), "node closed") }

// serveProgram is the main function of the programs.
func serveProgram(options ...runner.Option) {
	go listenToInput()
	nodes := []xregnode.Node{{
		Key:  "node",
		Node: func(context.Context) (any, error) { return said{}, nil },
	}}
	reg := xreg.Register(context.Background(), nodes, xoption.WithHealth(),
		xoption.WithRoute(func(_ context.Context, e *gin.Engine) {
			e.GET("/slow", func(c *gin.Context) {
				xlog.Info(c, "entered")
				finish(c)
				xresult.Success(c, "slow")
			})
		}))
	service := &calltest.Service{OnUnary: behave, OnServer: serveStream}
	xmain.Runner(reg, nil, nil, runner.New(append(options,
		runner.WithGracefulStopTimeout(xenv.GetEnvDuration(gracefulKey,
			runner.DefaultGracefulStopTimeout)),
		runner.WithRegisterService(func(_ context.Context, r grpc.ServiceRegistrar) {
			pb.RegisterTestServiceServer(r, service)
		}),
	)...))
}

// attackProgram is the main function of a program that attacks until the test says that
// it is enough.
func attackProgram() {
	ctx, cancel := context.WithCancel(context.Background())
	go listenToInput()
	for range xenv.GetEnvInt(connectionsKey, 1) {
		wait, err := attack(ctx, xenv.GetEnvString(victimKey, ""), xenv.GetEnvString(methodKey, ""),
			1000)
		if err != nil {
			xlog.Error(ctx, "no attack", slog.Any("error", err))
			os.Exit(1)
		}
		defer wait()
	}
	xlog.Info(ctx, "attacking")
	<-told
	cancel()
}

// told is closed when the test says that what waits may go on: it closes the program's
// input.
var told = make(chan struct{})

// listenToInput closes told.
func listenToInput() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	close(told)
}

// finish returns when the test says so, after the stop has begun.
func finish(ctx context.Context) {
	<-xhook.Draining(ctx)
	<-told
}

// behave does what the request says.
func behave(ctx context.Context, request *pb.TestRequest) (*pb.TestResponse, error) {
	if text := request.GetText(); text != "work" && text != "settle" {
		xlog.Info(ctx, "entered")
		defer xlog.Info(ctx, "left")
	}
	switch request.GetText() {
	case "work":
		// the pace of the load, so that the stop finds calls in flight; nothing is waited
		// for
		<-time.After(3 * time.Millisecond)
	case "settle":
		debug.FreeOSMemory()
	case "slow":
		finish(ctx)
	case "patient":
		<-ctx.Done()
		return nil, ctx.Err()
	case "deaf":
		select {}
	}
	return &pb.TestResponse{Text: request.GetText()}, nil
}

// serveStream sends one message, and then does what the request says.
func serveStream(
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

// process is a program that runs.
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

// play starts a program with an environment of its own.
func play(t *testing.T, name string, env ...string) *process {
	t.Helper()
	p := &process{
		t: t, cmd: exec.CommandContext(t.Context(), os.Args[0]),
		lines: make(chan string, 100000),
	}
	p.cmd.Dir = t.TempDir()
	p.cmd.Env = append([]string{
		programKey.String() + "=" + name, "PATH=" + p.cmd.Dir, "HOME=" + p.cmd.Dir,
		"TMPDIR=" + p.cmd.Dir,
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

// ready waits until the program serves both, in whatever order it says so: see Task in
// xmain.
func (p *process) ready() *process {
	p.t.Helper()
	for p.address == "" || p.url == "" {
		line := p.line("serving gRPC", "ready")
		where, _ := line["address"].(string)
		if line["msg"] == "ready" {
			p.url = where
		} else {
			p.address = where
		}
	}
	return p
}

// output returns what the program has written.
func (p *process) output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.String()
}

// line waits for a line of the log with one of these messages.
func (p *process) line(messages ...string) map[string]any {
	p.t.Helper()
	timeout := time.After(patience)
	for {
		select {
		case text, ok := <-p.lines:
			var line map[string]any
			if json.Unmarshal([]byte(text), &line) == nil &&
				slices.Contains(messages, fmt.Sprint(line["msg"])) {
				return line
			}
			if !ok {
				p.t.Fatalf("ended without a line %q:\n%s", messages, p.output())
			}
		case <-timeout:
			p.t.Fatalf("no line %q in\n%s", messages, p.output())
		}
	}
}

// terminate begins the stop.
func (p *process) terminate() {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
}

// goOn lets what waits for the test go on.
func (p *process) goOn() {
	p.t.Helper()
	if err := p.input.Close(); err != nil {
		p.t.Error(err)
	}
}

// exits waits for the end, which must come soon and with a code.
func (p *process) exits(code int) {
	p.t.Helper()
	began := time.Now()
	for range p.lines { // until the pipe is closed
	}
	err := p.cmd.Wait()
	if e := (*exec.ExitError)(nil); err != nil && !errors.As(err, &e) {
		p.t.Fatal(err)
	}
	if got, took := p.cmd.ProcessState.ExitCode(), time.Since(began); got != code || took > soon {
		p.t.Errorf("exit code = %d after %s, want %d within %s:\n%s",
			got, took, code, soon, p.output())
	}
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

// once reports whether the output holds a text exactly once.
func (p *process) once(text string) {
	p.t.Helper()
	if n := strings.Count(p.output(), text); n != 1 {
		p.t.Errorf("%q is there %d times, want once:\n%s", text, n, p.output())
	}
}

func (p *process) client() pb.TestServiceClient {
	return pb.NewTestServiceClient(dial(p.t, p.address))
}

// opened opens a stream and waits for its first message.
func (p *process) opened(text string) grpc.ServerStreamingClient[pb.TestResponse] {
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
