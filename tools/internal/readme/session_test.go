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

// patience bounds the wait for a service, which may have to be built first.
const patience = 3 * time.Minute

// A Session is a reader at work: a shell that keeps its folder, and another one in which
// a service runs.
type Session struct {
	dir     string
	state   string // the file in which the shell leaves its folder
	env     []string
	replace *strings.Replacer
	address string
	service *service
}

// Begin begins in a folder. The service gets a free port instead of 1118; replace has
// what else cannot run as it is written, and by what it is replaced.
func Begin(ctx context.Context, dir string, env []string, replace ...string) (*Session, error) {
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
		dir: dir, state: filepath.Join(dir, ".folder"), address: address,
		env: append(slices.Clip(env), "PLINTH_HOST=127.0.0.1",
			"PLINTH_PORT="+port, "PLINTH_DRAIN_DELAY=0s", "LOG_DIR=none"),
		// The first of two that fit is taken.
		replace: strings.NewReplacer(append(slices.Clip(replace), "localhost:1118", address)...),
	}, nil
}

// Stranger returns the environment of somebody whose go command asks the sandbox's proxy
// and whose module cache is empty. It completes neither go.mod nor go.sum unasked. What
// is installed is found.
func Stranger(s *sandbox.Sandbox) []string {
	bin := s.Path("bin")
	return append(s.Env(s.Cache("stranger")),
		"GOFLAGS=-modcacherw -trimpath",
		"GONOSUMDB=*", // what the proxy has of other people was checked when it came there
		"GOBIN="+bin, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// Dir returns the folder in which the shell is.
func (s *Session) Dir() string { return s.dir }

// Run runs a block, and returns what it prints on standard output. Where its last line
// starts a service it returns when that is ready, and has stopped the one before.
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
	var problem bytes.Buffer
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%w\n%s\n%s%s", err, script, out, problem.String())
	}
	folder, err := os.ReadFile(s.state)
	if err != nil {
		return "", err
	}
	s.dir = strings.TrimSpace(string(folder))
	return string(out), nil
}

// service is a command that runs until it is stopped.
type service struct {
	cmd   *exec.Cmd
	out   output
	ended chan struct{}
}

// output is what a process prints; it can be read meanwhile.
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

// String returns what was printed so far.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// start starts a service in a process group of its own, and waits until it is ready.
func (s *Session) start(ctx context.Context, line string) error {
	if err := s.Stop(); err != nil {
		return err
	}
	r := &service{cmd: exec.CommandContext(ctx, "sh", "-c", line), ended: make(chan struct{})}
	r.cmd.Dir, r.cmd.Env = s.dir, s.env
	r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.out
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	r.cmd.Cancel = func() error { return syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL) }
	if err := r.cmd.Start(); err != nil {
		return err
	}
	s.service = r
	go func() { _ = r.cmd.Wait(); close(r.ended) }() // when all of the group have closed the output
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for late := time.After(patience); ; {
		select {
		case <-tick.C:
			if s.ready(ctx) {
				return nil
			}
		case <-r.ended:
			return fmt.Errorf("%s has ended:\n%s", line, r.out.String())
		case <-late:
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

// Log returns what the service has printed, also after it was stopped.
func (s *Session) Log() string {
	if s.service == nil {
		return ""
	}
	return s.service.out.String()
}

// Stop stops the service, if one runs, as Kubernetes would, and waits for its end.
func (s *Session) Stop() error {
	if s.service == nil {
		return nil
	}
	select {
	case <-s.service.ended:
		return nil
	default:
	}
	group := -s.service.cmd.Process.Pid
	if err := syscall.Kill(group, syscall.SIGTERM); err != nil {
		return fmt.Errorf("stop the service: %w", err)
	}
	select {
	case <-s.service.ended:
		return nil
	case <-time.After(patience):
		return errors.Join(errors.New("the service does not stop:\n"+s.service.out.String()),
			syscall.Kill(group, syscall.SIGKILL))
	}
}
