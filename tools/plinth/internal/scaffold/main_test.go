package scaffold_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/plinthgo/plinth/tools/internal/sandbox"
	"github.com/plinthgo/plinth/tools/internal/workspace"
	"github.com/plinthgo/plinth/tools/plinth/internal/scaffold"
)

// box is the machine of somebody else, with what this working tree would publish. It is opened when a test asks for it.
var box struct {
	once    sync.Once
	sandbox *sandbox.Sandbox
	err     error
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

// stranger returns the sandbox of all tests.
func stranger(t *testing.T) *sandbox.Sandbox {
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
	return s, s.Publish(ctx, modules...)
}

// project is a service in a folder of the stranger's.
type project struct {
	t       *testing.T
	dir     string
	sandbox *sandbox.Sandbox
}

// write writes a service into a folder and fetches its modules.
func write(t *testing.T, w scaffold.Wanted) *project {
	t.Helper()
	p := &project{t: t, sandbox: stranger(t), dir: filepath.Join(t.TempDir(), "service")}
	_, files := rendered(t, w)
	if err := scaffold.Create(p.dir, files); err != nil {
		t.Fatal(err)
	}
	p.goCommand("mod", "tidy")
	return p
}

// command is a command in the folder of the service.
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

// works builds, vets and tests the service.
func (p *project) works() {
	p.t.Helper()
	p.goCommand("build", "./...")
	p.goCommand("vet", "./...")
	p.goCommand("test", "-vet=off", "./...") // vetted above, by all checks
}

func (p *project) read(file string) string {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join(p.dir, filepath.FromSlash(file)))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(text)
}
