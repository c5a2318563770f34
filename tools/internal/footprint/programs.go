// Package footprint measures the smallest program of each module: its size and the number
// of linked modules, compared with gin or grpc-go.
//
// The programs are in tools/footprint/hello. They are built for this platform, stripped,
// without cgo and with trimmed paths. `release verify` checks which libraries they link.
package footprint

// A program has a directory below hello, a description, and the program to compare it
// with.
type program struct{ folder, shows, peer string }

// programs are in the order of the table.
var programs = []program{
	{"gin", "gin only: one route", "gin"},
	{"core", "`core`: one route with IDs, logs, errors, health checks and graceful shutdown", "gin"},
	{"memory", "`core` and `cacheplugins/memory`", "gin"},
	{"redis", "`core` and `cacheplugins/redis`", "gin"},
	{"ginsqlite", "gin, gorm and glebarez/sqlite, without Plinth", "gin"},
	{"sqlite", "`core` and `dbplugins/sqlite`", "gin"},
	{"postgres", "`core` and `dbplugins/postgres`", "gin"},
	{"mysql", "`core` and `dbplugins/mysql`", "gin"},
	{"sqlserver", "`core` and `dbplugins/sqlserver`", "gin"},
	{"oracle", "`core` and `dbplugins/oracle`", "gin"},
	{"async", "`core` and `asyncx`: background tasks", "gin"},
	{"jobs", "`core`, `dbplugins/sqlite` and `asyncx`: durable jobs", "gin"},
	{"river", "`core`, `dbplugins/postgres` and `asyncx/river`", "gin"},
	{"asynq", "`core`, `cacheplugins/redis` and `asyncx/asynq`", "gin"},
	{"cron", "`core` and `cronx`", "gin"},
	{"openapix", "`core` and `openapix`: one typed route and its document", "gin"},
	{"email", "`core` and `notifyx/email`", "gin"},
	{"webhook", "`core` and `notifyx/webhook`", "gin"},
	{"docs", "`core` and `docs`: documentation server", "gin"},
	{"gingrpc", "gin and grpc-go, without Plinth", "gin"},
	{"coregrpc", "`core` and `grpcx`", "gin"},
	{"protovalidate", "`core`, `grpcx` and `grpcx/protovalidate`", "gin"},
	{"baregrpc", "grpc-go only: health service", "baregrpc"},
	{"grpc", "`grpcx` without HTTP: health, reflection, IDs, logs, errors, graceful shutdown", "baregrpc"},
}

// A weight compares the programs in the directories program and without.
type weight struct{ program, without, note string }

// A module is a row of the table of modules.
type module struct {
	name, what, page string
	weights          []weight
}

// modules are the modules that services may require.
var modules = []module{
	{
		"core", "response envelope, errors, logging, IDs, validation, utilities; request pipeline, database and cache drivers, startup and graceful shutdown",
		"[base-go](docs/content/base-go)",
		[]weight{{"core", "gin", " over gin"}},
	},
	{
		"dbplugins/sqlite", "SQLite driver in pure Go",
		page("sqlite"),
		[]weight{{"sqlite", "core", ""}},
	},
	{
		"dbplugins/postgres", "PostgreSQL driver (pgx)",
		page("postgres"),
		[]weight{{"postgres", "core", ""}},
	},
	{
		"dbplugins/mysql", "MySQL and MariaDB driver",
		page("mysql"),
		[]weight{{"mysql", "core", ""}},
	},
	{
		"dbplugins/sqlserver", "SQL Server driver",
		page("sqlserver"),
		[]weight{{"sqlserver", "core", ""}},
	},
	{
		"dbplugins/oracle", "Oracle driver in pure Go (go-ora)",
		page("oracle"),
		[]weight{{"oracle", "core", ""}},
	},
	{
		"cacheplugins/memory", "in-memory cache",
		page("memory"),
		[]weight{{"memory", "core", ""}},
	},
	{
		"cacheplugins/redis", "Redis cache (go-redis): standalone, Sentinel or Cluster",
		page("redis"),
		[]weight{{"redis", "core", ""}},
	},
	{
		"grpcx", "gRPC alongside HTTP (grpc-go): interceptors, error mapping to statuses, server with health checks and graceful shutdown, clients",
		"[gRPC](docs/content/guide/grpc.md)",
		[]weight{{"coregrpc", "core", ""}},
	},
	{
		"grpcx/protovalidate", "validation of requests with rules in the proto file",
		"[protovalidate](docs/content/base-go/grpcx-protovalidate.md)",
		[]weight{{"protovalidate", "coregrpc", " over `grpcx`"}},
	},
	{
		"asyncx", "background tasks that shutdown waits for; durable jobs, stored in the transaction that enqueues them",
		"[asyncx](docs/content/base-go/asyncx.md), [job](docs/content/base-go/asyncx-job.md)",
		[]weight{{"async", "core", ""}},
	},
	{
		"asyncx/river", "durable jobs with River on PostgreSQL",
		"[river](docs/content/base-go/asyncx-river.md)",
		[]weight{{"river", "postgres", " over PostgreSQL"}},
	},
	{
		"asyncx/asynq", "durable jobs with asynq on Redis",
		"[asynq](docs/content/base-go/asyncx-asynq.md)",
		[]weight{{"asynq", "redis", " over Redis"}},
	},
	{
		"cronx", "schedules, with a single run per cluster", "[cronx](docs/content/base-go/cronx.md)",
		[]weight{{"cron", "core", ""}},
	},
	{
		"openapix", "OpenAPI 3.1 document, generated from typed routes",
		"[openapix](docs/content/base-go/openapix.md)",
		[]weight{{"openapix", "core", " with typed routes"}},
	},
	{
		"notifyx", "notifications: mail (go-mail), webhooks (Standard Webhooks), templates",
		"[notifications](docs/content/guide/notifications.md)",
		[]weight{{"email", "core", " with mail"}, {"webhook", "core", " with webhooks"}},
	},
	{
		"docs", "this documentation as a program and an HTTP handler: pages, `llms.txt`, search, Model Context Protocol",
		"[docs](docs/content/base-go/docs.md)",
		[]weight{{"docs", "core", ""}},
	},
	{
		"conformance", "conformance suites for drivers of databases, caches and leases, and test servers",
		"[testing](docs/content/guide/testing.md)", nil,
	},
	{
		"tools/plinth", "command line tool: new services, environment, diagnostics, migrations",
		"[command line](docs/content/guide/command-line.md)", nil,
	},
	{
		"tools/devstack", "private PostgreSQL, MariaDB, Redis and Postfix servers for tests",
		"[testing](docs/content/guide/testing.md)", nil,
	},
}

// page returns a link to the page of a driver.
func page(name string) string { return "[" + name + "](docs/content/base-go/" + name + ".md)" }
