package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	xHttp "github.com/plinthgo/plinth/core/major/xhttp"
)

const (
	maxIdle     = 100
	idleTimeout = 30 * time.Second
	keepAlive   = 15 * time.Second
)

// newTransport returns what makes one exchange, without a proxy and decompression. A bare transport knows no redirects and no
// cookies. Dial and handshake have the timeout of the whole exchange: net/http goes on with them after the request that asked
// for them is over.
func newTransport(c *config, g guard) *http.Transport {
	dialer := &net.Dialer{Timeout: c.timeout, KeepAlive: keepAlive, Resolver: c.resolver, ControlContext: g.control}
	return &http.Transport{
		DialContext:            dialer.DialContext,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: c.roots},
		TLSHandshakeTimeout:    c.timeout,
		DisableCompression:     true,
		MaxResponseHeaderBytes: int64(c.maxHeader),
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           maxIdle,
		IdleConnTimeout:        idleTimeout,
	}
}

// request is one attempt, signed.
type request struct {
	url    *url.URL
	header http.Header
	body   []byte
}

func (c *Client) sign(u *url.URL, to Endpoint, id string, body []byte) *request {
	header := to.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	now := c.config.now()
	HeaderID.Set(header, id)
	HeaderTimestamp.Set(header, strconv.FormatInt(now.Unix(), 10))
	HeaderSignature.Set(header, signAll(to.Secrets, id, now, body))
	xHttp.ContentType.Set(header, "application/json")
	xHttp.UserAgent.Set(header, c.config.userAgent)
	return &request{url: u, header: header, body: body}
}

// errGaveUp reports that the caller's context has ended with a cause of its own.
var errGaveUp = errors.New("xwebhook: given up")

// exchange sends the request and reads the answer, within the timeout.
func (c *Client) exchange(parent context.Context, r *request) (Result, error) {
	ctx, cancel := context.WithTimeoutCause(parent, c.config.timeout, ErrTimeout)
	defer cancel() // a connection whose answer was not read to its end is closed, not drained
	begin := time.Now()
	status, err := c.roundTrip(ctx, r)
	result := Result{Status: status, Duration: time.Since(begin)}
	switch {
	case err == nil, errors.Is(err, ErrStatus), errors.Is(err, ErrResponseTooLarge), errors.Is(err, ErrURL):
		return result, err
	case parent.Err() != nil:
		return result, fmt.Errorf("%w: %w", errGaveUp, context.Cause(parent))
	case errors.Is(context.Cause(ctx), ErrTimeout), isTimeout(err):
		return result, fmt.Errorf("%w: more than %s", ErrTimeout, c.config.timeout)
	default:
		return result, connectionError(err)
	}
}

func (c *Client) roundTrip(ctx context.Context, r *request) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url.String(), bytes.NewReader(r.body))
	if err != nil {
		return 0, fmt.Errorf("%w: it cannot be read", ErrURL)
	}
	req.Header = r.header
	res, err := c.transport.RoundTrip(req)
	if err != nil {
		return 0, err
	}
	defer func() { _ = res.Body.Close() }() // nothing more is wanted of it
	status := error(nil)
	if res.StatusCode < http.StatusOK || res.StatusCode >= http.StatusMultipleChoices {
		status = &StatusError{Status: res.StatusCode, Wait: c.retryAfter(res)}
	}
	if res.StatusCode == http.StatusSwitchingProtocols {
		return res.StatusCode, status // what follows is no body
	}
	err = c.drain(res)
	if status == nil || errors.Is(err, ErrResponseTooLarge) {
		return res.StatusCode, errors.Join(status, err)
	}
	return res.StatusCode, status
}

// drain reads the body within the limit, so that the connection can be used again.
func (c *Client) drain(res *http.Response) error {
	limit := int64(c.config.maxResponse)
	if res.ContentLength > limit {
		return fmt.Errorf("%w: more than %d bytes", ErrResponseTooLarge, limit)
	}
	n, err := io.Copy(io.Discard, io.LimitReader(res.Body, limit+1))
	if n > limit {
		return fmt.Errorf("%w: more than %d bytes", ErrResponseTooLarge, limit)
	}
	return err
}

// retryAfter reads the header of an answer that says "not now" (RFC 9110, section 10.2.3), within the bounds.
func (c *Client) retryAfter(res *http.Response) time.Duration {
	switch res.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
	default:
		return 0
	}
	value := strings.TrimSpace(xHttp.RetryAfter.Get(res.Header))
	wait, ok := time.Duration(0), false
	if seconds, err := strconv.ParseUint(value, 10, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		wait, ok = time.Duration(min(seconds, uint64(c.config.maxRetryAfter/time.Second)))*time.Second, true //nolint:gosec // G115: bounded
	} else if at, err := http.ParseTime(value); err == nil {
		wait, ok = at.Sub(c.config.now()), true
	}
	if !ok {
		return 0
	}
	return min(max(wait, minRetryAfter), c.config.maxRetryAfter)
}

func isTimeout(err error) bool {
	var t net.Error
	return errors.As(err, &t) && t.Timeout()
}

const maxErrorText = 300 // bytes

// connectionError keeps of an error what the receiver has not written: net/http quotes malformed answers.
func connectionError(err error) error {
	var (
		blocked     *addressError
		op          *net.OpError
		dns         *net.DNSError
		certificate *tls.CertificateVerificationError
		record      tls.RecordHeaderError
		alert       tls.AlertError
	)
	switch {
	case errors.As(err, &blocked):
		return blocked
	case errors.As(err, &dns):
		return fmt.Errorf("%w: %w", ErrConnection, &cause{text: "the name cannot be looked up", err: dns})
	case errors.As(err, &certificate):
		return fmt.Errorf("%w: %w", ErrConnection, newCause(certificate))
	case errors.As(err, &op):
		return fmt.Errorf("%w: %w", ErrConnection, newCause(op))
	case errors.As(err, &record), errors.As(err, &alert):
		return fmt.Errorf("%w: the TLS handshake failed", ErrConnection)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: the connection was closed early", ErrConnection)
	default:
		return fmt.Errorf("%w: the answer is not valid HTTP, or too long", ErrConnection)
	}
}

// cause is an error whose text was cut.
type cause struct {
	text string
	err  error
}

func newCause(err error) *cause {
	text := err.Error()
	if len(text) > maxErrorText {
		text = strings.ToValidUTF8(text[:maxErrorText], "") + "..."
	}
	return &cause{text: text, err: err}
}

func (c *cause) Error() string { return c.text }

func (c *cause) Unwrap() error { return c.err }
