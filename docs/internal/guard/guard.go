// Package guard validates requests to the tool endpoint before the SDK, and normalizes
// its errors.
//
//	endpoint := guard.New(guard.Config{Origins: origins}, mcp.NewStreamableHTTPHandler(...))
//
// The checks run in this order, and the first failure determines the response. Every body
// is a JSON-RPC error, with the ID of the request if it could be parsed. The guard waits
// for a client for at most Config.ReadTimeout.
//
//	a panic behind the guard                                        500  -32603, the panic is logged
//	an Origin that is "null", malformed, repeated or not allowed    403  -32600
//	a foreign Host at a loopback address (DNS rebinding)            403  -32600
//	OPTIONS                                                         204  no body
//	a method other than POST                                        405  -32600, with Allow
//	an Accept that excludes application/json                        406  -32600
//	a Content-Type other than application/json, an encoded body     415  -32600
//	a body above Config.MaxBody                                     413  -32600
//	a body that is incomplete after Config.ReadTimeout              408  -32600, the connection is closed
//	a truncated body                                                400  -32600
//	a body that is empty, not UTF-8 or not one JSON value           400  -32700
//	a batch of more than 16 messages                                400  -32600
//	an id that is a fraction, or a number above 2^53-1              400  -32600
//	a value that is not a JSON-RPC 2.0 message                      400  -32600, without an id for a response
//
// Plain-text errors of the SDK become JSON-RPC errors: -32600 in general, -32022 with
// data.supported for an unknown protocol version, -32603 for a status of 500 and above.
// An unknown method is -32601; in older protocol versions it has status 200, like any
// other error of a call. An unknown notification is accepted with 202 and ignored.
//
// An origin is allowed if it is the server's own (host and port of the Host header), if
// it is configured, or if it and the request use loopback addresses over http or https.
// The guard ignores headers of proxies: if a proxy changes the Host header, the public
// origin must be configured. A Host header at a loopback address must be a loopback name
// or address, or the host of a configured origin. This replaces the check of the SDK,
// which does not support configured origins.
//
// Responses to an allowed origin, including errors, have CORS headers. Every response has
// X-Request-UUID: the value of an outer handler, or else the client's value if it is
// well-formed, or else a new UUID.
package guard

import (
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	defaultMaxBody     = 1 << 20
	defaultReadTimeout = 10 * time.Second
)

// Config configures New. The zero value is valid.
type Config struct {
	// Origins are allowed in addition to the server's own and to loopback origins:
	// scheme://host or scheme://host:port. Origins that Validate rejects match no
	// request.
	Origins []string
	// MaxBody is the maximum size of a body in bytes; 0 means 1 MiB.
	MaxBody int64
	// ReadTimeout is the timeout for reading the body; 0 means 10 s. It replaces the read
	// deadline of the server.
	ReadTimeout time.Duration
}

// StreamOptions returns the options of the SDK's handler behind the guard.
func StreamOptions() *mcp.StreamableHTTPOptions {
	return &mcp.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: defaultMaxBody,
		PropagateRequestCancellation: true,
		DisableLocalhostProtection:   true, // the guard checks the host
	}
}

// New returns a handler that validates requests and passes them to next. For next, the
// body is complete and in memory, and the Accept header contains both media types of the
// protocol.
func New(c Config, next http.Handler) http.Handler {
	g := &guard{
		next: next, origins: map[string]bool{}, hosts: map[string]bool{}, maxBody: c.MaxBody,
		readTimeout: c.ReadTimeout,
	}
	for _, s := range c.Origins {
		if o, ok := parseOrigin(s); ok {
			g.origins[o.String()] = true
			g.hosts[o.Host] = true
		}
	}
	if g.maxBody <= 0 {
		g.maxBody = defaultMaxBody
	}
	if g.readTimeout <= 0 {
		g.readTimeout = defaultReadTimeout
	}
	return g
}

type guard struct {
	next           http.Handler
	origins, hosts map[string]bool // keys are origin.String and origin.Host
	maxBody        int64
	readTimeout    time.Duration
}

// ServeHTTP implements http.Handler.
func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	out := &response{ResponseWriter: w, header: r.Header}
	defer g.recovered(out, r)
	setRequestID(w.Header(), r.Header)
	if g.early(w, r) {
		return
	}
	body, rejected := g.receive(w, r)
	if rejected != nil {
		rejected.write(w)
		return
	}
	m, invalid := readMessage(body)
	if invalid != nil {
		(&rejection{status: http.StatusBadRequest, errorResponse: *invalid}).write(w)
		return
	}
	out.message = m
	g.next.ServeHTTP(out, complete(r, body))
	out.finish()
}

// early responds to requests whose body is not needed. It closes the connection, because
// the server would otherwise wait for the rest of the body.
func (g *guard) early(w http.ResponseWriter, r *http.Request) bool {
	respond := func(w http.ResponseWriter) { preflight(w, r) }
	if rejected := g.admit(w.Header(), r); rejected != nil {
		respond = rejected.write
	} else if r.Method != http.MethodOptions {
		rejected := checkHeader(r)
		if rejected == nil {
			return false
		}
		respond = rejected.write
	}
	if r.ContentLength != 0 && r.ProtoMajor == 1 {
		w.Header().Set("Connection", "close")
	}
	respond(w)
	return true
}

// recovered responds to a panic. If the response has started, it aborts the connection,
// so that the client detects the truncation.
func (g *guard) recovered(out *response, r *http.Request) {
	fault := recover()
	if fault == nil {
		return
	}
	if fault == http.ErrAbortHandler { //nolint:errorlint // net/http compares the value of a panic in the same way
		panic(fault)
	}
	slog.ErrorContext(r.Context(), "tool endpoint panicked",
		"panic", fault, "request_id", out.Header().Get(requestIDHeader), "stack",
		string(debug.Stack()))
	if out.started {
		panic(http.ErrAbortHandler)
	}
	failed := reject(http.StatusInternalServerError, jsonrpc.CodeInternalError, "internal error")
	failed.ID = out.message.validID()
	failed.write(out.ResponseWriter)
}
