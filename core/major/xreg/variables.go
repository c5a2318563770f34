package xreg

import (
	"time"

	"github.com/plinthgo/plinth/core/defined/xenv"
)

func init() { xenv.Register[serverVariables]("Application and server") }
func init() { xenv.Register[contextVariables]("Request context") }
func init() { xenv.Register[leaseVariables]("IDs") }

// variables are the environment variables of the settings.
type variables struct {
	serverVariables
	contextVariables
}

const (
	drainDelayKey      xenv.EnvKey = "PLINTH_DRAIN_DELAY"
	shutdownTimeoutKey xenv.EnvKey = "PLINTH_SHUTDOWN_TIMEOUT"
)

type serverVariables struct {
	Debug                bool          `env:"PLINTH_DEBUG" default:"false" doc:"Debug mode: routes in the startup banner, handling time in responses, no drain delay."`
	Host                 string        `env:"PLINTH_HOST" default:"localhost" doc:"HTTP listen host; 0.0.0.0 or :: listens on every interface."`
	Port                 int           `env:"PLINTH_PORT" default:"1118" min:"0" max:"65535" doc:"HTTP listen port; 0 selects a free port."`
	Envelope             string        `env:"PLINTH_ENVELOPE" default:"plinth" oneof:"plinth java java-strict" doc:"Profile of the response envelope."`
	TrustedProxies       []string      `env:"PLINTH_TRUSTED_PROXIES" doc:"Addresses or CIDR ranges of proxies whose X-Forwarded-For is trusted; empty by default."`
	ReadHeaderTimeout    time.Duration `env:"PLINTH_READ_HEADER_TIMEOUT" default:"5s" min:"0s" max:"1h" doc:"Timeout for reading a request header; 0 means no limit."`
	ReadTimeout          time.Duration `env:"PLINTH_READ_TIMEOUT" default:"30s" min:"0s" max:"24h" doc:"Timeout for reading a request including its body; 0 means no limit."`
	WriteTimeout         time.Duration `env:"PLINTH_WRITE_TIMEOUT" default:"30s" min:"0s" max:"24h" doc:"Maximum time without write progress on a response; 0 means no limit."`
	IdleTimeout          time.Duration `env:"PLINTH_IDLE_TIMEOUT" default:"120s" min:"0s" max:"24h" doc:"Maximum idle time of a keep-alive connection; 0 means no limit."`
	RequestTimeout       time.Duration `env:"PLINTH_REQUEST_TIMEOUT" default:"30s" min:"0s" max:"24h" doc:"Timeout of a request, after which its context ends and the response is 504; does not apply to streams; 0 means no limit."`
	MaxHeaderBytes       int           `env:"PLINTH_MAX_HEADER_BYTES" default:"65536" min:"1024" max:"1073741824" doc:"Maximum size of a request header in bytes."`
	MaxBodyBytes         int64         `env:"PLINTH_MAX_BODY_BYTES" default:"4194304" min:"0" doc:"Maximum size of a request body in bytes; 0 means no limit."`
	MaxInflightBodyBytes int64         `env:"PLINTH_MAX_INFLIGHT_BODY_BYTES" default:"67108864" min:"0" doc:"Maximum total size of the request bodies in memory, in bytes; a request over the limit gets 503; routes with a larger limit are not counted; 0 means no limit."`
	DrainDelay           time.Duration `env:"PLINTH_DRAIN_DELAY" default:"5s" min:"0s" max:"1h" doc:"Time to keep serving after the stop signal, so that load balancers notice; by default 0 in debug mode and at a terminal."`
	ShutdownTimeout      time.Duration `env:"PLINTH_SHUTDOWN_TIMEOUT" default:"25s" min:"1ns" max:"24h" doc:"Timeout of the whole shutdown, including the drain delay."`
	AppName              string        `env:"APP_NAME" doc:"Name of the application in the banner and the logs; by default the last element of the main module's path."`
	Inspect              string        `env:"PLINTH_INSPECT" doc:"Set by commands such as plinth openapi, which inspect the routes: the option that the service needs. Without that option the service does not start."`
	AppVersion           string        `env:"APP_VERSION" doc:"Version of the application in the banner and the logs; by default the version in the build info."`
}

type contextVariables struct {
	EnableInput bool     `env:"CONTEXT_ENABLE_INPUT" default:"true" doc:"Use a well-formed X-Request-UUID of the client as the request ID."`
	ExcludeURLs []string `env:"CONTEXT_EXCLUDE_URLS" doc:"Path patterns, such as /healthz or /static/*, whose requests get no request ID."`
}

type leaseVariables struct {
	LeaseBackend string `env:"LEASE_BACKEND" default:"auto" oneof:"auto database cache none" doc:"Backend of locks and leases, including node IDs; auto selects the one with the widest scope, or the database if the scopes are equal."`
}
