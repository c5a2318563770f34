// Package footprint measures what the smallest program of each module costs: its size and
// the modules that it links, with plain gin beside it, and grpc-go alone beside grpcx.
//
// The programs stand below tools/footprint/hello. They are built without cgo, stripped
// and with trimmed paths, for the machine at hand. Which libraries a program may link is
// not looked at here: `release verify` builds the same programs as strangers would.
package footprint

// A program is a folder below hello, what it shows, and the one whose size it is compared
// with.
type program struct{ folder, shows, peer string }

// programs are in the order of the table.
var programs = []program{
	{"gin", "gin alone: one route", "gin"},
	{"core", "`core`: one route, with ids, logs, errors, health and shutdown", "gin"},
	{"memory", "`core` and `cacheplugins/memory`", "gin"},
	{"redis", "`core` and `cacheplugins/redis`", "gin"},
	{"ginsqlite", "gin, gorm and glebarez/sqlite, without Plinth", "gin"},
	{"sqlite", "`core` and `dbplugins/sqlite`", "gin"},
	{"postgres", "`core` and `dbplugins/postgres`", "gin"},
	{"mysql", "`core` and `dbplugins/mysql`", "gin"},
	{"sqlserver", "`core` and `dbplugins/sqlserver`", "gin"},
	{"oracle", "`core` and `dbplugins/oracle`", "gin"},
	{"async", "`core` and `asyncx`: work in the background", "gin"},
	{"jobs", "`core`, `dbplugins/sqlite` and `asyncx`: durable jobs in a table", "gin"},
	{"river", "`core`, `dbplugins/postgres` and `asyncx/river`", "gin"},
	{"asynq", "`core`, `cacheplugins/redis` and `asyncx/asynq`", "gin"},
	{"cron", "`core` and `cronx`", "gin"},
	{"email", "`core` and `notifyx/email`", "gin"},
	{"webhook", "`core` and `notifyx/webhook`", "gin"},
	{"docs", "`core` and `docs`: the documentation beside a service", "gin"},
	{"gingrpc", "gin and grpc-go, without Plinth", "gin"},
	{"coregrpc", "`core` and `grpcx`", "gin"},
	{"protovalidate", "`core`, `grpcx` and `grpcx/protovalidate`", "gin"},
	{"baregrpc", "grpc-go alone: its health service", "baregrpc"},
	{"grpc", "`grpcx` without HTTP: health, reflection, ids, logs, errors, shutdown", "baregrpc"},
}

// A weight is what a module adds to a program: that of the folder program over that of
// the folder without.
type weight struct{ program, without, note string }

// A module is a row of the table of modules.
type module struct {
	name, what, page string
	weights          []weight
}

// modules are those that a service may require.
var modules = []module{
	{
		"core", "envelope, errors, logs, ids, utilities, validation; the request path, database and cache behind drivers, start and stop",
		"[base-go](docs/content/base-go)",
		[]weight{{"core", "gin", " over gin"}},
	},
	{
		"dbplugins/sqlite", "the SQLite driver, in pure Go",
		page("sqlite"),
		[]weight{{"sqlite", "core", ""}},
	},
	{
		"dbplugins/postgres", "the PostgreSQL driver, over pgx",
		page("postgres"),
		[]weight{{"postgres", "core", ""}},
	},
	{
		"dbplugins/mysql", "the driver for MySQL and MariaDB",
		page("mysql"),
		[]weight{{"mysql", "core", ""}},
	},
	{
		"dbplugins/sqlserver", "the SQL Server driver",
		page("sqlserver"),
		[]weight{{"sqlserver", "core", ""}},
	},
	{
		"dbplugins/oracle", "the Oracle driver, in pure Go, over go-ora",
		page("oracle"),
		[]weight{{"oracle", "core", ""}},
	},
	{
		"cacheplugins/memory", "the cache in the process",
		page("memory"),
		[]weight{{"memory", "core", ""}},
	},
	{
		"cacheplugins/redis", "the cache on Redis, over go-redis: one server, Sentinel or Cluster",
		page("redis"),
		[]weight{{"redis", "core", ""}},
	},
	{
		"grpcx", "gRPC beside HTTP, over grpc-go: interceptors, errors as statuses, a server with health and a graceful stop, clients",
		"[gRPC](docs/content/guide/grpc.md)",
		[]weight{{"coregrpc", "core", ""}},
	},
	{
		"grpcx/protovalidate", "rules written in the proto, checked before the handler",
		"[protovalidate](docs/content/base-go/grpcx-protovalidate.md)",
		[]weight{{"protovalidate", "coregrpc", " over `grpcx`"}},
	},
	{
		"asyncx", "work in the background that the stop waits for; durable jobs, stored with the change that they belong to",
		"[asyncx](docs/content/base-go/asyncx.md), [job](docs/content/base-go/asyncx-job.md)",
		[]weight{{"async", "core", ""}},
	},
	{
		"asyncx/river", "an engine for durable jobs: River on PostgreSQL",
		"[river](docs/content/base-go/asyncx-river.md)",
		[]weight{{"river", "postgres", " over PostgreSQL"}},
	},
	{
		"asyncx/asynq", "an engine for durable jobs: asynq on Redis",
		"[asynq](docs/content/base-go/asyncx-asynq.md)",
		[]weight{{"asynq", "redis", " over Redis"}},
	},
	{
		"cronx", "schedules, with one run in a cluster", "[cronx](docs/content/base-go/cronx.md)",
		[]weight{{"cron", "core", ""}},
	},
	{
		"notifyx", "messages to people and services: mail over go-mail, webhooks after the Standard Webhooks specification, templates",
		"[notifications](docs/content/guide/notifications.md)",
		[]weight{{"email", "core", " with mail"}, {"webhook", "core", " with webhooks"}},
	},
	{
		"docs", "this documentation as one program and one handler: pages, `llms.txt`, search, the Model Context Protocol",
		"[docs](docs/content/base-go/docs.md)",
		[]weight{{"docs", "core", ""}},
	},
	{
		"conformance", "suites that drivers of databases, caches and leases are held to, and the servers of tests",
		"[testing](docs/content/guide/testing.md)", nil,
	},
	{
		"tools/plinth", "the command line: new services, environment, diagnosis, migrations",
		"[command line](docs/content/guide/command-line.md)", nil,
	},
	{
		"tools/devstack", "private PostgreSQL, MariaDB, Redis and Postfix servers for the tests of a command",
		"[testing](docs/content/guide/testing.md)", nil,
	},
}

// page is the link to a plugin's page.
func page(name string) string { return "[" + name + "](docs/content/base-go/" + name + ".md)" }
