//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/examples/grpc/userv1"
	"github.com/plinthgo/plinth/grpcx/client"
)

// serviceKey makes the test binary run the program.
const serviceKey xenv.EnvKey = "GRPC_EXAMPLE_TEST_SERVICE"

func TestMain(m *testing.M) {
	if _, isService := xenv.GetEnv(serviceKey); isService {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// program returns a command that runs the program in dir with only these variables.
func program(t *testing.T, dir string, env []string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Dir = dir
	cmd.Env = append([]string{serviceKey.String() + "=1", "TMPDIR=" + dir}, env...)
	return cmd
}

// process is the service in a separate process.
type process struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines chan string
	out   bytes.Buffer // complete when lines is closed
	grpc  string       // address
}

// launch starts the service in dir on free ports and waits until it is ready.
func launch(t *testing.T, dir string, env ...string) *process {
	t.Helper()
	p := &process{t: t, lines: make(chan string, 100_000)}
	p.cmd = program(t, dir, append([]string{"PLINTH_PORT=0", "GRPC_PORT=0"}, env...))
	pipe, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.Stderr = p.cmd.Stdout
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.lines)
		for scan := bufio.NewScanner(pipe); scan.Scan(); {
			p.out.WriteString(scan.Text() + "\n")
			p.lines <- scan.Text()
		}
	}()
	for text := range p.lines {
		var line struct{ Msg, Address string }
		if json.Unmarshal([]byte(text), &line) != nil {
			continue
		}
		switch line.Msg {
		case "serving gRPC":
			p.grpc = line.Address
		case "ready":
			return p
		}
	}
	t.Fatalf("the service exited:\n%s", p.out.String())
	return nil
}

// signal shuts the service down.
func (p *process) signal() {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
}

// exit waits for the service to exit.
func (p *process) exit() (code int) {
	p.t.Helper()
	watchdog := time.AfterFunc(30*time.Second, func() { _ = p.cmd.Process.Kill() })
	defer watchdog.Stop()
	for range p.lines { // until the pipe is closed
	}
	if err, exit := p.cmd.Wait(), (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	return p.cmd.ProcessState.ExitCode()
}

var printed = regexp.MustCompile(`^APP_ACCESS_ID=(\d+)\nAPP_SECRET_KEY=(cs_[0-9a-f]{64})\n$`)

// createApp creates an application with the command and returns its credentials.
func createApp(t *testing.T, dir string) (id, secret string) {
	t.Helper()
	// Use a fixed node ID, because leasing through a file logs a warning in containers.
	fixedID := []string{"SNOWFLAKE_DATACENTER_ID=7", "SNOWFLAKE_NODE_ID=7"}
	cmd := program(t, dir, fixedID, "app", "create", "shop")
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	err := cmd.Run()
	found := printed.FindStringSubmatch(out.String())
	if err != nil || found == nil || problems.Len() > 0 {
		t.Fatalf("app create: %v\n%s%s", err, out.String(), problems.String())
	}
	return found[1], found[2]
}

func (p *process) connect(options ...client.Option) userv1.UserServiceClient {
	p.t.Helper()
	conn, err := client.Dial(p.grpc,
		append(options, client.WithPlaintext(), client.WithPlaintextSecrets())...)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = conn.Close() })
	return userv1.NewUserServiceClient(conn)
}

