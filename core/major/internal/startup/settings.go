package startup

import (
	"net"
	"net/http"
	"time"

	"github.com/plinthgo/plinth/core/major/xhelper"
)

// Settings is what options and environment say about serving and stopping.
type Settings struct {
	// Address is host:port.
	Address string
	// Listener is served instead of a new one, where it is not nil.
	Listener net.Listener
	// TrustedProxies are the addresses and CIDR ranges of proxies whose X-Forwarded-For
	// is believed.
	TrustedProxies []string
	// DrainDelay is the time between the beginning of the stop and the end of accepting.
	DrainDelay time.Duration
	// WriteTimeout is the time for a client to read something of a response; 0 is no
	// limit.
	WriteTimeout time.Duration
	// ShutdownTimeout bounds the whole stop.
	ShutdownTimeout time.Duration
	// Serve is the configuration of the request middleware.
	Serve xhelper.Config
	// Server is the HTTP server with the limits of the environment, without a handler.
	Server *http.Server
	// ChangeServer are the application's changes of Server, which the Runner makes once.
	ChangeServer []func(*http.Server)
}

// NoLimit is no limit to the request middleware, for which 0 means its default, and to
// net/http, for which 0 means ReadTimeout.
const NoLimit = -1

// maxReserve bounds the part of the shutdown timeout that is kept for what comes after
// the requests.
const maxReserve = 5 * time.Second

// Reserve is the end of the shutdown timeout that requests cannot have: its last fifth,
// at most 5 s. It is kept for tasks, hooks and nodes.
func (s Settings) Reserve() time.Duration { return min(s.ShutdownTimeout/5, maxReserve) }
