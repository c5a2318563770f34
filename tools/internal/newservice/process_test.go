//go:build unix

package newservice_test

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/tools/internal/pgtest"
)

// running is a command that runs a service.
type running struct {
	t        *testing.T
	cmd      *exec.Cmd
	exited   chan struct{}
	out      string // the output file
	url, rpc string
}

// launch builds the service and runs it with the lines of .env.example as its .env.
func (p *project) launch(env ...string) *running {
	p.t.Helper()
	p.goCommand("build", "-o", "service", ".")
	dotenv := []byte(p.read(".env.example"))
	if err := os.WriteFile(filepath.Join(p.dir, ".env"), dotenv, 0o600); err != nil {
		p.t.Fatal(err)
	}
	return p.start(nil, env, filepath.Join(p.dir, "service"))
}

// start runs a command that starts the service, and waits until the service is ready. A
// nil keyboard is no input.
func (p *project) start(keyboard *os.File, env []string, name string, args ...string) *running {
	p.t.Helper()
	httpPort, rpcPort := freePort(p.t), freePort(p.t)
	cmd := p.command(append(env,
		"PLINTH_PORT="+httpPort, "GRPC_PORT="+rpcPort, "PLINTH_DRAIN_DELAY=0s", "LOG_DIR=none",
	), name, args...)
	if keyboard != nil {
		cmd.Stdin = keyboard
	}
	out, err := os.Create(filepath.Join(p.t.TempDir(), "output"))
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = out.Close() }()
	r := &running{
		t: p.t, cmd: cmd, exited: make(chan struct{}), out: out.Name(),
		url: "http://127.0.0.1:" + httpPort, rpc: "127.0.0.1:" + rpcPort,
	}
	cmd.Stdout, cmd.Stderr = out, out
	cmd.Cancel = func() error { return cmd.Process.Kill() }
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	go func() { _ = cmd.Wait(); close(r.exited) }()
	p.t.Cleanup(func() { _ = cmd.Process.Kill(); <-r.exited })
	r.awaitReady()
	return r
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

func (r *running) awaitReady() {
	r.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for timeout := time.After(30 * time.Second); ; {
		if status, _ := r.request(http.MethodGet, "/readyz", ""); status == http.StatusOK {
			return
		}
		select {
		case <-tick.C:
		case <-r.exited:
			r.t.Fatalf("the service exited:\n%s", r.output())
		case <-timeout:
			_ = r.cmd.Process.Kill()
			<-r.exited
			r.t.Fatalf("the service is not ready:\n%s", r.output())
		}
	}
}

// output returns the output so far.
func (r *running) output() string {
	r.t.Helper()
	text, err := os.ReadFile(r.out)
	if err != nil {
		r.t.Fatal(err)
	}
	return string(text)
}

// awaitOutput waits until the output contains text.
func (r *running) awaitOutput(text string) {
	r.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for timeout := time.After(30 * time.Second); !strings.Contains(r.output(), text); {
		select {
		case <-tick.C:
		case <-timeout:
			r.t.Fatalf("the service does not print %q:\n%s", text, r.output())
		}
	}
}

// request returns the status and the body of the response, or the status 0 and the error.
func (r *running) request(method, path, body string) (int, string) {
	r.t.Helper()
	request, err := http.NewRequestWithContext(r.t.Context(), method, r.url+path,
		strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err.Error()
	}
	return response.StatusCode, string(text)
}

// raw is a gRPC codec for encoded messages.
type raw struct{}

func (raw) Marshal(v any) ([]byte, error) { return *v.(*[]byte), nil }

func (raw) Unmarshal(data []byte, v any) error {
	*v.(*[]byte) = data
	return nil
}

func (raw) Name() string { return "proto" }

// getNote calls NoteService.GetNote.
func (r *running) getNote(id int64) (string, error) {
	conn, err := grpc.NewClient(r.rpc, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	request := protowire.AppendTag(nil, 1, protowire.VarintType)
	request = protowire.AppendVarint(request, uint64(id))
	var response []byte
	err = conn.Invoke(r.t.Context(), "/note.v1.NoteService/GetNote", &request, &response,
		grpc.ForceCodec(raw{}))
	return string(response), err
}

// checkNote creates a note over HTTP and reads it over both transports.
func (r *running) checkNote() {
	r.t.Helper()
	status, text := r.request(http.MethodPost, "/api/v1/notes",
		`{"title":"Shopping","text":"milk, bread"}`)
	var created struct{ Data struct{ ID string } }
	if err := json.Unmarshal([]byte(text), &created); err != nil || status != http.StatusOK {
		r.t.Fatalf("create = %d %s", status, text)
	}
	status, text = r.request(http.MethodGet, "/api/v1/notes/"+created.Data.ID, "")
	if status != http.StatusOK || !strings.Contains(text, "milk, bread") {
		r.t.Errorf("get = %d %s", status, text)
	}
	id, err := strconv.ParseInt(created.Data.ID, 10, 64)
	if err != nil {
		r.t.Fatal(err)
	}
	if note, err := r.getNote(id); err != nil || !strings.Contains(note, "milk, bread") {
		r.t.Errorf("get over gRPC = %q, %v", note, err)
	}
}

// stop sends SIGTERM and returns the exit code.
func (r *running) stop() int {
	r.t.Helper()
	if err := r.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		r.t.Fatal(err)
	}
	return r.exit()
}

// exit waits for the command and returns its exit code.
func (r *running) exit() int {
	r.t.Helper()
	select {
	case <-r.exited:
	case <-time.After(30 * time.Second):
		r.t.Fatal("the service does not stop")
	}
	return r.cmd.ProcessState.ExitCode()
}

func TestService_SQLite(t *testing.T) {
	p := newTidyProject(t, withAll("sqlite", "memory"))
	r := p.launch()
	r.checkNote()
	r.awaitOutput("words counted") // by the background job of the new note
	if code := r.stop(); code != 0 {
		t.Errorf("exit code = %d:\n%s", code, r.output())
	}
}

// TestService_Postgres uses Redis as the cache if a server is available.
func TestService_Postgres(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a whole service")
	}
	env, cache := pgtest.Database(t), "memory"
	if url, ok := xenv.GetEnv("PLINTH_TEST_REDIS_URL"); ok {
		env, cache = append(env, "NOSQL_URL="+url, "NOSQL_PREFIX=new:"), "redis"
	}
	p := newTidyProject(t, withAll("postgres", cache))
	p.goWith(append(env, "TEST_BACKENDS=1"), "test", "-count=1", "-vet=off", "./...")
	r := p.launch(env...)
	r.checkNote()
	if code := r.stop(); code != 0 {
		t.Errorf("exit code = %d:\n%s", code, r.output())
	}
	if !strings.Contains(r.output(), `"backend":"postgres"`) {
		t.Errorf("the leases are not in PostgreSQL:\n%s", r.output())
	}
}
