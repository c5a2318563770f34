//go:build unix

package readme_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/plinthgo/plinth/tools/internal/sandbox"
)

// startTimeout limits the wait for a service, which may have to be built first.
const startTimeout = 3 * time.Minute

// A Session is a shell that retains its working directory, and a service that runs in a
// second shell.
type Session struct {
	dir     string
	state   string // file in which the shell stores its working directory
	env     []string
	replace *strings.Replacer
	address string
	service *service
}

// NewSession returns a session in a directory. The service listens on a free port instead
// of 1118; replace contains additional pairs of old and new strings.
func NewSession(
	ctx context.Context, dir string, env []string, replace ...string,
) (*Session, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	return &Session{
		dir: dir, state: filepath.Join(dir, ".directory"), address: address,
		env: append(slices.Clip(env), "PLINTH_HOST=127.0.0.1",
			"PLINTH_PORT="+port, "PLINTH_DRAIN_DELAY=0s", "LOG_DIR=none", "LOG_FORMAT=console",
			"NO_COLOR=1"),
		replace: strings.NewReplacer(append(slices.Clip(replace), "localhost:1118", address)...),
	}, nil
}

// ConsumerEnv returns an environment whose go command uses the sandbox's proxy and an
// empty module cache. Installed programs are in its PATH.
func ConsumerEnv(s *sandbox.Sandbox) []string {
	bin := s.Path("bin")
	return append(s.Env(s.Cache("consumer")),
		"GOFLAGS=-modcacherw -trimpath",
		"GONOSUMDB=*", // the proxy has verified third-party modules already
		"GOBIN="+bin, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// Dir returns the working directory of the shell.
func (s *Session) Dir() string { return s.dir }

// Run runs a block and returns its standard output. If the last line starts a service,
// Run stops the previous service and returns when the new one is ready.
func (s *Session) Run(ctx context.Context, block string) (string, error) {
	block = strings.TrimSpace(s.replace.Replace(block))
	i := strings.LastIndexByte(block, '\n') + 1
	if last := block[i:]; strings.HasSuffix(last, "go run .") || last == "make run" {
		if _, err := s.shell(ctx, block[:i]); err != nil {
			return "", err
		}
		return "", s.start(ctx, last)
	}
	return s.shell(ctx, block)
}

func (s *Session) shell(ctx context.Context, script string) (string, error) {
	cmd := exec.CommandContext(ctx, "sh", "-ec", script+"\npwd > '"+s.state+"'\n")
	cmd.Dir, cmd.Env = s.dir, s.env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%w\n%s\n%s%s", err, script, out, stderr.String())
	}
	dir, err := os.ReadFile(s.state)
	if err != nil {
		return "", err
	}
	s.dir = strings.TrimSpace(string(dir))
	return string(out), nil
}

// service is a command that runs until it is stopped.
type service struct {
	cmd    *exec.Cmd
	out    output
	exited chan struct{}
}

// output collects what a process prints. It is safe for concurrent use.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

// String returns the output so far.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// start starts a service in its own process group and waits until it is ready.
func (s *Session) start(ctx context.Context, line string) error {
	if err := s.Stop(); err != nil {
		return err
	}
	r := &service{cmd: exec.CommandContext(ctx, "sh", "-c", line), exited: make(chan struct{})}
	r.cmd.Dir, r.cmd.Env = s.dir, s.env
	r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.out
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	r.cmd.Cancel = func() error { return syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL) }
	if err := r.cmd.Start(); err != nil {
		return err
	}
	s.service = r
	// returns when all processes of the group have closed the output
	go func() { _ = r.cmd.Wait(); close(r.exited) }()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for timeout := time.After(startTimeout); ; {
		select {
		case <-tick.C:
			if s.ready(ctx) {
				return nil
			}
		case <-r.exited:
			return fmt.Errorf("%s has exited:\n%s", line, r.out.String())
		case <-timeout:
			return errors.Join(fmt.Errorf("%s is not ready:\n%s", line, r.out.String()), s.Stop())
		}
	}
}

func (s *Session) ready(ctx context.Context) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.address+"/readyz",
		http.NoBody)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	return response.Body.Close() == nil && response.StatusCode == http.StatusOK
}

// Log returns the output of the service. It can be called after Stop.
func (s *Session) Log() string {
	if s.service == nil {
		return ""
	}
	return s.service.out.String()
}

// Stop sends SIGTERM to the service, if it is running, and waits until it exits.
func (s *Session) Stop() error {
	if s.service == nil {
		return nil
	}
	select {
	case <-s.service.exited:
		return nil
	default:
	}
	group := -s.service.cmd.Process.Pid
	if err := syscall.Kill(group, syscall.SIGTERM); err != nil {
		return fmt.Errorf("stop the service: %w", err)
	}
	select {
	case <-s.service.exited:
		return nil
	case <-time.After(startTimeout):
		return errors.Join(errors.New("the service has not exited:\n"+s.service.out.String()),
			syscall.Kill(group, syscall.SIGKILL))
	}
}
