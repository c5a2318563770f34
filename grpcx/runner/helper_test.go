package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/core/major/xreg/xregnode"
	"github.com/plinthgo/plinth/grpcx/internal/call/calltest"
	pb "github.com/plinthgo/plinth/grpcx/internal/testproto"
	"github.com/plinthgo/plinth/grpcx/runner"
)

// programKey selects the program that this test binary runs instead of tests.
const programKey xenv.EnvKey = "XGRPCRUNNER_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if name, isProgram := xenv.GetEnv(programKey); isProgram {
		programs[name]()
		os.Exit(0)
	}
	// do not write logs to the package directory
	if err := os.Setenv("LOG_DIR", "none"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// testTimeout limits every wait of these tests.
const testTimeout = 20 * time.Second

// shutdownLimit limits a shutdown without delays. It is far above the usual duration and
// far below other timeouts: 20 s for a handshake, 30 s for the graceful stop.
const shutdownLimit = 10 * time.Second

// serviceName is the full name of the test service.
var serviceName = pb.TestService_ServiceDesc.ServiceName

// fixture configures a test application.
type fixture struct {
	nodes   []xregnode.Node
	options []xoption.Option
	runner  []runner.Option
	byEnv   bool // use the address of the environment instead of a free port
}

// app is an application that serves the test service and HTTP.
type app struct {
	*xreg.Reg
	t       *testing.T
	log     *calltest.Log
	service *calltest.Service
	url     string // of HTTP
	address string // of gRPC
	task    xmain.Task
	cancel  context.CancelFunc
	done    chan struct{}
	err     error // valid after done is closed
}

// listen opens a listener on a free port. It is closed when the test finishes.
func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// prepare creates an isolated application.
func prepare(t *testing.T, f fixture) *app {
	t.Helper()
	a := &app{t: t, service: &calltest.Service{}, cancel: func() {}, done: make(chan struct{})}
	l := listen(t)
	a.url = "http://" + l.Addr().String()
	var engine *xlog.Engine
	a.log, engine = calltest.NewLog(t)
	options := []xoption.Option{
		xoption.WithoutEnvFile(), xoption.WithLogger(engine),
		xoption.WithSnowflake(xsnowflake.WithNodeID(1)),
		xoption.WithListener(l), xoption.WithHealth(), xoption.WithDrainDelay(0),
	}
	reg, err := xreg.New(t.Context(), f.nodes, append(options, f.options...)...)
	if err != nil {
		t.Fatal(err)
	}
	a.Reg = reg
	runnerOptions := []runner.Option{
		runner.WithRegisterService(func(_ context.Context, r grpc.ServiceRegistrar) {
			pb.RegisterTestServiceServer(r, a.service)
		}),
	}
	if !f.byEnv {
		g := listen(t)
		a.address = g.Addr().String()
		runnerOptions = append(runnerOptions, runner.WithListener(g))
	}
	a.task = runner.New(slices.Concat(runnerOptions, f.runner)...)
	return a
}

// run runs the application in the background until the test finishes.
func (a *app) run(tasks ...xmain.Task) *app {
	ctx, cancel := context.WithCancel(context.WithoutCancel(a.t.Context()))
	a.cancel = cancel
	go func() {
		defer close(a.done)
		a.err = xmain.RunContext(ctx, a.Reg, nil, nil, append(tasks, a.task)...)
	}()
	a.t.Cleanup(func() {
		cancel()
		wait(a.t, a.done, "the application to stop")
	})
	return a
}

// start runs the application and waits until it is ready.
func (a *app) start() *app {
	a.t.Helper()
	a.run()
	select {
	case <-a.Lifecycle().Ready():
	case <-a.done:
		a.t.Fatalf("startup failed: %v\n%s", a.err, a.log)
	case <-time.After(testTimeout):
		a.t.Fatalf("not ready:\n%s", a.log)
	}
	if a.address == "" {
		a.address, _ = a.log.Only("serving gRPC")["address"].(string)
	}
	return a
}

// stop shuts the application down and returns the result of RunContext.
func (a *app) stop() error {
	a.t.Helper()
	a.cancel()
	return a.result()
}

// result waits for RunContext.
func (a *app) result() error {
	a.t.Helper()
	wait(a.t, a.done, "the application to stop")
	return a.err
}

// conn returns a connection that is closed when the test finishes.
func (a *app) conn(options ...grpc.DialOption) *grpc.ClientConn {
	a.t.Helper()
	return dial(a.t, a.address, options...)
}

// client returns a client with a new connection.
func (a *app) client(options ...grpc.DialOption) pb.TestServiceClient {
	a.t.Helper()
	return pb.NewTestServiceClient(a.conn(options...))
}

// readyz returns the HTTP readiness.
func (a *app) readyz() (code int, state string) {
	a.t.Helper()
	code, body, err := get(a.t, a.url+"/readyz")
	if err != nil {
		a.t.Fatal(err)
	}
	var response struct{ Status string }
	if err := json.Unmarshal(body, &response); err != nil {
		a.t.Fatalf("%s: %v", body, err)
	}
	return code, response.Status
}

// get sends a request over a new connection.
func get(t *testing.T, url string) (code int, body []byte, err error) {
	t.Helper()
	client := &http.Client{
		Transport: &http.Transport{DisableKeepAlives: true},
		Timeout:   testTimeout,
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		return 0, nil, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	body, err = io.ReadAll(resp.Body)
	return resp.StatusCode, body, errors.Join(err, resp.Body.Close())
}

// dial returns a connection that is closed when the test finishes.
func dial(t *testing.T, address string, options ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	defaults := []grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())}
	conn, err := grpc.NewClient(address, append(defaults, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// wait waits until a channel is closed.
func wait(t *testing.T, c <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(testTimeout):
		t.Fatalf("timed out waiting for %s", what)
	}
}

// callUnary makes a unary call in the background and returns a channel with its error.
func callUnary(ctx context.Context, client pb.TestServiceClient, text string) <-chan error {
	got := make(chan error, 1)
	go func() {
		_, err := client.Unary(ctx, &pb.TestRequest{Text: text}, grpc.WaitForReady(true))
		got <- err
	}()
	return got
}

// call makes a unary call that must succeed.
func call(t *testing.T, client pb.TestServiceClient, text string) *pb.TestResponse {
	t.Helper()
	resp, err := client.Unary(t.Context(), &pb.TestRequest{Text: text})
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

// waitRefused waits until an address rejects connections.
func waitRefused(t *testing.T, address string) {
	t.Helper()
	for end := time.Now().Add(testTimeout); time.Now().Before(end); {
		conn, err := (&net.Dialer{Deadline: end}).DialContext(t.Context(), "tcp", address)
		if errors.Is(err, syscall.ECONNREFUSED) {
			return
		}
		if err == nil {
			_ = conn.Close()
		}
	}
	t.Fatalf("%s accepts connections after %s", address, testTimeout)
}
