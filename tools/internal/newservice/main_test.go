// Package newservice_test tests services that plinth creates as consumers use them:
// outside of the repository, with the modules that it would publish.
package newservice_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/plinthgo/plinth/tools/internal/sandbox"
	"github.com/plinthgo/plinth/tools/internal/workspace"
)

// box is the sandbox of a consumer, with the modules of the working tree and plinth. It
// is opened on first use.
var box struct {
	once    sync.Once
	sandbox *sandbox.Sandbox
	err     error
}

// module is the module path of the services in the tests.
const module = "example.com/my.shop/v2"

// options are the options of plinth new.
type options struct {
	database, cache         string
	grpc, async, cron, mail bool
}

// withAll returns the options of a service with all features.
func withAll(database, cache string) options {
	return options{database: database, cache: cache, grpc: true, async: true, cron: true, mail: true}
}

// flags returns the flags of plinth new.
func (o options) flags() []string {
	flags := []string{"--db=" + o.database, "--cache=" + o.cache}
	for flag, set := range map[string]bool{
		"--grpc": o.grpc, "--async": o.async, "--cron": o.cron, "--mail": o.mail,
	} {
		if set {
			flags = append(flags, flag)
		}
	}
	slices.Sort(flags)
	return flags
}

func TestMain(m *testing.M) {
	code := m.Run()
	if box.sandbox != nil {
		if err := box.sandbox.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// sharedSandbox returns the sandbox of all tests.
func sharedSandbox(t *testing.T) *sandbox.Sandbox {
	t.Helper()
	if testing.Short() {
		t.Skip("builds whole services")
	}
	box.once.Do(func() { box.sandbox, box.err = open(context.WithoutCancel(t.Context())) })
	if box.err != nil {
		t.Fatal(box.err)
	}
	return box.sandbox
}

func open(ctx context.Context) (*sandbox.Sandbox, error) {
	root, err := workspace.Find()
	if err != nil {
		return nil, err
	}
	modules, err := workspace.Modules(root)
	if err != nil {
		return nil, err
	}
	s, err := sandbox.Open(ctx)
	if err != nil {
		return nil, err
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", s.Path("plinth"),
		workspace.Root+"/tools/plinth")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return s, fmt.Errorf("build plinth: %w\n%s", err, out)
	}
	return s, s.Publish(ctx, modules...)
}

// project is a service in a directory of the sandbox.
type project struct {
	t       *testing.T
	dir     string
	sandbox *sandbox.Sandbox
}

// newTidyProject creates a service and downloads its modules.
func newTidyProject(t *testing.T, o options) *project {
	t.Helper()
	p := newProject(t, o)
	p.goCommand("mod", "tidy")
	return p
}

// newProject creates a service.
func newProject(t *testing.T, o options) *project {
	t.Helper()
	p := &project{t: t, sandbox: sharedSandbox(t), dir: filepath.Join(t.TempDir(), "service")}
	if err := os.Mkdir(p.dir, 0o750); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"new", module, "--dir=.", "--no-tidy"}, o.flags()...)
	if out, err := p.plinth(args...); err != nil {
		t.Fatalf("plinth new: %v\n%s", err, out)
	}
	return p
}

// plinth runs the program in the directory of the service and returns its output.
func (p *project) plinth(args ...string) (string, error) {
	p.t.Helper()
	out, err := p.command(nil, p.sandbox.Path("plinth"), args...).CombinedOutput()
	return string(out), err
}

// command returns a command in the directory of the service.
func (p *project) command(env []string, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(p.t.Context(), name, args...)
	cmd.Dir = p.dir
	cmd.Env = append(p.sandbox.Env(p.sandbox.Cache("services")), env...)
	return cmd
}

func (p *project) goCommand(args ...string) {
	p.t.Helper()
	p.goWith(nil, args...)
}

func (p *project) goWith(env []string, args ...string) {
	p.t.Helper()
	if out, err := p.command(env, "go", args...).CombinedOutput(); err != nil {
		p.t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// buildAndTest builds, vets and tests the service.
func (p *project) buildAndTest() {
	p.t.Helper()
	p.goCommand("build", "./...")
	p.goCommand("vet", "./...")
	p.goCommand("test", "-vet=off", "./...") // vet ran above with all checks
}

func (p *project) read(file string) string {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join(p.dir, filepath.FromSlash(file)))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(text)
}
