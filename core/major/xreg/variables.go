package xreg

import (
	"time"

	"github.com/plinthgo/plinth/core/defined/xenv"
)

func init() { xenv.Register[serverVariables]("Application and server") }
func init() { xenv.Register[contextVariables]("Request context") }
func init() { xenv.Register[leaseVariables]("IDs") }

// variables are those of the settings.
type variables struct {
	serverVariables
	contextVariables
}

const (
	drainDelayKey      xenv.EnvKey = "PLINTH_DRAIN_DELAY"
	shutdownTimeoutKey xenv.EnvKey = "PLINTH_SHUTDOWN_TIMEOUT"
)

type serverVariables struct {
	Debug                bool          `env:"PLINTH_DEBUG" default:"false" doc:"Debug mode: routes in the start banner, handling time in responses, no drain delay."`
	Host                 string        `env:"PLINTH_HOST" default:"localhost" doc:"HTTP listen host; 0.0.0.0 or :: listens on every interface."`
	Port                 int           `env:"PLINTH_PORT" default:"1118" min:"0" max:"65535" doc:"HTTP listen port; 0 takes a free one."`
	Envelope             string        `env:"PLINTH_ENVELOPE" default:"plinth" oneof:"plinth java java-strict" doc:"Profile of the response envelope."`
	TrustedProxies       []string      `env:"PLINTH_TRUSTED_PROXIES" doc:"Addresses or CIDR ranges of proxies whose X-Forwarded-For is believed; none by default."`
	ReadHeaderTimeout    time.Duration `env:"PLINTH_READ_HEADER_TIMEOUT" default:"5s" min:"0s" max:"1h" doc:"Time for a request's header to arrive; 0 is no limit."`
	ReadTimeout          time.Duration `env:"PLINTH_READ_TIMEOUT" default:"30s" min:"0s" max:"24h" doc:"Time for a request's body to arrive; 0 is no limit."`
	WriteTimeout         time.Duration `env:"PLINTH_WRITE_TIMEOUT" default:"30s" min:"0s" max:"24h" doc:"Time for a client to read something of a response, however long the whole takes; 0 is no limit."`
	IdleTimeout          time.Duration `env:"PLINTH_IDLE_TIMEOUT" default:"120s" min:"0s" max:"24h" doc:"Time that an idle keep-alive connection stays open; 0 is no limit."`
	RequestTimeout       time.Duration `env:"PLINTH_REQUEST_TIMEOUT" default:"30s" min:"0s" max:"24h" doc:"Time after which the context of a request ends and its response is 504; streams have none; 0 is no limit."`
	MaxHeaderBytes       int           `env:"PLINTH_MAX_HEADER_BYTES" default:"65536" min:"1024" max:"1073741824" doc:"Size of a request's header in bytes."`
	MaxBodyBytes         int64         `env:"PLINTH_MAX_BODY_BYTES" default:"4194304" min:"0" doc:"Size of a request's body in bytes; 0 is no limit."`
	MaxInflightBodyBytes int64         `env:"PLINTH_MAX_INFLIGHT_BODY_BYTES" default:"67108864" min:"0" doc:"Bytes of the bodies of all requests that handlers may have read at a time; a request beyond it gets 503; routes with a larger limit of their own are not counted; 0 is no limit."`
	DrainDelay           time.Duration `env:"PLINTH_DRAIN_DELAY" default:"5s" min:"0s" max:"1h" doc:"Time between the stop signal and the end of accepting, for load balancers to notice; by default 0 in debug mode and at a terminal."`
	ShutdownTimeout      time.Duration `env:"PLINTH_SHUTDOWN_TIMEOUT" default:"25s" min:"1ns" max:"24h" doc:"Bound on the whole stop, the drain delay included."`
	AppName              string        `env:"APP_NAME" doc:"Name of the application in the banner and the logs; by default the last element of the main module's path."`
	AppVersion           string        `env:"APP_VERSION" doc:"Version of the application in the banner and the logs; by default what the binary was built from."`
}

type contextVariables struct {
	EnableInput bool     `env:"CONTEXT_ENABLE_INPUT" default:"true" doc:"Take a well-formed X-Request-UUID from the client as the request id."`
	ExcludeURLs []string `env:"CONTEXT_EXCLUDE_URLS" doc:"Path patterns, such as /healthz or /static/*, whose requests get no id."`
}

type leaseVariables struct {
	LeaseBackend string `env:"LEASE_BACKEND" default:"auto" oneof:"auto database cache none" doc:"What keeps locks and leases, node numbers among them; auto is the database, or the cache where only that is on a server."`
}
