// Package xoption holds the declarative options of an application.
//
//	reg := xreg.Register(ctx, nodes,
//		xoption.WithDatabase(xoptdatabase.FromEnv(), xoptdatabase.WithAutoMigrate(&entity.User{})),
//		xoption.WithCache(xoptcache.FromEnv()),
//		xoption.WithRoute(route.Register),
//		xoption.WithHealth(),
//	)
//
// An option only notes what is wanted: nothing is read, opened or started before xreg carries the plan out, so
// that the environment and .env are complete by then. What a program does not mention is not linked into it.
package xoption

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xbase"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xhelper"
	"github.com/plinthgo/plinth/core/major/xlease"
	"github.com/plinthgo/plinth/core/major/xoption/xoptcache"
	"github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	"github.com/plinthgo/plinth/core/major/xreg/xregnode"
)

// Option changes the plan of an application.
type Option func(*Plan)

// RouteFunc registers routes. ctx is the application's: it carries the values of all nodes.
type RouteFunc = func(ctx context.Context, engine *gin.Engine)

// Plan is what options fill and xreg carries out. Applications write options; a package that offers an option of its
// own fills these fields.
type Plan struct {
	// EnvFiles are the files that are read into the environment first; nil is ".env".
	EnvFiles []string
	// NoEnvFile is true where no file is read.
	NoEnvFile bool
	// EnvDefaults are variables that are set where neither the environment nor a file sets them.
	EnvDefaults map[xenv.EnvKey]string

	// SetUp runs when the environment is complete and before the settings are checked.
	SetUp []func(ctx context.Context) error

	// Debug overrides PLINTH_DEBUG where it is not nil.
	Debug *bool
	// Logger writes the application's lines; nil is a logger built from the environment, the process's default.
	Logger *xlog.Engine
	// LogConfig changes what the environment says about logs.
	LogConfig []func(*xlog.Config)

	// Leases makes the application's leases, whatever LEASE_BACKEND says; of several the last.
	Leases []func(ctx context.Context) (*xlease.Leases, error)
	// Snowflake are the options of the id node; none is a node numbered by the environment or by a lease.
	Snowflake []xsnowflake.Option
	// Phases are the parts that start before the application's nodes.
	Phases []Phase
	// Database and Cache are the options of the phases that WithDatabase and WithCache add.
	Database []xoptdatabase.Option
	Cache    []xoptcache.Option
	// NeedDatabase makes it a problem that no database is configured.
	NeedDatabase bool
	// Nodes start after the nodes that were given to Register.
	Nodes []xregnode.RegNodeList

	// Mappers map the application's errors onto codes.
	Mappers []xerror.Mapper
	// Profile overrides PLINTH_ENVELOPE where it is not nil.
	Profile *xbase.Profile
	// Serve changes the configuration of the request middleware.
	Serve []func(*xhelper.Config)
	// TrustedProxies overrides PLINTH_TRUSTED_PROXIES where it is not nil.
	TrustedProxies []string
	// Engine changes the engine after it was built and before the routes.
	Engine []func(*gin.Engine)
	// Routes register the application's routes.
	Routes []RouteFunc
	// Health describes the health routes; nil is none.
	Health *Health

	// Address overrides PLINTH_HOST and PLINTH_PORT where it is not empty.
	Address string
	// Listener is served instead of a new one.
	Listener net.Listener
	// Server changes the HTTP server after its limits were set.
	Server []func(*http.Server)
	// DrainDelay overrides PLINTH_DRAIN_DELAY where it is not nil.
	DrainDelay *time.Duration
	// ShutdownTimeout overrides PLINTH_SHUTDOWN_TIMEOUT where it is not nil.
	ShutdownTimeout *time.Duration

	problems []error
}

// New returns the plan that opts make; a nil option is skipped.
func New(opts ...Option) *Plan {
	p := &Plan{}
	for _, opt := range opts {
		if opt != nil {
			opt(p)
		}
	}
	return p
}

