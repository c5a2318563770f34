//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/defined/xenv"
)

// serviceKey makes the test binary run the service.
const serviceKey xenv.EnvKey = "USERCENTER_TEST_SERVICE"

func TestMain(m *testing.M) {
	if _, ok := xenv.GetEnv(serviceKey); ok {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// process is the service in a separate process.
type process struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines chan string
	out   bytes.Buffer // complete when lines is closed
	url   string
	ids   idNode
}

// idNode contains the log fields of the ID node.
type idNode struct {
	Msg    string
	Source string
}

// launch starts the service in dir on a free port, with only these variables.
func launch(t *testing.T, dir string, env ...string) *process {
	t.Helper()
	p := &process{
		t: t, cmd: exec.CommandContext(t.Context(), os.Args[0]),
		lines: make(chan string, 100_000),
	}
	p.cmd.Dir = dir
	p.cmd.Env = append([]string{serviceKey.String() + "=1", "TMPDIR=" + dir, "PLINTH_PORT=0"},
		env...)
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
	return p
}

// ready waits until the service is ready.
func (p *process) ready() *process {
	p.t.Helper()
	for text := range p.lines {
		var line struct {
			idNode

			Address string
		}
		if json.Unmarshal([]byte(text), &line) != nil {
			continue
		}
		switch line.Msg {
		case "id node":
			p.ids = line.idNode
		case "ready":
			p.url = line.Address
			return p
		}
	}
	p.t.Fatalf("the service exited before it was ready:\n%s", p.out.String())
	return nil
}

// exit waits until the process exits.
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

// stop shuts the service down gracefully.
func (p *process) stop() (code int) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
	return p.exit()
}

// send sends a POST request with JSON, or a GET request if body is nil.
func send(
	ctx context.Context, client *http.Client, url string, body any,
) (status int, text string, err error) {
	method, reader := http.MethodGet, io.Reader(http.NoBody)
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return 0, "", err
		}
		method, reader = http.MethodPost, bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, url, reader)
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(data), err
}

func TestService_Defaults(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

	p := launch(t, dir, "PLINTH_DRAIN_DELAY=0s", "LOG_DIR=.logs").ready()
	if status, text, err := send(t.Context(), client, p.url+register, person("ada")); err != nil ||
		status != http.StatusOK {
		t.Fatalf("register = %d %s %v", status, text, err)
	}
	if code := p.stop(); code != 0 {
		t.Errorf("exit code = %d:\n%s", code, p.out.String())
	}
	for _, name := range []string{"usercenter.db", ".gitignore"} {
		if _, err := os.Stat(filepath.Join(dir, dataDir, name)); err != nil {
			t.Error(err)
		}
	}

	p = launch(t, dir, "PLINTH_DEBUG=true", "LOG_DIR=.logs").ready()
	status, text, err := send(t.Context(), client, p.url+login,
		map[string]string{"username": "ada", "password": password})
	if err != nil || status != http.StatusOK || !strings.Contains(text, `"overhead":`) {
		t.Errorf("login after a restart in debug mode = %d %s %v", status, text, err)
	}
	start := time.Now()
	if code := p.stop(); code != 0 || time.Since(start) > 4*time.Second {
		t.Errorf("exit code = %d after %s, want 0 without a drain delay", code, time.Since(start))
	}
	file, err := os.ReadFile(filepath.Join(dir, ".logs", "app.log"))
	if err != nil || strings.Count(string(file), `"msg":"stopped"`) != 2 {
		t.Errorf("log file = %v\n%s\nwant two stopped lines", err, file)
	}
	if log := p.out.String() + string(file); strings.Contains(log, password) ||
		strings.Contains(log, "argon2id") {
		t.Errorf("the log contains a password:\n%s", log)
	}
}

