package xlog

// Names of the parts of a service, for WithName. Names of four or five letters keep the
// lines on a terminal aligned. An application may use any other name.
const (
	NamedMAIN  = "MAIN"  // the runtime: start, serve, stop
	NamedINIT  = "INIT"  // initialization
	NamedCONT  = "CONT"  // controllers, handlers
	NamedLOGC  = "LOGC"  // business logic
	NamedSERV  = "SERV"  // services
	NamedREPO  = "REPO"  // repositories
	NamedMIDE  = "MIDE"  // middleware
	NamedRESU  = "RESU"  // results, responses
	NamedAUTH  = "AUTH"  // authentication and authorization
	NamedCRON  = "CRON"  // schedules
	NamedTASK  = "TASK"  // background tasks
	NamedGRPC  = "GRPC"  // gRPC
	NamedHTTP  = "HTTP"  // HTTP, the access log
	NamedDATA  = "DATA"  // the database
	NamedCACHE = "CACHE" // the cache
	NamedLEASE = "LEASE" // locks and leases
	NamedEMAIL = "EMAIL" // mail
	NamedNOTI  = "NOTI"  // notifications

	namedLOGS = "LOGS" // the log itself
)
