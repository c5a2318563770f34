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

// run starts a program and returns what it prints on standard output, and the last line
// of its errors.
func run(
	ctx context.Context, dir string, env []string, name string, args ...string,
) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		said := strings.Split(strings.TrimSpace(string(exit.Stderr)), "\n")
		err = fmt.Errorf("%s %s: %s", name, args[0], said[len(said)-1])
	}
	return strings.TrimSpace(string(out)), err
}

// checkGo compares the Go of this machine with what go.mod wants.
func (p *patient) checkGo(ctx context.Context) []Finding {
	// Outside of the module, so that the command answers for itself instead of fetching
	// the toolchain that go.mod names.
	out, err := run(ctx, os.TempDir(), []string{"GOWORK=off"}, "go", "env", "GOVERSION",
		"GOTOOLCHAIN")
	if err != nil {
		return []Finding{problem(fmt.Sprintf("the go command does not run: %v", err),
			"install Go from https://go.dev/dl and put it into PATH")}
	}
	have, toolchain, _ := strings.Cut(out, "\n")
	have, _, _ = strings.Cut(have, " ")
	if p.Module == nil || p.Module.Go == nil {
		return []Finding{ok("%s", have)}
	}
	want := "go" + p.Module.Go.Version
	switch {
	case !version.IsValid(have) || version.Compare(have, want) >= 0:
		return []Finding{ok("%s (go.mod wants %s)", have, p.Module.Go.Version)}
	case toolchain == "local":
		return []Finding{problem(
			fmt.Sprintf("%s is older than the %s of go.mod, and GOTOOLCHAIN=local forbids to fetch it", have, want),
			fmt.Sprintf("install %s or newer from https://go.dev/dl, or run go env -w GOTOOLCHAIN=auto", want),
		)}
	default:
		return []Finding{warning(
			fmt.Sprintf("%s is older than the %s of go.mod: every build fetches that, or fails where it cannot", have, want),
			fmt.Sprintf("install %s or newer from https://go.dev/dl", want),
		)}
	}
}

// checkModules looks at what go.mod asks for of the project's modules.
func (p *patient) checkModules(context.Context) []Finding {
	switch {
	case p.ModuleErr != nil:
		return []Finding{problem(p.ModuleErr.Error(), "correct go.mod")}
	case p.Module == nil:
		return []Finding{problem("there is no go.mod here or above",
			"run it in a service's folder, or begin a service: plinth new MODULE")}
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

// ownModules are the project's modules of go.mod, core first.
func (p *patient) ownModules() []string {
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

// replaced reports modules of the project that are taken from a folder.
func (p *patient) replaced() []Finding {
	var found []Finding
	for _, r := range p.Module.Replace {
		if strings.HasPrefix(r.Old.Path, service.Project) && r.New.Version == "" {
			found = append(found, warning(
				fmt.Sprintf("go.mod takes %s from %s: that counts only on this machine",
					r.Old.Path, r.New.Path),
				"before a release: go mod edit -dropreplace="+r.Old.Path,
			))
		}
	}
	return found
}
