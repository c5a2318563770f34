// Package xoption contains the declarative options of an application.
//
//	reg := xreg.Register(ctx, nodes,
//		xoption.WithDatabase(
//			xoptdatabase.FromEnv(),
//			xoptdatabase.WithAutoMigrate(&entity.User{}),
//		),
//		xoption.WithCache(xoptcache.FromEnv()),
//		xoption.WithRoute(route.Register),
//		xoption.WithHealth(),
//	)
//
// An option only records its setting. Package xreg applies the options after it has
// loaded the environment. A program links only the components that its options use.
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

// Option configures an application.
type Option func(*startup.Plan)

// WithOptions combines several options into one. Nil options are skipped.
func WithOptions(opts ...Option) Option {
	return func(p *startup.Plan) {
		for _, opt := range opts {
			if opt != nil {
				opt(p)
			}
		}
	}
}

// WithNodes adds nodes, which start after the nodes passed to Register.
func WithNodes(nodes ...xregnode.Node) Option {
	return func(p *startup.Plan) { p.Nodes = append(p.Nodes, nodes...) }
}

// WithEnvFile loads the files at paths into the environment instead of .env. It does not
// change variables that are already set. A missing file is an error. WithEnvFile must be
// passed to Register.
func WithEnvFile(paths ...string) Option {
	return registerOnly("WithEnvFile",
		func(p *startup.Plan) { p.EnvFiles = append(p.EnvFiles, paths...) })
}

// WithoutEnvFile disables environment files. It must be passed to Register.
func WithoutEnvFile() Option {
	return registerOnly("WithoutEnvFile", func(p *startup.Plan) { p.NoEnvFile = true })
}

// WithEnvDefaults sets variables that neither the environment nor .env sets. A later
// default of the same variable has precedence. It must be passed to Register.
func WithEnvDefaults(defaults map[xenv.EnvKey]string) Option {
	return registerOnly("WithEnvDefaults", func(p *startup.Plan) {
		if p.EnvDefaults == nil {
			p.EnvDefaults = map[xenv.EnvKey]string{}
		}
		maps.Copy(p.EnvDefaults, defaults)
	})
}

// WithSnowflake creates the ID node from these options instead of the environment. If
// they set no node ID, the node leases one. It must be passed to Register.
func WithSnowflake(opts ...xsnowflake.Option) Option {
	return registerOnly("WithSnowflake",
		func(p *startup.Plan) { p.Snowflake = append(p.Snowflake, opts...) })
}

// WithLeases sets the function that opens the application's leases, and overrides
// LEASE_BACKEND. For example, xlease.New(xlease.InProcess(nil)) covers only this process.
// The function runs after the database and the cache are open. The application closes the
// leases. The last call of WithLeases has precedence. It must be passed to Register.
func WithLeases(open func(ctx context.Context) (*xlease.Leases, error)) Option {
	return requireArg("WithLeases", open != nil,
		registerOnly("WithLeases", func(p *startup.Plan) { p.Leases = open }))
}

// WithDebug enables or disables debug mode and overrides PLINTH_DEBUG.
func WithDebug(on bool) Option {
	return setting(func(s *startup.Settings) { s.Serve.Debug = on })
}

// WithLogger makes the application log to e. It does not change the default logger of the
// process. The caller must close e. WithLogger must be passed to Register.
func WithLogger(e *xlog.Engine) Option {
	return requireArg("WithLogger", e != nil,
		registerOnly("WithLogger", func(p *startup.Plan) { p.Logger = e }))
}

// WithLogConfig changes the log configuration of the environment. It must be passed to
// Register.
func WithLogConfig(change func(*xlog.Config)) Option {
	return requireArg("WithLogConfig", change != nil,
		registerOnly("WithLogConfig",
			func(p *startup.Plan) { p.LogConfig = append(p.LogConfig, change) }))
}

// registerOnly returns an option that is an error in the options of the Runner.
func registerOnly(name string, option Option) Option {
	return func(p *startup.Plan) {
		if p.Late {
			p.Problems = errors.Join(p.Problems,
				fmt.Errorf("xoption: %s must be passed to Register", name))
		}
		option(p)
	}
}

// setting returns an option that changes the settings.
func setting(change func(*startup.Settings)) Option {
	return func(p *startup.Plan) { p.Settings = append(p.Settings, change) }
}

// requireArg returns option if ok is true. Otherwise it returns an option that reports a
// nil argument.
func requireArg(name string, ok bool, option Option) Option {
	if !ok {
		return invalid("%s: argument is nil", name)
	}
	return option
}

// invalid returns an option that reports the formatted error.
func invalid(format string, args ...any) Option {
	err := fmt.Errorf("xoption: "+format, args...)
	return func(p *startup.Plan) { p.Problems = errors.Join(p.Problems, err) }
}
