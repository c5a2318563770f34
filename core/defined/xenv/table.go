package xenv

import (
	"math"
	"time"
)

// Bounds that several rows share.
const (
	maxPort    = math.MaxUint16
	maxCount   = math.MaxInt32
	oneDay     = int64(24 * time.Hour)
	oneHour    = int64(time.Hour)
	shortLease = int64(3 * time.Second)
	manyYears  = int64(100 * 365 * 24 * time.Hour)
	oneGiB     = 1 << 30
	smallBytes = 1 << 10
	maxShards  = 1 << 16
)

// servers are the database drivers that connect to one.
const servers = "mysql, oracle, postgres and sqlserver"

// idNumbers is what the parts of the id node's number accept.
const idNumbers = "0 to 7 in the default id layout"

// Names of the groups, in the order of the documentation.
const (
	groupApp   = "Application and server"
	groupCtx   = "Request context"
	groupLog   = "Logs"
	groupDB    = "Database"
	groupCache = "Cache"
	groupIDs   = "Ids"
	groupGrpc  = "gRPC"
	groupMail  = "Mail"
)

// table is the one source of what Plinth reads from the environment.
var table = []Var{
	{Key: Debug, Group: groupApp, Type: TypeBool, Default: "false", Meaning: "Debug mode: routes in the start banner, handling time in responses, no drain delay."},
	{Key: Host, Group: groupApp, Default: "localhost", Meaning: "HTTP listen host; 0.0.0.0 or :: listens on every interface."},
	{Key: Port, Group: groupApp, Type: TypeInt, Default: "1118", Max: maxPort, Meaning: "HTTP listen port; 0 takes a free one."},
	{Key: Envelope, Group: groupApp, Type: TypeEnum, Default: "plinth", Values: []string{"plinth", "java", "java-strict"}, Meaning: "Profile of the response envelope."},
	{Key: TrustedProxies, Group: groupApp, Type: TypeList, Meaning: "Addresses or CIDR ranges of proxies whose X-Forwarded-For is believed; none by default."},
	{Key: ReadHeaderTimeout, Group: groupApp, Type: TypeDuration, Default: "5s", Max: oneHour, Meaning: "Time for a request's header to arrive; 0 is no limit."},
	{Key: ReadTimeout, Group: groupApp, Type: TypeDuration, Default: "30s", Max: oneDay, Meaning: "Time for a request's body to arrive; 0 is no limit."},
	{Key: WriteTimeout, Group: groupApp, Type: TypeDuration, Default: "30s", Max: oneDay, Meaning: "Time for a client to read something of a response, however long the whole takes; 0 is no limit."},
	{Key: IdleTimeout, Group: groupApp, Type: TypeDuration, Default: "120s", Max: oneDay, Meaning: "Time that an idle keep-alive connection stays open; 0 is no limit."},
	{Key: RequestTimeout, Group: groupApp, Type: TypeDuration, Default: "30s", Max: oneDay, Meaning: "Time after which the context of a request ends and its response is 504; streams have none; 0 is no limit."},
	{Key: MaxHeaderBytes, Group: groupApp, Type: TypeInt, Default: "65536", Min: smallBytes, Max: oneGiB, Meaning: "Size of a request's header in bytes."},
	{Key: MaxBodyBytes, Group: groupApp, Type: TypeInt, Default: "4194304", Max: math.MaxInt64, Meaning: "Size of a request's body in bytes; 0 is no limit."},
	{Key: MaxInflightBodyBytes, Group: groupApp, Type: TypeInt, Default: "67108864", Max: math.MaxInt64, Meaning: "Bytes of the bodies of all requests that handlers may have read at a time; a request beyond it gets 503; routes with a larger limit of their own are not counted; 0 is no limit."},
	{Key: DrainDelay, Group: groupApp, Type: TypeDuration, Default: "5s", Max: oneHour, Meaning: "Time between the stop signal and the end of accepting, for load balancers to notice; by default 0 in debug mode and at a terminal."},
	{Key: ShutdownTimeout, Group: groupApp, Type: TypeDuration, Default: "25s", Min: 1, Max: oneDay, Meaning: "Bound on the whole stop, the drain delay included."},
	{Key: AppName, Group: groupApp, Meaning: "Name of the application in the banner and the logs; by default the last element of the main module's path."},
	{Key: AppVersion, Group: groupApp, Meaning: "Version of the application in the banner and the logs; by default what the binary was built from."},

	{Key: ContextEnableInput, Group: groupCtx, Type: TypeBool, Default: "true", Meaning: "Take a well-formed X-Request-UUID from the client as the request id."},
	{Key: ContextExcludeUrls, Group: groupCtx, Type: TypeList, Meaning: "Path patterns, such as /healthz or /static/*, whose requests get no id."},

	{Key: LogLevel, Group: groupLog, Type: TypeEnum, Default: "info", Values: []string{"debug", "info", "notice", "warn", "error"}, Meaning: "Lowest level that is written; debug mode lowers the default to debug."},
	{Key: LogFormat, Group: groupLog, Type: TypeEnum, Default: "auto", Values: []string{"auto", "console", "json"}, Meaning: "Form of the lines on standard output; auto is console at a terminal and json elsewhere."},
	{Key: LogDir, Group: groupLog, Default: "none", Meaning: "Folder of log files, written in addition to standard output; none writes no files."},
	{Key: LogMaxSize, Group: groupLog, Type: TypeInt, Default: "100", Min: 1, Max: maxCount, Meaning: "Size in megabytes at which a log file is rotated."},
	{Key: LogMaxAge, Group: groupLog, Type: TypeInt, Default: "30", Max: maxCount, Meaning: "Days that rotated files are kept; 0 keeps them whatever their age."},
	{Key: LogMaxBackups, Group: groupLog, Type: TypeInt, Default: "30", Max: maxCount, Meaning: "Number of rotated files that are kept; 0 keeps all."},
	{Key: LogCompress, Group: groupLog, Type: TypeBool, Default: "true", Meaning: "Compress rotated files."},

	{Key: DatabaseDriver, Group: groupDB, Default: "none", Meaning: "Driver: mysql, postgres, sqlite, oracle, sqlserver, another that is imported, or none."},
	{Key: DatabaseDsn, Group: groupDB, Secret: true, Meaning: "Full connection string; the parts below are then ignored."},
	{Key: DatabaseHost, Group: groupDB, Default: "localhost", Meaning: "Host of the database server."},
	{Key: DatabasePort, Group: groupDB, Type: TypeInt, Max: maxPort, Meaning: "Port of the database server; by default the driver's usual one."},
	{Key: DatabaseUser, Group: groupDB, Meaning: "User."},
	{Key: DatabasePass, Group: groupDB, Secret: true, Meaning: "Password."},
	{Key: DatabaseName, Group: groupDB, Meaning: "Name of the database."},
	{Key: DatabasePrefix, Group: groupDB, Meaning: "Prefix of every table name."},
	{Key: DatabaseSingularTables, Group: groupDB, Type: TypeBool, Default: "false", Meaning: "Names of tables are singular: the model User has the table user instead of users."},
	{Key: DatabaseTimezone, Group: groupDB, Default: "UTC", Reader: "postgres", Meaning: "Time zone of the session."},
	{Key: DatabaseCharset, Group: groupDB, Default: "utf8mb4", Reader: "mysql", Meaning: "Character set of the connection."},
	{Key: DatabasePath, Group: groupDB, Reader: "sqlite", Meaning: "Path of the database file, or :memory:."},
	{Key: DatabaseServiceName, Group: groupDB, Reader: "oracle", Meaning: "Service name."},
	{Key: DatabaseLibDir, Group: groupDB, Reader: "oracle", Meaning: "Accepted and ignored: the driver needs no client library."},
	{Key: DatabaseTLS, Group: groupDB, Type: TypeEnum, Default: "disable", Values: []string{"disable", "require", "verify-full"}, Reader: servers, Meaning: "Encryption of the connection: disable is plain text, require encrypts without asking who the server is, verify-full also checks its certificate and name."},
	{Key: DatabaseTLSCA, Group: groupDB, Reader: servers, Meaning: "File with the PEM certificates that verify-full trusts; by default those of the system."},
	{Key: DatabaseMaxOpenConns, Group: groupDB, Type: TypeInt, Default: "25", Max: maxCount, Meaning: "Connections of the pool at most; 0 is no limit."},
	{Key: DatabaseMaxIdleConns, Group: groupDB, Type: TypeInt, Default: "10", Max: maxCount, Meaning: "Idle connections that are kept."},
	{Key: DatabaseConnMaxLifetime, Group: groupDB, Type: TypeDuration, Default: "1h", Max: manyYears, Meaning: "Age at which a connection is replaced; 0 is never."},
	{Key: DatabaseConnMaxIdleTime, Group: groupDB, Type: TypeDuration, Default: "10m", Max: manyYears, Meaning: "Idle time after which a connection is closed; 0 is never."},
	{Key: DatabaseConnectTimeout, Group: groupDB, Type: TypeDuration, Default: "30s", Max: oneHour, Meaning: "How long the start waits for a database that is not there yet; 0 tries once."},
	{Key: DatabaseAcquireTimeout, Group: groupDB, Type: TypeDuration, Default: "5s", Max: oneHour, Meaning: "How long a statement waits for a connection if all of the pool are in use; 0 is no limit."},
	{Key: DatabaseSlowThreshold, Group: groupDB, Type: TypeDuration, Default: "200ms", Max: oneHour, Unit: time.Millisecond, Meaning: "Statements that take longer are logged; 0 logs none."},

	{Key: NoSqlDriver, Group: groupCache, Default: "none", Meaning: "Backend: redis, memory, another that is imported, or none."},
	{Key: NoSqlURL, Group: groupCache, Secret: true, Reader: "redis", Meaning: "One URL in place of host, port, user, password, database, mode and master."},
	{Key: NoSqlMode, Group: groupCache, Type: TypeEnum, Default: "single", Values: []string{"single", "sentinel", "cluster"}, Reader: "redis", Meaning: "How the servers at the host belong together."},
	{Key: NoSqlMaster, Group: groupCache, Reader: "redis", Meaning: "Name under which the sentinels know the servers."},
	{Key: NoSqlSentinelUser, Group: groupCache, Reader: "redis", Meaning: "User for the sentinels themselves."},
	{Key: NoSqlSentinelPass, Group: groupCache, Secret: true, Reader: "redis", Meaning: "Password for the sentinels themselves."},
	{Key: NoSqlTLS, Group: groupCache, Type: TypeEnum, Default: "disable", Values: []string{"disable", "require", "verify-full"}, Reader: "redis", Meaning: "Encryption of the connection; verify-full also checks the certificate."},
	{Key: NoSqlTLSCA, Group: groupCache, Reader: "redis", Meaning: "PEM file of the certificates that sign the server's, for verify-full; by default those of the system."},
	{Key: NoSqlHost, Group: groupCache, Default: "localhost", Reader: "redis", Meaning: "Host of the server; of sentinels or a cluster several, separated by commas, each with its port where it differs."},
	{Key: NoSqlPort, Group: groupCache, Type: TypeInt, Default: "6379", Max: maxPort, Reader: "redis", Meaning: "Port of the server."},
	{Key: NoSqlUser, Group: groupCache, Reader: "redis", Meaning: "User of the access control list."},
	{Key: NoSqlPass, Group: groupCache, Secret: true, Reader: "redis", Meaning: "Password."},
	{Key: NoSqlDatabase, Group: groupCache, Type: TypeInt, Default: "0", Max: maxCount, Reader: "redis", Meaning: "Number of the database."},
	{Key: NoSqlPoolSize, Group: groupCache, Type: TypeInt, Default: "10", Min: 1, Max: maxCount, Reader: "redis", Meaning: "Connections of the pool at most."},
	{Key: NoSqlPrefix, Group: groupCache, Meaning: "Prefix of every key."},
	{Key: NoSqlConnectTimeout, Group: groupCache, Type: TypeDuration, Default: "30s", Max: oneHour, Meaning: "How long the start waits for a backend that is not there yet; 0 tries once."},
	{Key: NoSqlNearMaxEntries, Group: groupCache, Type: TypeInt, Default: "0", Max: maxCount, Reader: "redis", Meaning: "Entries at most of a near cache in the process, which the server keeps up to date; 0 is none."},
	{Key: NoSqlNearTTL, Group: groupCache, Type: TypeDuration, Default: "1m", Min: 1, Max: oneHour, Reader: "redis", Meaning: "Life of an entry of the near cache at most."},
	{Key: NoSqlMemoryDefaultTTL, Group: groupCache, Type: TypeDuration, Default: "0", Max: manyYears, Unit: time.Second, Reader: "memory", Meaning: "Life of an entry that is set without one; 0 is for ever."},
	{Key: NoSqlMemoryMaxEntries, Group: groupCache, Type: TypeInt, Default: "100000", Min: 1, Max: maxCount, Reader: "memory", Meaning: "Entries at most, in all."},
	{Key: NoSqlMemoryShardCount, Group: groupCache, Type: TypeInt, Default: "32", Min: 1, Max: maxShards, Reader: "memory", Meaning: "Number of locks among which hash, set and list updates are spread."},

	{Key: SnowflakeDatacenterID, Group: groupIDs, Type: TypeInt, Words: idNumbers, Meaning: "Datacenter number of the id node, within the layout; found by itself where neither number is set."},
	{Key: SnowflakeNodeID, Group: groupIDs, Type: TypeInt, Words: idNumbers, Meaning: "Number of the id node, within the layout; found by itself where neither number is set."},
	{Key: SnowflakeLayout, Group: groupIDs, Type: TypeEnum, Default: "default", Values: []string{"default", "wide", "java", "java-gene"}, Meaning: "Layout of the ids: 64 nodes and 64 genes (default), 1024 nodes and 64 genes (wide), 1024 without genes (java), 128 (java-gene). All replicas use the same one."},
	{Key: SnowflakeLeaseDir, Group: groupIDs, Meaning: "Folder of the files that lease node numbers on one host; by default a folder of the system's temporary one."},
	{Key: SnowflakeLeaseTTL, Group: groupIDs, Type: TypeDuration, Default: "30s", Min: shortLease, Max: oneHour, Meaning: "How long a leased node number is reserved after each renewal, in the database or the cache server."},
	{Key: LeaseBackend, Group: groupIDs, Type: TypeEnum, Default: "auto", Values: []string{"auto", "database", "cache", "none"}, Meaning: "What keeps locks and leases, node numbers among them; auto is the database, or the cache where only that is on a server."},

	{Key: GrpcPort, Group: groupGrpc, Type: TypeInt, Default: "1119", Max: maxPort, Reader: "grpcx", Meaning: "gRPC listen port; 0 takes a free one."},
	{Key: GrpcReflection, Group: groupGrpc, Type: TypeEnum, Default: "false", Values: []string{"true", "false"}, Reader: "grpcx", Meaning: "gRPC server reflection."},
	{Key: GrpcMaxConnections, Group: groupGrpc, Type: TypeInt, Default: "1000", Max: maxCount, Reader: "grpcx", Meaning: "Open gRPC connections; further ones are closed at once; 0 is no limit."},
	{Key: GrpcMaxStreams, Group: groupGrpc, Type: TypeInt, Default: "250", Min: 1, Max: maxCount, Reader: "grpcx", Meaning: "Concurrent calls of one gRPC connection; further ones wait at the client."},
	{Key: GrpcMaxInflightBytes, Group: groupGrpc, Type: TypeInt, Default: "67108864", Max: math.MaxInt64, Reader: "grpcx", Meaning: "Bytes of request messages that have not arrived completely, over all gRPC connections; beyond it the oldest such calls end; 0 is no limit."},
	{Key: GrpcFirstMessageTimeout, Group: groupGrpc, Type: TypeDuration, Default: "10s", Max: oneHour, Reader: "grpcx", Meaning: "Time for the request message of a gRPC call to arrive; 0 is no limit."},

	{Key: EmailHost, Group: groupMail, Reader: "notifyx/email", Meaning: "Host of the mail server."},
	{Key: EmailPort, Group: groupMail, Type: TypeInt, Default: "587", Max: maxPort, Reader: "notifyx/email", Meaning: "Port of the mail server."},
	{Key: EmailUser, Group: groupMail, Reader: "notifyx/email", Meaning: "User."},
	{Key: EmailPass, Group: groupMail, Secret: true, Reader: "notifyx/email", Meaning: "Password."},
	{Key: EmailFrom, Group: groupMail, Reader: "notifyx/email", Meaning: "Address of the sender."},
	{Key: EmailFromName, Group: groupMail, Reader: "notifyx/email", Meaning: "Name of the sender."},
	{Key: EmailTLS, Group: groupMail, Type: TypeEnum, Default: "starttls", Values: []string{"none", "starttls", "tls"}, Reader: "notifyx/email", Meaning: "Encryption of the connection to the mail server."},
}
