package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/notifyx/webhook/signature"
)

// Endpoint is a receiver of webhooks. With fmt, log/slog and encoding/json it prints as
// its ID, because URLs and headers may contain tokens. This includes exported fields and
// elements of other values. In an unexported field fmt cannot call the methods and prints
// everything except the secrets; store the ID in such a field instead.
type Endpoint struct {
	// ID identifies the receiver within the application. It selects the circuit and
	// appears in logs.
	ID string
	// URL is the target of the events; see Client.CheckURL.
	URL string
	// Secrets sign each request. During a rotation these are the old and the new secret.
	Secrets []signature.Secret
	// Header contains additional request headers, such as Authorization.
	Header http.Header
}

// Format writes the ID for every verb.
func (e Endpoint) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, "endpoint "+strconv.Quote(e.ID))
}

// MarshalText returns the ID.
func (e Endpoint) MarshalText() ([]byte, error) { return []byte(e.ID), nil }

// LogValue returns the ID.
func (e Endpoint) LogValue() slog.Value { return slog.StringValue(e.ID) }

// Event is the content of a webhook. Its body is {"type", "timestamp", "data"}, as the
// specification defines.
type Event struct {
	// ID is the same for all attempts, so that receivers can detect duplicates: 1 to 200
	// printable ASCII characters without spaces and full stops. If it is empty, a new ID
	// is generated.
	ID string
	// Type is the event type, as words separated by full stops: "user.created".
	Type string
	// Timestamp is the time of the event; the zero value is the current time. The
	// signature contains the time of the attempt instead.
	Timestamp time.Time
	// Data is encoded as JSON.
	Data any
}

// Result describes an attempt.
type Result struct {
	// ID is the ID of the event.
	ID string
	// Status is the HTTP status of the response, or 0 without a response.
	Status int
	// Duration is the duration of the attempt.
	Duration time.Duration
}

// Client sends webhooks, one attempt per call. It is safe for concurrent use. Create it
// with New.
type Client struct {
	config    config
	guard     guard
	transport *http.Transport
	circuits  *circuits
}

// New returns a client, or an ErrOption with all invalid options. Nil options are
// skipped.
func New(opts ...Option) (*Client, error) {
	c := &Client{config: defaults()}
	for _, o := range opts {
		if o != nil {
			o(&c.config)
		}
	}
	if err := c.config.check(); err != nil {
		return nil, err
	}
	registerMapper()
	c.guard = guard{allowed: slices.Clone(c.config.allowed)}
	c.transport = newTransport(&c.config, c.guard)
	c.circuits = newCircuits(&c.config)
	return c, nil
}

// Close closes idle connections. The client remains usable.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// Send makes one attempt. It succeeds if the receiver responds with 2xx within the
// timeout and the size limits. The errors are those of this package; RetryAfter returns
// the delay before the next attempt. If ctx is canceled, the error wraps its cause.
//
// Send uses only the status and Retry-After of the response.
func (c *Client) Send(ctx context.Context, to Endpoint, event Event) (Result, error) {
	ctx = xctx.Unpooled(ctx)
	if event.ID == "" {
		event.ID = signature.NewID()
	}
	result := Result{ID: event.ID}
	req, err := c.request(to, event)
	if err != nil {
		return result, err
	}
	attempt, err := c.circuits.do(to.ID, func() (Result, error) { return c.exchange(ctx, req) })
	result.Status, result.Duration = attempt.Status, attempt.Duration
	return result, err
}

// request validates the endpoint and the event without network access, and returns the
// signed request.
func (c *Client) request(to Endpoint, event Event) (*request, error) {
	u, err := c.parseURL(to.URL)
	if err != nil {
		return nil, err
	}
	if err := to.check(); err != nil {
		return nil, err
	}
	body, err := event.encode(c.config.now())
	if err != nil {
		return nil, err
	}
	if err := c.checkPayload(body); err != nil {
		return nil, err
	}
	return c.sign(u, to, event.ID, body), nil
}

func (c *Client) checkPayload(body []byte) error {
	if len(body) > c.config.maxPayload {
		return fmt.Errorf("%w: %d bytes (accepted: %d)",
			ErrPayloadTooLarge, len(body), c.config.maxPayload)
	}
	return nil
}

func (e Endpoint) check() error {
	if e.ID == "" {
		return fmt.Errorf("%w: it has no ID", ErrEndpoint)
	}
	if len(e.Secrets) == 0 || slices.ContainsFunc(e.Secrets, signature.Secret.IsZero) {
		return fmt.Errorf("%w: it has no secret, or an empty one", ErrEndpoint)
	}
	for name, values := range e.Header {
		invalid := func(value string) bool { return !httpguts.ValidHeaderFieldValue(value) }
		if isReserved(name) || !httpguts.ValidHeaderFieldName(name) ||
			slices.ContainsFunc(values, invalid) {
			return fmt.Errorf("%w: the header %q is reserved or invalid", ErrEndpoint, name)
		}
	}
	return nil
}

// encode returns the body. A zero Timestamp is replaced with now.
func (e Event) encode(now time.Time) ([]byte, error) {
	if !signature.ValidID(e.ID) {
		return nil, fmt.Errorf("%w: invalid ID (accepted: 1 to %d printable ASCII characters "+
			"without spaces and full stops)", ErrEvent, signature.MaxIDBytes)
	}
	if e.Type == "" {
		return nil, fmt.Errorf("%w: it has no type", ErrEvent)
	}
	if e.Timestamp.IsZero() {
		e.Timestamp = now
	}
	body, err := json.Marshal(struct {
		Type      string    `json:"type"`
		Timestamp time.Time `json:"timestamp"`
		Data      any       `json:"data"`
	}{e.Type, e.Timestamp.UTC(), e.Data})
	if err != nil {
		// the cause may contain values
		return nil, fmt.Errorf("%w: the data of type %T cannot be encoded", ErrEvent, e.Data)
	}
	return body, nil
}

// isReserved reports whether a header is set by the client, is hop-by-hop, or changes the
// framing of the request.
func isReserved(name string) bool {
	name = http.CanonicalHeaderKey(name)
	return strings.HasPrefix(name, "Webhook-") || strings.HasPrefix(name, "Proxy-") ||
		slices.Contains(reserved, name)
}

var reserved = []string{
	"Accept-Encoding", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Cookie",
	"Expect", "Host", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "User-Agent",
}
