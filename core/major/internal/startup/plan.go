// Package startup is what options and environment say about an application: the plan that
// options fill, and the settings of serving and stopping.
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

// Plan is what the options of package xoption fill and package xreg carries out.
type Plan struct {
	// Late is true for the plan of a Runner, which Register has not seen.
	Late bool
	// EnvFiles are the files that are read into the environment first; nil is ".env".
	EnvFiles []string
	// NoEnvFile is true where no file is read.
	NoEnvFile bool
	// EnvDefaults are variables that are set where neither the environment nor a file
	// sets them.
	EnvDefaults map[xenv.EnvKey]string

	// Settings change what the environment says about serving and stopping.
	Settings []func(*Settings)
	// Logger writes the application's lines; nil is a logger built from the environment,
	// the process's default.
	Logger *xlog.Engine
	// LogConfig changes what the environment says about logs.
	LogConfig []func(*xlog.Config)

	// DatabaseOptions are the options of the database.
	DatabaseOptions []xdb.Option
	// NeedDatabase makes it a problem that no database is configured.
	NeedDatabase bool
	// Database makes the phase of the database; it returns nil if none is configured. It
	// is nil without a database, so that a program without one does not link what opens
	// it.
	Database func(*Plan) *Phase
	// CacheOptions are the options of the cache.
	CacheOptions []xcache.ManagerOption
	// Cache is Database for the cache.
	Cache func(*Plan) *Phase
	// Leases makes the application's leases, whatever LEASE_BACKEND says; it may be nil.
	Leases func(ctx context.Context) (*xlease.Leases, error)
	// Snowflake are the options of the id node; none is a node numbered by the
	// environment or by a lease.
	Snowflake []xsnowflake.Option
	// DefaultNode makes the id node that of the process.
	DefaultNode bool
	// Nodes start after the nodes that were given to Register.
	Nodes []xregnode.Node

	// Mappers map the application's errors onto codes.
	Mappers []xerror.Mapper
	// Engine changes the engine after it was built and before the routes.
	Engine []func(*gin.Engine)
	// Routes register the application's routes.
	Routes []func(ctx context.Context, engine *gin.Engine)
	// LivePath answers 200 as long as the process serves; "" is no health route.
	LivePath string
	// ReadyPath answers 200 as long as the service is ready and all its nodes are well,
	// 503 otherwise.
	ReadyPath string

	// Problems joins what is wrong with options. It is reported at the start, together
	// with everything else.
	Problems error
}
