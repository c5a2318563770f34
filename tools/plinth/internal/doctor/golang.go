package doctor

import (
	"context"
	"errors"
	"fmt"
	"go/version"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/plinthgo/plinth/tools/plinth/internal/service"
)

// run executes a program and returns its standard output. Its error contains the last
// line of standard error.
func run(
	ctx context.Context, dir string, env []string, name string, args ...string,
) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		lines := strings.Split(strings.TrimSpace(string(exit.Stderr)), "\n")
		err = fmt.Errorf("%s %s: %s", name, args[0], lines[len(lines)-1])
	}
	return strings.TrimSpace(string(out)), err
}

// checkGo compares the installed Go version with go.mod.
func (p *target) checkGo(ctx context.Context) []Finding {
	// Run outside of the module, so that the go command does not download the toolchain
	// of go.mod.
	out, err := run(ctx, os.TempDir(), []string{"GOWORK=off"}, "go", "env", "GOVERSION",
		"GOTOOLCHAIN")
	if err != nil {
		return []Finding{problem(fmt.Sprintf("cannot run the go command: %v", err),
			"install Go from https://go.dev/dl and add it to PATH")}
	}
	have, toolchain, _ := strings.Cut(out, "\n")
	have, _, _ = strings.Cut(have, " ")
	if p.Module == nil || p.Module.Go == nil {
		return []Finding{ok("%s", have)}
	}
	want := "go" + p.Module.Go.Version
	switch {
	case !version.IsValid(have) || version.Compare(have, want) >= 0:
		return []Finding{ok("%s (go.mod requires %s)", have, p.Module.Go.Version)}
	case toolchain == "local":
		return []Finding{problem(
			fmt.Sprintf("%s is older than %s of go.mod, and GOTOOLCHAIN=local prevents the download", have, want),
			fmt.Sprintf("install %s or newer from https://go.dev/dl, or run go env -w GOTOOLCHAIN=auto", want),
		)}
	default:
		return []Finding{warning(
			fmt.Sprintf("%s is older than %s of go.mod: each build needs the downloaded toolchain",
				have, want),
			fmt.Sprintf("install %s or newer from https://go.dev/dl", want),
		)}
	}
}

// checkModules checks the requirements and replacements of Plinth modules in go.mod.
func (p *target) checkModules(context.Context) []Finding {
	switch {
	case p.ModuleErr != nil:
		return []Finding{problem(p.ModuleErr.Error(), "correct go.mod")}
	case p.Module == nil:
		return []Finding{problem("no go.mod in this directory or its parents",
			"run plinth in the directory of a service, or create one: plinth new MODULE")}
	}
	own := p.ownModules()
	found := p.replaced()
	if p.Requires(service.Core) == "" && p.Module.Module.Mod.Path != service.Core {
		return append(found, problem("go.mod does not require "+service.Core,
			"go get "+service.Core+"@latest"))
	}
	versions := make([]string, len(own))
	for i, path := range own {
		versions[i] = strings.TrimPrefix(path, service.Project) + " " + p.Requires(path)
	}
	found = append([]Finding{ok("%s", strings.Join(versions, ", "))}, found...)
	return append(found, p.checkInterfaces()...)
}

// ownModules returns the Plinth modules of go.mod, core first.
func (p *target) ownModules() []string {
	var own []string
	for _, r := range p.Module.Require {
		if strings.HasPrefix(r.Mod.Path, service.Project) {
			own = append(own, r.Mod.Path)
		}
	}
	slices.Sort(own)
	if i := slices.Index(own, service.Core); i > 0 {
		own = slices.Insert(slices.Delete(own, i, i+1), 0, service.Core)
	}
	return own
}

// replaced reports Plinth modules that go.mod replaces with a directory.
func (p *target) replaced() []Finding {
	var found []Finding
	for _, r := range p.Module.Replace {
		if strings.HasPrefix(r.Old.Path, service.Project) && r.New.Version == "" {
			found = append(found, warning(
				fmt.Sprintf("go.mod replaces %s with the local directory %s",
					r.Old.Path, r.New.Path),
				"before a release, run go mod edit -dropreplace="+r.Old.Path,
			))
		}
	}
	return found
}