// Problem notes what is wrong with an option. It is reported at the start, together with everything else.
func (p *Plan) Problem(err error) { p.problems = append(p.problems, err) }

// Problems returns what was noted, joined, or nil.
func (p *Plan) Problems() error { return errors.Join(p.problems...) }

// WithOptions makes one option of several, for a package that offers a set.
func WithOptions(opts ...Option) Option {
	return func(p *Plan) {
		for _, opt := range opts {
			if opt != nil {
				opt(p)
			}
		}
	}
}

// WithNodes adds nodes, which start after those that were given to Register.
func WithNodes(nodes ...xregnode.RegNodeList) Option {
	return func(p *Plan) { p.Nodes = append(p.Nodes, nodes...) }
}

// WithEnvFile reads the files at paths into the environment before anything else, instead of .env. A variable that is
// set already stays. A file that is missing is an error. Give it to Register: the Runner comes too late for it.
func WithEnvFile(paths ...string) Option {
	return func(p *Plan) { p.EnvFiles = append(p.EnvFiles, paths...) }
}

// WithoutEnvFile reads no file into the environment. Give it to Register.
func WithoutEnvFile() Option {
	return func(p *Plan) { p.NoEnvFile = true }
}

// WithEnvDefaults sets variables that neither the environment nor .env sets: what an application uses where nobody says
// otherwise. A later default of the same variable wins. Give it to Register.
func WithEnvDefaults(defaults map[xenv.EnvKey]string) Option {
	return func(p *Plan) {
		if p.EnvDefaults == nil {
			p.EnvDefaults = map[xenv.EnvKey]string{}
		}
		maps.Copy(p.EnvDefaults, defaults)
	}
}

// WithSnowflake makes the id node from these options instead of from the environment. Where they give no number, it is leased
// as it would be without them. Give it to Register.
func WithSnowflake(opts ...xsnowflake.Option) Option {
	return func(p *Plan) { p.Snowflake = append(p.Snowflake, opts...) }
}

// WithLeases makes the application's leases, whatever LEASE_BACKEND says: such as xlease.New(xlease.InProcess(nil)), which
// decides in this process alone. It runs when database and cache are open, and the application closes what it returns. The
// last one wins. Give it to Register.
func WithLeases(open func(ctx context.Context) (*xlease.Leases, error)) Option {
	return func(p *Plan) {
		if open == nil {
			p.Problem(errors.New("xoption: WithLeases: the function is nil"))
			return
		}
		p.Leases = append(p.Leases, open)
	}
}

// WithDebug turns the debug mode on or off, whatever PLINTH_DEBUG says.
func WithDebug(on bool) Option {
	return func(p *Plan) { p.Debug = &on }
}

// WithLogger makes the application write its lines to e. The process's default logger stays as it is, and e is not closed
// at the stop: it is the caller's.
func WithLogger(e *xlog.Engine) Option {
	return func(p *Plan) {
		if e == nil {
			p.Problem(errors.New("xoption: WithLogger: the logger is nil"))
		}
		p.Logger = e
	}
}

// WithLogConfig changes what the environment says about logs.
func WithLogConfig(change func(*xlog.Config)) Option {
	return func(p *Plan) { p.LogConfig = appendFunc(p, "WithLogConfig", p.LogConfig, change) }
}

// appendFunc appends fn, or notes that it is nil.
func appendFunc[F any](p *Plan, option string, list []func(F), fn func(F)) []func(F) {
	if fn == nil {
		p.Problem(fmt.Errorf("xoption: %s: the function is nil", option))
		return list
	}
	return append(list, fn)
}

// WithSetUp runs fn when the environment is complete and before the settings are checked: for what they refer to, such as
// the folder of a file. An error is reported together with everything else that is wrong.
func WithSetUp(fn func(ctx context.Context) error) Option {
	return func(p *Plan) {
		if fn == nil {
			p.Problem(errors.New("xoption: WithSetUp: the function is nil"))
			return
		}
		p.SetUp = append(p.SetUp, fn)
	}
}