func TestShutdown_Load(t *testing.T) {
	t.Parallel()
	p := launch(t, t.TempDir(), "PLINTH_DRAIN_DELAY=500ms", "LOG_DIR=none").ready()
	var served atomic.Int64
	var clients sync.WaitGroup
	for i := range 4 {
		clients.Go(func() {
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			user := person(strings.Repeat("x", 3+i))
			for n := 0; ; n++ {
				url, body := p.url+register, any(user) // the first succeeds, the others fail
				if n%3 == 1 {
					url, body = p.url+"/ping", nil
				}
				status, text, err := send(context.Background(), client, url, body)
				if errors.Is(err, syscall.ECONNREFUSED) {
					return
				}
				exists := status == http.StatusBadRequest && strings.Contains(text, "EXISTED")
				if err != nil || status != http.StatusOK && !exists {
					t.Errorf("request %d of client %d = %d %s %v", n, i, status, text, err)
					return
				}
				served.Add(1)
			}
		})
	}
	for served.Load() < 100 {
		time.Sleep(time.Millisecond) //nolint:forbidigo // the clients run in other goroutines
	}
	if code := p.stop(); code != 0 {
		t.Errorf("exit code = %d:\n%s", code, p.out.String())
	}
	clients.Wait()
	t.Logf("%d requests served", served.Load())
}

func TestStartup(t *testing.T) {
	t.Parallel()

	t.Run("reports drivers that are not imported", func(t *testing.T) {
		t.Parallel()
		p := launch(t, t.TempDir(), "DATABASE_DRIVER=oracle", "DATABASE_PASS=s3cret",
			"NOSQL_DRIVER=memcached", "LOG_DIR=none")
		if code := p.exit(); code != 1 {
			t.Errorf("exit code = %d, want 1", code)
		}
		out := p.out.String()
		for _, want := range []string{
			"github.com/plinthgo/plinth/dbplugins/oracle", "go get",
			"imported: mysql, postgres, sqlite",
			`\"memcached\" (imported: memory, redis)`,
		} {
			if !strings.Contains(out, want) {
				t.Errorf("output\n%s\ndoes not contain %q", out, want)
			}
		}
		if strings.Contains(out, "s3cret") {
			t.Error("the output contains the password")
		}
	})

	t.Run("writes no log files", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		p := launch(t, dir, "PLINTH_DRAIN_DELAY=0s", "DATABASE_DSN=:memory:").ready()
		if code := p.stop(); code != 0 {
			t.Errorf("exit code = %d:\n%s", code, p.out.String())
		}
		if _, err := os.Stat(filepath.Join(dir, ".logs")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Stat(.logs) = %v, want fs.ErrNotExist", err)
		}
	})

	t.Run("reports a missing directory with other problems", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, dataDir), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		p := launch(t, dir, "PLINTH_DEBUG=maybe", "LOG_DIR=none")
		if code := p.exit(); code != 1 {
			t.Errorf("exit code = %d, want 1", code)
		}
		for _, want := range []string{
			`"msg":"start failed: DATABASE_PATH: `,
			`"msg":"start failed: PLINTH_DEBUG: `,
		} {
			if !strings.Contains(p.out.String(), want) {
				t.Errorf("output\n%s\ndoes not contain %s", p.out.String(), want)
			}
		}
	})
}