func TestProcess_Shutdown(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := launch(t, dir, "PLINTH_DRAIN_DELAY=100ms", "LOG_DIR=none")
	id, secret := createApp(t, dir) // while the service runs
	changes, err := p.connect(client.WithApplication(id, secret)).Watch(streamContext(t),
		&userv1.WatchRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := changes.Header(); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	p.signal()
	_, err = changes.Recv()
	if status.Code(err) != codes.Unavailable ||
		xerror.From(err).GetErrorCode() != xerror.ServiceUnavailable {
		t.Errorf("watch = %v, want Unavailable", err)
	}
	if code := p.exit(); code != 0 || time.Since(start) > 10*time.Second {
		t.Errorf("exit code = %d after %s:\n%s", code, time.Since(start), p.out.String())
	}
	if strings.Contains(p.out.String(), "force closed") {
		t.Errorf("a stream was force closed:\n%s", p.out.String())
	}
}

func TestProcess_Health(t *testing.T) {
	t.Parallel()
	p := launch(t, t.TempDir(), "PLINTH_DRAIN_DELAY=0s", "LOG_DIR=none")
	conn, err := client.Dial(p.grpc, client.WithPlaintext())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	health := grpc_health_v1.NewHealthClient(conn)
	got, err := health.Check(t.Context(),
		&grpc_health_v1.HealthCheckRequest{Service: userv1.UserService_ServiceDesc.ServiceName})
	if err != nil || got.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING {
		t.Errorf("Check = %v, %v, want SERVING", got, err)
	}
	_, err = userv1.NewUserServiceClient(conn).Get(t.Context(), &userv1.GetRequest{Id: 1})
	if xerror.From(err).GetErrorCode() != xerror.NotExist {
		t.Errorf("Get without credentials = %v", err)
	}
	p.signal()
	if code := p.exit(); code != 0 {
		t.Errorf("exit code = %d:\n%s", code, p.out.String())
	}
}

func TestProcess_Client(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	binary := filepath.Join(dir, "client")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "./client")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	p := launch(t, dir, "PLINTH_DRAIN_DELAY=0s", "LOG_DIR=.logs")
	id, secret := createApp(t, dir)

	run := func(secret string) (string, int) {
		cmd := exec.CommandContext(t.Context(), binary, "-address", p.grpc, "-user", "ada",
			"-watch", "100ms")
		cmd.Dir, cmd.Env = dir, []string{"APP_ACCESS_ID=" + id, "APP_SECRET_KEY=" + secret}
		out, err := cmd.CombinedOutput()
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return string(out), cmd.ProcessState.ExitCode()
	}
	const uuid = `[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`
	want := regexp.MustCompile(`^registered  \d+ ada \(request ` + uuid + `\)
found       ada@example\.org, \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ
refused     40906 DUPLICATE_ENTRY: the username or the e-mail address is taken, Aborted over gRPC \(request ` + uuid + `\)
watched     ada
$`)
	if out, code := run(secret); code != 0 || !want.MatchString(out) {
		t.Errorf("client = %d\n%s\nwant\n%s", code, out, want)
	}
	wrong := strings.Repeat("0", len(secret))
	out, code := run(wrong)
	if code != 1 || !strings.Contains(out, "UNAUTHORIZED") || strings.Contains(out, wrong) {
		t.Errorf("client with a wrong secret = %d\n%s", code, out)
	}

	p.signal()
	if code := p.exit(); code != 0 {
		t.Errorf("exit code = %d:\n%s", code, p.out.String())
	}
	file, err := os.ReadFile(filepath.Join(dir, ".logs", "app.log"))
	if err != nil || !strings.Contains(string(file), `"source":"sample-client"`) {
		t.Errorf("log file: %v\n%s\nwant the name of the caller", err, file)
	}
	for _, s := range []string{secret, wrong, "argon2id"} {
		if strings.Contains(p.out.String()+string(file), s) {
			t.Errorf("%q is in the log", s)
		}
	}
}

func TestProcess_InvalidCommand(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		args []string
		want int
	}{
		{name: "incomplete command", args: []string{"app"}, want: 2},
		{name: "unknown command", args: []string{"app", "delete", "shop"}, want: 2},
		{name: "no name", args: []string{"app", "create", ""}, want: 1},
		{name: "name with a line break", args: []string{"app", "create", "a\nb"}, want: 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			cmd := program(t, t.TempDir(), nil, tc.args...)
			var out bytes.Buffer
			cmd.Stdout = &out
			if err := cmd.Run(); err == nil || cmd.ProcessState.ExitCode() != tc.want ||
				out.Len() > 0 {
				t.Errorf("exit code = %d with %q, want %d and no output",
					cmd.ProcessState.ExitCode(), out.String(), tc.want)
			}
		})
	}
}
