package verify

import (
	"context"
	"fmt"
	"path"

	"github.com/plinthgo/plinth/tools/devstack/child"
)

// install runs go install outside of a module, as documented for users of a command.
func (v *verifier) install(ctx context.Context, c command) error {
	m := v.module(c.Module)
	cmd := child.Group(ctx, "go", "install", "-ldflags=-s -w",
		path.Join(m.Path(), c.Package)+"@"+v.planned[m.Path()])
	cmd.Dir = v.stage.Path()
	// There is no go.sum here, and the proxy verified third-party modules when it
	// downloaded them. GOFLAGS lacks the sandbox's -mod=mod, so that an incomplete go.mod
	// is an error.
	cmd.Env = append(v.stage.Env(v.stage.Cache(shared)), "GOBIN="+v.stage.Path("bin"),
		"GONOSUMDB=*", "GOFLAGS=-modcacherw -trimpath")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}
