package xlog

// Names of the parts of a service, for WithName. Four or five letters keep the lines of a
// terminal aligned; an application uses whatever names it likes beside them.
const (
	NamedMAIN  = "MAIN"  // the runtime: start, serve, stop
	NamedINIT  = "INIT"  // what runs once at the start
	NamedCONT  = "CONT"  // controllers, handlers
	NamedLOGC  = "LOGC"  // business logic
	NamedSERV  = "SERV"  // services
	NamedREPO  = "REPO"  // repositories
	NamedMIDE  = "MIDE"  // middleware
	NamedRESU  = "RESU"  // results, responses
	NamedAUTH  = "AUTH"  // who may do what
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