func TestStartup_Credentials(t *testing.T) {
	t.Parallel()
	for _, env := range [][]string{
		{"DATABASE_DRIVER=postgres", "DATABASE_HOST=u:hunter2@127.0.0.1"},
		{"DATABASE_DRIVER=postgres", "DATABASE_HOST=host=127.0.0.1 password=hunter2"},
		{"DATABASE_DRIVER=mysql", "DATABASE_HOST=u:hunter2@127.0.0.1"},
		{"DATABASE_DRIVER=mysql", "DATABASE_HOST=/u:hunter2@tcp(127.0.0.1)"},
		{"DATABASE_DRIVER=sqlite", "DATABASE_PATH=missing/x.db?_auth_pass=hunter2"},
		{"DATABASE_DRIVER=sqlite", "DATABASE_DSN=file:missing/x.db?_auth_pass=hunter2"},
		{"NOSQL_DRIVER=redis", "NOSQL_HOST=u:hunter2@127.0.0.1:1"},
		{"NOSQL_DRIVER=redis", "NOSQL_HOST=127.0.0.1:1,u:hunter2@127.0.0.1"},
		{
			"NOSQL_DRIVER=redis", "NOSQL_HOST=u:hunter2@127.0.0.1:1", "NOSQL_MODE=sentinel",
			"NOSQL_MASTER=m",
		},
		{"NOSQL_DRIVER=redis", "NOSQL_HOST=u:hunter2@127.0.0.1:1", "NOSQL_MODE=cluster"},
		{"NOSQL_DRIVER=redis", "NOSQL_HOST=127.0.0.1", "NOSQL_PORT=u:hunter2@1"},
		{"PLINTH_HOST=u:hunter2@127.0.0.1"},
		{"PLINTH_TRUSTED_PROXIES=10.0.0.0/8,u:hunter2@127.0.0.1"},
		{"NOSQL_DRIVER=u:hunter2@redis"},
		{"DATABASE_DRIVER=u:hunter2@postgres"},
		{"LOG_LEVEL=u:hunter2@info"},
		{"SNOWFLAKE_NODE_ID=u:hunter2@1"},
	} {
		// The temporary directory, which the output contains, is named after the subtest.
		t.Run(strings.ReplaceAll(strings.Join(env, " "), "hunter2", ""), func(t *testing.T) {
			t.Parallel()
			p := launch(t, t.TempDir(), append([]string{
				"LOG_DIR=none", "LOG_LEVEL=debug",
				"DATABASE_CONNECT_TIMEOUT=0s", "NOSQL_CONNECT_TIMEOUT=0s",
			}, env...)...)
			if code := p.exit(); code != 1 {
				t.Errorf("exit code = %d, want 1", code)
			}
			if strings.Contains(p.out.String(), "hunter2") {
				t.Errorf("the output contains the password:\n%s", p.out.String())
			}
		})
	}
}

func TestStartup_DataDir(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, file string
		env        []string
		want       string
		created    bool
	}{
		{
			name: "driver is selected", env: []string{"DATABASE_DRIVER=sqlite"},
			want: filepath.Join(dataDir, "usercenter.db"), created: true,
		},
		{
			name: "empty driver is not set", env: []string{"DATABASE_DRIVER="},
			want: filepath.Join(dataDir, "usercenter.db"), created: true,
		},
		{name: "another path in .env", file: "DATABASE_PATH=mine.db\n", want: "mine.db"},
		{name: "DSN", env: []string{"DATABASE_DSN=file:dsn.db"}, want: "dsn.db"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, ".env"), []byte(tc.file), 0o600); err != nil {
				t.Fatal(err)
			}
			p := launch(t, dir, append(tc.env, "PLINTH_DRAIN_DELAY=0s", "LOG_DIR=none")...).ready()
			if code := p.stop(); code != 0 {
				t.Errorf("exit code = %d:\n%s", code, p.out.String())
			}
			if _, err := os.Stat(filepath.Join(dir, tc.want)); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(filepath.Join(dir, dataDir)); (err == nil) != tc.created {
				t.Errorf("directory %s: %v, want created %t", dataDir, err, tc.created)
			}
		})
	}
}

func TestStartup_RequiredDatabase(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, file, env, want string }{
		{
			name: "environment", env: "DATABASE_DRIVER=none",
			want: `DATABASE_DRIVER: \"none\" is not a database, and the application requires one (accepted: mysql, postgres, sqlite)`,
		},
		{
			name: "file", file: "DATABASE_DRIVER=none\n", env: "PLINTH_DEBUG=",
			want: `DATABASE_DRIVER: \"none\"`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, ".env"), []byte(tc.file), 0o600); err != nil {
				t.Fatal(err)
			}
			p := launch(t, dir, tc.env, "LOG_DIR=none")
			if code := p.exit(); code != 1 ||
				!strings.Contains(p.out.String(), "start failed: "+tc.want) {
				t.Errorf("exit code = %d, want 1 and %s:\n%s", code, tc.want, p.out.String())
			}
			if _, err := os.Stat(filepath.Join(dir, dataDir)); err == nil {
				t.Error("the database directory was created")
			}
		})
	}
}
