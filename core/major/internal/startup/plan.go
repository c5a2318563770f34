// Package startup contains the plan that options fill, and the settings for serving and
// stopping.
package startup

import (
	"context"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xreg/xregnode"
)

// Plan collects the options of package xoption for package xreg.
type Plan struct {
	// Late marks the plan of Runner options, which are applied after Register.
	Late bool
	// EnvFiles are the files to load into the environment; nil means ".env".
	EnvFiles []string
	// NoEnvFile disables environment files.
	NoEnvFile bool
	// EnvDefaults are values for variables that neither the environment nor a file sets.
	EnvDefaults map[xenv.EnvKey]string

	// Settings override the environment's settings for serving and stopping.
	Settings []func(*Settings)
	// Logger is the application's logger; nil means a logger configured by the
	// environment, which becomes the default of the process.
	Logger *xlog.Engine
	// LogConfig overrides the environment's log configuration.
	LogConfig []func(*xlog.Config)

	DatabaseOptions []xdb.Option
	// NeedDatabase makes a missing database configuration an error.
	NeedDatabase bool
	// Database returns the phase of the database, or nil if no database is configured.
	// The field is nil without database options, so that the program does not link a
	// driver.
	Database     func(*Plan) *Phase
	CacheOptions []xcache.ManagerOption
	// Cache is like Database for the cache.
	Cache func(*Plan) *Phase
	// Leases opens the application's leases and overrides LEASE_BACKEND. It may be nil.
	Leases func(ctx context.Context) (*xlease.Leases, error)
	// Snowflake are the options of the ID node. If empty, the environment or a lease
	// assigns the node ID.
	Snowflake []xsnowflake.Option
	// DefaultNode makes the ID node the default of the process.
	DefaultNode bool
	// Nodes start after the nodes passed to Register.
	Nodes []xregnode.Node

	// Mappers map the application's errors to error codes.
	Mappers []xerror.Mapper
	// Engine functions configure the engine before the routes are registered.
	Engine []func(*gin.Engine)
	Routes []func(ctx context.Context, engine *gin.Engine)
	// Inspect makes the startup only register the routes and call this function.
	Inspect func(*gin.Engine) error
	// LivePath is the path of the liveness probe; "" disables both health routes.
	LivePath string
	// ReadyPath is the path of the readiness probe. It responds with 200 if the service
	// is ready and all nodes are healthy, with 503 otherwise.
	ReadyPath string

	// Problems joins the errors of options. Startup reports them together with all other
	// configuration errors.
	Problems error
}
