// Package xoption holds the declarative options of an application.
//
//	reg := xreg.Register(ctx, nodes,
//		xoption.WithDatabase(xoptdatabase.FromEnv(), xoptdatabase.WithAutoMigrate(&entity.User{})),
//		xoption.WithCache(xoptcache.FromEnv()),
//		xoption.WithRoute(route.Register),
//		xoption.WithHealth(),
//	)
//
// An option only notes what is wanted: nothing is read, opened or started before xreg
// carries the plan out, so that the environment and .env are complete by then. What a
// program does not mention is not linked into it.
package xoption

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/internal/startup"
	"github.com/plinthgo/plinth/core/major/xreg/xregnode"
)

// Option is one declaration about an application.
type Option func(*startup.Plan)

// WithOptions makes one option of several, for a package that offers a set.
func WithOptions(opts ...Option) Option {
	return func(p *startup.Plan) {
		for _, opt := range opts {
			if opt != nil {
				opt(p)
			}
		}
	}
}

// WithNodes adds nodes, which start after those that were given to Register.
func WithNodes(nodes ...xregnode.Node) Option {
	return func(p *startup.Plan) { p.Nodes = append(p.Nodes, nodes...) }
}

// WithEnvFile reads the files at paths into the environment before anything else, instead
// of .env. A variable that is set already stays. A file that is missing is an error. Give
// it to Register: the Runner comes too late for it.
func WithEnvFile(paths ...string) Option {
	return toRegister("WithEnvFile",
		func(p *startup.Plan) { p.EnvFiles = append(p.EnvFiles, paths...) })
}

// WithoutEnvFile reads no file into the environment. Give it to Register.
func WithoutEnvFile() Option {
	return toRegister("WithoutEnvFile", func(p *startup.Plan) { p.NoEnvFile = true })
}

// WithEnvDefaults sets variables that neither the environment nor .env sets: what an
// application uses where nobody says otherwise. A later default of the same variable
// wins. Give it to Register.
func WithEnvDefaults(defaults map[xenv.EnvKey]string) Option {
	return toRegister("WithEnvDefaults", func(p *startup.Plan) {
		if p.EnvDefaults == nil {
			p.EnvDefaults = map[xenv.EnvKey]string{}
		}
		maps.Copy(p.EnvDefaults, defaults)
	})
}

// WithSnowflake makes the id node from these options instead of from the environment.
// Where they give no number, it is leased as it would be without them. Give it to
// Register.
func WithSnowflake(opts ...xsnowflake.Option) Option {
	return toRegister("WithSnowflake",
		func(p *startup.Plan) { p.Snowflake = append(p.Snowflake, opts...) })
}

// WithLeases makes the application's leases, whatever LEASE_BACKEND says: such as
// xlease.New(xlease.InProcess(nil)), which decides in this process alone. It runs when
// database and cache are open, and the application closes what it returns. The last one
// wins. Give it to Register.
func WithLeases(open func(ctx context.Context) (*xlease.Leases, error)) Option {
	return given("WithLeases",
		open != nil, toRegister("WithLeases", func(p *startup.Plan) { p.Leases = open }))
}

// WithDebug turns the debug mode on or off, whatever PLINTH_DEBUG says.
func WithDebug(on bool) Option {
	return setting(func(s *startup.Settings) { s.Serve.Debug = on })
}

// WithLogger makes the application write its lines to e. The process's default logger
// stays as it is, and e is not closed at the stop: it is the caller's.
func WithLogger(e *xlog.Engine) Option {
	return given("WithLogger",
		e != nil, toRegister("WithLogger", func(p *startup.Plan) { p.Logger = e }))
}

// WithLogConfig changes what the environment says about logs.
func WithLogConfig(change func(*xlog.Config)) Option {
	return given("WithLogConfig", change != nil, toRegister("WithLogConfig",
		func(p *startup.Plan) { p.LogConfig = append(p.LogConfig, change) }))
}

// toRegister is an option that the Runner comes too late for.
func toRegister(name string, option Option) Option {
	return func(p *startup.Plan) {
		if p.Late {
			p.Problems = errors.Join(p.Problems,
				fmt.Errorf("xoption: %s must be given to Register", name))
		}
		option(p)
	}
}

// setting is an option that changes the settings of serving and stopping.
func setting(change func(*startup.Settings)) Option {
	return func(p *startup.Plan) { p.Settings = append(p.Settings, change) }
}

// given is option, or a problem if its argument is nil.
func given(name string, ok bool, option Option) Option {
	if !ok {
		return wrong("%s: its argument is nil", name)
	}
	return option
}

// wrong is an option that cannot be.
func wrong(format string, args ...any) Option {
	err := fmt.Errorf("xoption: "+format, args...)
	return func(p *startup.Plan) { p.Problems = errors.Join(p.Problems, err) }
}
