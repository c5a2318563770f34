package xreg

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/internal/startup"
	"github.com/plinthgo/plinth/core/major/xhook"
)

// errInspected is returned instead of an application if the option WithInspect was passed
// and succeeded.
var errInspected = errors.New("xreg: the routes were inspected, and nothing was started")

// inspectKey is set by a command that inspects the routes of a program. Without an option
// for the command, the program must not start: it would open and migrate the database.
const inspectKey xenv.EnvKey = "PLINTH_INSPECT"

func checkInspect() error {
	if fix := xenv.GetEnvString(inspectKey, ""); fix != "" {
		return fmt.Errorf("xreg: %s is set, but no option inspects the routes: add %s to the "+
			"options of Register", inspectKey, fix)
	}
	return nil
}

// inspect registers the routes without checking or opening anything else, and calls the
// function of WithInspect.
func (r *Reg) inspect(p *startup.Plan) error {
	if p.Problems != nil {
		return p.Problems
	}
	_ = loadEnvFiles(p) // a file may contain the name of the application
	r.changes = p.Settings
	settings := r.newSettings()
	r.settings.Store(settings)
	r.nodes.Set(xctx.DebugKey, settings.Serve.Debug)
	if err := xhook.Guard(func() error { return r.build(p) }); err != nil {
		return fmt.Errorf("routes: %w (the routes are registered for an inspection, in which "+
			"no database, cache or node is open: handlers must get them from the context of "+
			"the request)", r.logPanics("routes", err))
	}
	return cmp.Or(p.Inspect(r.Serve), errInspected)
}
