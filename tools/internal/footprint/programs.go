// Package footprint measures what the smallest program of each module costs: its size and the modules that it links, with plain
// gin beside it, and grpc-go alone beside grpcx.
//
// The programs stand below tools/footprint/hello. They are built without cgo, stripped and with trimmed paths, for the machine at
// hand.
package footprint

// A program is a folder below hello, what it shows, the one whose size it is compared with, and which of the libraries it links
// that only those may which need them: of a backend, of gRPC, of an engine, of mail.
type program struct {
	folder, shows, peer string
	libraries           []string
}

// The libraries that more than one program needs.
const (
	sqliteLibrary   = "modernc.org/sqlite"
	postgresLibrary = "github.com/jackc/pgx/v5"
	redisLibrary    = "github.com/redis/go-redis/v9"
	grpcLibrary     = "google.golang.org/grpc"
	poolLibrary     = "github.com/alitto/pond/v2"
)

// programs are in the order of the table.
var programs = []program{
	{"gin", "gin alone: one route", "gin", nil},
	{"core", "`core`: one route, with ids, logs, errors, health and shutdown", "gin", nil},
	{"memory", "`core` and `cacheplugins/memory`", "gin", []string{"github.com/maypok86/otter/v2"}},
	{"redis", "`core` and `cacheplugins/redis`", "gin", []string{redisLibrary}},
	{"ginsqlite", "gin, gorm and glebarez/sqlite, without Plinth", "gin", []string{sqliteLibrary}},
	{"sqlite", "`core` and `dbplugins/sqlite`", "gin", []string{sqliteLibrary}},
	{"postgres", "`core` and `dbplugins/postgres`", "gin", []string{postgresLibrary}},
	{"mysql", "`core` and `dbplugins/mysql`", "gin", []string{"github.com/go-sql-driver/mysql"}},
	{"sqlserver", "`core` and `dbplugins/sqlserver`", "gin", []string{"github.com/microsoft/go-mssqldb"}},
	{"oracle", "`core` and `dbplugins/oracle`", "gin", []string{"github.com/sijms/go-ora/v2"}},
	{"async", "`core` and `asyncx`: work in the background", "gin", []string{poolLibrary}},
	{"jobs", "`core`, `dbplugins/sqlite` and `asyncx`: durable jobs in a table", "gin", []string{sqliteLibrary}},
	{"river", "`core`, `dbplugins/postgres` and `asyncx/river`", "gin", []string{postgresLibrary, "github.com/riverqueue/river"}},
	{"asynq", "`core`, `cacheplugins/redis` and `asyncx/asynq`", "gin", []string{redisLibrary, "github.com/hibiken/asynq"}},
	{"cron", "`core` and `cronx`", "gin", []string{"github.com/netresearch/go-cron"}},
	{"email", "`core` and `notifyx/email`", "gin", []string{"github.com/wneessen/go-mail"}},
	{"webhook", "`core` and `notifyx/webhook`", "gin", []string{"github.com/sony/gobreaker/v2"}},
	{"docs", "`core` and `docs`: the documentation beside a service", "gin", []string{"github.com/modelcontextprotocol/go-sdk", "github.com/alecthomas/chroma/v2"}},
	{"gingrpc", "gin and grpc-go, without Plinth", "gin", []string{grpcLibrary}},
	{"coregrpc", "`core` and `grpcx`", "gin", []string{grpcLibrary}},
	{"protovalidate", "`core`, `grpcx` and `grpcx/protovalidate`", "gin", []string{grpcLibrary, "buf.build/go/protovalidate"}},
	{"baregrpc", "grpc-go alone: its health service", "baregrpc", []string{grpcLibrary}},
	{"grpc", "`grpcx` without HTTP: health, reflection, ids, logs, errors, shutdown", "baregrpc", []string{grpcLibrary}},
}

// A weight is what a module adds to a program: that of the folder program over that of the folder without.
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
	{"dbplugins/sqlite", "the SQLite driver, in pure Go", page("sqlite"), []weight{{"sqlite", "core", ""}}},
	{"dbplugins/postgres", "the PostgreSQL driver, over pgx", page("postgres"), []weight{{"postgres", "core", ""}}},
	{"dbplugins/mysql", "the driver for MySQL and MariaDB", page("mysql"), []weight{{"mysql", "core", ""}}},
	{"dbplugins/sqlserver", "the SQL Server driver", page("sqlserver"), []weight{{"sqlserver", "core", ""}}},
	{"dbplugins/oracle", "the Oracle driver, in pure Go, over go-ora", page("oracle"), []weight{{"oracle", "core", ""}}},
	{"cacheplugins/memory", "the cache in the process", page("memory"), []weight{{"memory", "core", ""}}},
	{"cacheplugins/redis", "the cache on Redis, over go-redis: one server, Sentinel or Cluster", page("redis"), []weight{{"redis", "core", ""}}},
	{
		"grpcx", "gRPC beside HTTP, over grpc-go: interceptors, errors as statuses, a server with health and a graceful stop, clients",
		"[gRPC](docs/content/guide/grpc.md)",
		[]weight{{"coregrpc", "core", ""}},
	},
	{
		"grpcx/protovalidate", "rules written in the proto, checked before the handler",
		"[protovalidate](docs/content/base-go/xgrpcprotovalidate.md)",
		[]weight{{"protovalidate", "coregrpc", " over `grpcx`"}},
	},
	{
		"asyncx", "work in the background that the stop waits for; durable jobs, stored with the change that they belong to",
		"[xAsync](docs/content/base-go/xasync.md), [xJob](docs/content/base-go/xjob.md)",
		[]weight{{"async", "core", ""}},
	},
	{
		"asyncx/river", "an engine for durable jobs: River on PostgreSQL", "[xRiver](docs/content/base-go/xriver.md)",
		[]weight{{"river", "postgres", " over PostgreSQL"}},
	},
	{
		"asyncx/asynq", "an engine for durable jobs: asynq on Redis", "[xAsynq](docs/content/base-go/xasynq.md)",
		[]weight{{"asynq", "redis", " over Redis"}},
	},
	{"cronx", "schedules, with one run in a cluster", "[xCron](docs/content/base-go/xcron.md)", []weight{{"cron", "core", ""}}},
	{
		"notifyx", "messages to people and services: mail over go-mail, webhooks after the Standard Webhooks specification, templates",
		"[notifications](docs/content/guide/notifications.md)",
		[]weight{{"email", "core", " with mail"}, {"webhook", "core", " with webhooks"}},
	},
	{
		"docs", "this documentation as one program and one handler: pages, `llms.txt`, search, the Model Context Protocol",
		"[xDocs](docs/content/base-go/docs.md)",
		[]weight{{"docs", "core", ""}},
	},
	{
		"tools", "`plinth`, the command line: new services, environment, diagnosis, migrations",
		"[command line](docs/content/guide/command-line.md)", nil,
	},
}

// page is the link to a plugin's page.
func page(name string) string { return "[" + name + "](docs/content/base-go/" + name + ".md)" }
