package xenv

// The application and its server.
const (
	Debug                EnvKey = "PLINTH_DEBUG"
	Host                 EnvKey = "PLINTH_HOST"
	Port                 EnvKey = "PLINTH_PORT"
	Envelope             EnvKey = "PLINTH_ENVELOPE"
	TrustedProxies       EnvKey = "PLINTH_TRUSTED_PROXIES"
	ReadHeaderTimeout    EnvKey = "PLINTH_READ_HEADER_TIMEOUT"
	ReadTimeout          EnvKey = "PLINTH_READ_TIMEOUT"
	WriteTimeout         EnvKey = "PLINTH_WRITE_TIMEOUT"
	IdleTimeout          EnvKey = "PLINTH_IDLE_TIMEOUT"
	RequestTimeout       EnvKey = "PLINTH_REQUEST_TIMEOUT"
	MaxHeaderBytes       EnvKey = "PLINTH_MAX_HEADER_BYTES"
	MaxBodyBytes         EnvKey = "PLINTH_MAX_BODY_BYTES"
	MaxInflightBodyBytes EnvKey = "PLINTH_MAX_INFLIGHT_BODY_BYTES"
	DrainDelay           EnvKey = "PLINTH_DRAIN_DELAY"
	ShutdownTimeout      EnvKey = "PLINTH_SHUTDOWN_TIMEOUT"
	AppName              EnvKey = "APP_NAME"
	AppVersion           EnvKey = "APP_VERSION"
)

// The request context.
const (
	ContextEnableInput EnvKey = "CONTEXT_ENABLE_INPUT"
	ContextExcludeUrls EnvKey = "CONTEXT_EXCLUDE_URLS"
)

// Logs.
const (
	LogLevel      EnvKey = "LOG_LEVEL"
	LogFormat     EnvKey = "LOG_FORMAT"
	LogDir        EnvKey = "LOG_DIR"
	LogMaxSize    EnvKey = "LOG_MAX_SIZE"
	LogMaxAge     EnvKey = "LOG_MAX_AGE"
	LogMaxBackups EnvKey = "LOG_MAX_BACKUPS"
	LogCompress   EnvKey = "LOG_COMPRESS"
)

// The database.
const (
	DatabaseDriver          EnvKey = "DATABASE_DRIVER"
	DatabaseDsn             EnvKey = "DATABASE_DSN"
	DatabaseHost            EnvKey = "DATABASE_HOST"
	DatabasePort            EnvKey = "DATABASE_PORT"
	DatabaseUser            EnvKey = "DATABASE_USER"
	DatabasePass            EnvKey = "DATABASE_PASS"
	DatabaseName            EnvKey = "DATABASE_NAME"
	DatabasePrefix          EnvKey = "DATABASE_PREFIX"
	DatabaseSingularTables  EnvKey = "DATABASE_SINGULAR_TABLES"
	DatabaseTimezone        EnvKey = "DATABASE_TIMEZONE"
	DatabaseCharset         EnvKey = "DATABASE_CHARSET"
	DatabasePath            EnvKey = "DATABASE_PATH"
	DatabaseServiceName     EnvKey = "DATABASE_SERVICE_NAME"
	DatabaseLibDir          EnvKey = "DATABASE_LIB_DIR"
	DatabaseTLS             EnvKey = "DATABASE_TLS"
	DatabaseTLSCA           EnvKey = "DATABASE_TLS_CA"
	DatabaseMaxOpenConns    EnvKey = "DATABASE_MAX_OPEN_CONNS"
	DatabaseMaxIdleConns    EnvKey = "DATABASE_MAX_IDLE_CONNS"
	DatabaseConnMaxLifetime EnvKey = "DATABASE_CONN_MAX_LIFETIME"
	DatabaseConnMaxIdleTime EnvKey = "DATABASE_CONN_MAX_IDLE_TIME"
	DatabaseConnectTimeout  EnvKey = "DATABASE_CONNECT_TIMEOUT"
	DatabaseAcquireTimeout  EnvKey = "DATABASE_ACQUIRE_TIMEOUT"
	DatabaseSlowThreshold   EnvKey = "DATABASE_SLOW_THRESHOLD"
)

// The cache.
const (
	NoSqlDriver           EnvKey = "NOSQL_DRIVER"
	NoSqlURL              EnvKey = "NOSQL_URL"
	NoSqlMode             EnvKey = "NOSQL_MODE"
	NoSqlMaster           EnvKey = "NOSQL_MASTER"
	NoSqlSentinelUser     EnvKey = "NOSQL_SENTINEL_USER"
	NoSqlSentinelPass     EnvKey = "NOSQL_SENTINEL_PASS" //nolint:gosec // the name of a variable, no secret
	NoSqlTLS              EnvKey = "NOSQL_TLS"
	NoSqlTLSCA            EnvKey = "NOSQL_TLS_CA"
	NoSqlNearMaxEntries   EnvKey = "NOSQL_NEAR_MAX_ENTRIES"
	NoSqlNearTTL          EnvKey = "NOSQL_NEAR_TTL"
	NoSqlHost             EnvKey = "NOSQL_HOST"
	NoSqlPort             EnvKey = "NOSQL_PORT"
	NoSqlUser             EnvKey = "NOSQL_USER"
	NoSqlPass             EnvKey = "NOSQL_PASS"
	NoSqlDatabase         EnvKey = "NOSQL_DATABASE"
	NoSqlPoolSize         EnvKey = "NOSQL_POOL_SIZE"
	NoSqlPrefix           EnvKey = "NOSQL_PREFIX"
	NoSqlConnectTimeout   EnvKey = "NOSQL_CONNECT_TIMEOUT"
	NoSqlMemoryDefaultTTL EnvKey = "NOSQL_MEMORY_DEFAULT_TTL"
	NoSqlMemoryMaxEntries EnvKey = "NOSQL_MEMORY_MAX_ENTRIES"
	NoSqlMemoryShardCount EnvKey = "NOSQL_MEMORY_SHARD_COUNT"
)

// Ids.
const (
	SnowflakeDatacenterID EnvKey = "SNOWFLAKE_DATACENTER_ID"
	SnowflakeNodeID       EnvKey = "SNOWFLAKE_NODE_ID"
	SnowflakeLayout       EnvKey = "SNOWFLAKE_LAYOUT"
	SnowflakeLeaseDir     EnvKey = "SNOWFLAKE_LEASE_DIR"
	SnowflakeLeaseTTL     EnvKey = "SNOWFLAKE_LEASE_TTL"
	LeaseBackend          EnvKey = "LEASE_BACKEND"
)

// gRPC.
const (
	GrpcPort                EnvKey = "GRPC_PORT"
	GrpcReflection          EnvKey = "GRPC_REFLECTION"
	GrpcMaxConnections      EnvKey = "GRPC_MAX_CONNECTIONS"
	GrpcMaxStreams          EnvKey = "GRPC_MAX_STREAMS"
	GrpcMaxInflightBytes    EnvKey = "GRPC_MAX_INFLIGHT_BYTES"
	GrpcFirstMessageTimeout EnvKey = "GRPC_FIRST_MESSAGE_TIMEOUT"
)

// Mail.
const (
	EmailHost     EnvKey = "EMAIL_HOST"
	EmailPort     EnvKey = "EMAIL_PORT"
	EmailUser     EnvKey = "EMAIL_USER"
	EmailPass     EnvKey = "EMAIL_PASS"
	EmailFrom     EnvKey = "EMAIL_FROM"
	EmailFromName EnvKey = "EMAIL_FROM_NAME"
	EmailTLS      EnvKey = "EMAIL_TLS"
)
