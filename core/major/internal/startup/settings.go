package startup

import (
	"net"
	"net/http"
	"time"

	"github.com/plinthgo/plinth/core/major/xhelper"
)

// Settings configures serving and stopping.
type Settings struct {
	// Address is host:port.
	Address string
	// Listener replaces the listener on Address if it is not nil.
	Listener net.Listener
	// TrustedProxies are addresses and CIDR ranges of proxies whose X-Forwarded-For is
	// trusted.
	TrustedProxies []string
	// DrainDelay is the time from the start of the shutdown until the service stops
	// accepting connections.
	DrainDelay time.Duration
	// WriteTimeout is the maximum time without write progress on a response; 0 means no
	// limit.
	WriteTimeout time.Duration
	// ShutdownTimeout limits the whole shutdown.
	ShutdownTimeout time.Duration
	// Serve is the configuration of the request middleware.
	Serve xhelper.Config
	// Server is the HTTP server with the environment's limits and without a handler.
	Server *http.Server
	// ChangeServer are the application's changes to Server. The Runner applies them once.
	ChangeServer []func(*http.Server)
}

// NoLimit disables a limit. Zero does not: it means the default in the request
// middleware, and the value of ReadTimeout in net/http.
const NoLimit = -1

// maxReserve is the upper bound of Reserve.
const maxReserve = 5 * time.Second

// Reserve returns the last part of the shutdown timeout, which is reserved for tasks,
// hooks and nodes: a fifth of it, at most 5 s.
func (s Settings) Reserve() time.Duration { return min(s.ShutdownTimeout/5, maxReserve) }
