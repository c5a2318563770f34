// Package guard stands in front of the tool endpoint and answers what the protocol's SDK
// leaves open.
//
//	endpoint := guard.New(guard.Config{Origins: origins}, mcp.NewStreamableHTTPHandler(...))
//
// The checks run in this order, and the first that fails answers. Every body is a
// JSON-RPC error, with the id of the request where one could be read, otherwise without
// an id. Nothing waits for a client longer than Config.ReadTimeout.
//
//	a panic behind the guard                                        500  -32603, the panic is logged
//	an Origin that is "null", malformed, repeated or not allowed    403  -32600
//	a foreign Host at a loopback address (DNS rebinding)            403  -32600
//	OPTIONS                                                         204  no body
//	a method other than POST                                        405  -32600, with Allow
//	an Accept that excludes application/json                        406  -32600
//	a Content-Type other than application/json, an encoded body     415  -32600
//	a body above Config.MaxBody                                     413  -32600
//	a body that is not there after Config.ReadTimeout               408  -32600, the connection is closed
//	a body that breaks off                                          400  -32600
//	a body that is empty, not UTF-8 or not one JSON value           400  -32700
//	a batch of more than 16 messages                                400  -32600
//	an id that is a fraction, or a number above 2^53-1              400  -32600
//	a value that is no message of JSON-RPC 2.0                      400  -32600, without an id for a response
//
// What the SDK refuses with plain text gets the same form: -32600 in general, -32022 with
// data.supported for a version of the protocol that is unknown, -32603 for a status of
// 500 and above. An unknown method is -32601, in the older versions of the protocol with
// status 200 like any other error of a call; an unknown notification is accepted with 202
// and ignored.
//
// An origin is allowed that is the server's own (its host and port are those of the Host
// header), that is configured, or that is http or https on a loopback address where the
// request is to one. Headers that proxies add are not believed: where a proxy changes the
// Host header, the public origin has to be configured. A Host header at a loopback
// address must be a loopback name or address, or the host of a configured origin; the
// SDK's own check, which knows no configured origins, can then be switched off.
//
// Answers to an allowed origin carry the headers of CORS, errors too. Every answer
// carries X-Request-UUID: the one that an outer handler has set, otherwise the client's
// where it is well-formed, otherwise a new UUID.
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

// A Config says what the guard lets through. The zero value is usable.
type Config struct {
	// Origins are allowed besides the server's own and those on loopback addresses:
	// scheme://host or scheme://host:port. One that Validate refuses matches no request.
	Origins []string
	// MaxBody is the largest body in bytes; 0 means 1 MiB.
	MaxBody int64
	// ReadTimeout is how long a client may take to send the body; 0 means 10 s. While the
	// body is read it takes the place of the server's own deadline.
	ReadTimeout time.Duration
}

// StreamOptions are those of the SDK's handler behind the guard.
func StreamOptions() *mcp.StreamableHTTPOptions {
	return &mcp.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: defaultMaxBody,
		PropagateRequestCancellation: true,
		DisableLocalhostProtection:   true, // the guard's, which knows the configured origins
	}
}

// New returns a handler that passes to next what it does not answer itself. To next the
// body is whole and in memory, and the Accept header names both types of the protocol.
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
	origins, hosts map[string]bool // as origin.String and origin.Host
	maxBody        int64
	readTimeout    time.Duration
}

// ServeHTTP implements http.Handler.
func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	out := &response{ResponseWriter: w, header: r.Header}
	defer g.rescue(out, r)
	setRequestID(w.Header(), r.Header)
	if g.early(w, r) {
		return
	}
	body, no := g.receive(w, r)
	if no != nil {
		no.write(w)
		return
	}
	m, wrong := readMessage(body)
	if wrong != nil {
		(&refusal{status: http.StatusBadRequest, answer: *wrong}).write(w)
		return
	}
	out.message = m
	g.next.ServeHTTP(out, complete(r, body))
	out.finish()
}

// early answers what needs no body. A body that is still to come would hold the answer
// up, so the connection does not outlive it.
func (g *guard) early(w http.ResponseWriter, r *http.Request) bool {
	answer := func(w http.ResponseWriter) { preflight(w, r) }
	if no := g.admit(w.Header(), r); no != nil {
		answer = no.write
	} else if r.Method != http.MethodOptions {
		no := refuseHeader(r)
		if no == nil {
			return false
		}
		answer = no.write
	}
	if r.ContentLength != 0 && r.ProtoMajor == 1 {
		w.Header().Set("Connection", "close")
	}
	answer(w)
	return true
}

// rescue answers a panic. Where the answer has begun, the connection is cut off instead,
// so that nobody takes it as whole.
func (g *guard) rescue(out *response, r *http.Request) {
	fault := recover()
	if fault == nil {
		return
	}
	if fault == http.ErrAbortHandler { //nolint:errorlint // net/http compares the value of a panic in the same way
		panic(fault)
	}
	slog.ErrorContext(r.Context(), "panic behind the tool endpoint",
		"panic", fault, "request_id", out.Header().Get(requestIDHeader), "stack",
		string(debug.Stack()))
	if out.begun {
		panic(http.ErrAbortHandler)
	}
	failed := refuse(http.StatusInternalServerError, jsonrpc.CodeInternalError, "internal error")
	failed.ID = out.message.answerable()
	failed.write(out.ResponseWriter)
}
