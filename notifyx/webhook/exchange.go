package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/plinthgo/plinth/core/major/xhttp"
	"github.com/plinthgo/plinth/notifyx/webhook/signature"
)

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
	signature.HeaderID.Set(header, id)
	signature.HeaderTimestamp.Set(header, strconv.FormatInt(now.Unix(), 10))
	signature.HeaderSignature.Set(header, signature.Sign(id, now, body, to.Secrets...))
	xhttp.ContentType.Set(header, "application/json")
	xhttp.UserAgent.Set(header, "Plinth-Webhook/1")
	return &request{url: u, header: header, body: body}
}

// errGaveUp reports that the caller's context has ended with a cause of its own.
var errGaveUp = errors.New("webhook: given up")

// exchange sends the request and reads the answer, within the timeout.
func (c *Client) exchange(parent context.Context, r *request) (Result, error) {
	ctx, cancel := context.WithTimeoutCause(parent, c.config.timeout, ErrTimeout)
	defer cancel() // a connection whose answer was not read to its end is closed, not drained
	begin := time.Now()
	status, err := c.roundTrip(ctx, r)
	result := Result{Status: status, Duration: time.Since(begin)}
	switch {
	case err == nil, errors.Is(err, ErrStatus), errors.Is(err, ErrResponseTooLarge),
		errors.Is(err, ErrURL):
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
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url.String(),
		bytes.NewReader(r.body))
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
	err = drain(res)
	if status == nil || errors.Is(err, ErrResponseTooLarge) {
		return res.StatusCode, errors.Join(status, err)
	}
	return res.StatusCode, status
}

// drain reads the body within the limit: an answer that is too long, or breaks off, is
// none.
func drain(res *http.Response) (err error) {
	n := res.ContentLength
	if n <= maxResponse {
		n, err = io.Copy(io.Discard, io.LimitReader(res.Body, maxResponse+1))
	}
	if n > maxResponse {
		return fmt.Errorf("%w: more than %d bytes", ErrResponseTooLarge, maxResponse)
	}
	return err
}

// retryAfter reads the header of an answer that says "not now" (RFC 9110, section
// 10.2.3), within the bounds.
func (c *Client) retryAfter(res *http.Response) time.Duration {
	switch res.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable,
		http.StatusGatewayTimeout:
	default:
		return 0
	}
	value := strings.TrimSpace(xhttp.RetryAfter.Get(res.Header))
	wait, ok := time.Duration(0), false
	if seconds, err := strconv.ParseUint(value, 10, 64); err == nil ||
		errors.Is(err, strconv.ErrRange) {
		// G115: bounded
		wait, ok = time.Duration(min(seconds, uint64(maxRetryAfter/time.Second)))*time.Second, true
	} else if at, err := http.ParseTime(value); err == nil {
		wait, ok = at.Sub(c.config.now()), true
	}
	if !ok {
		return 0
	}
	return min(max(wait, minRetryAfter), maxRetryAfter)
}

func isTimeout(err error) bool {
	var t net.Error
	return errors.As(err, &t) && t.Timeout()
}

// connectionError keeps of an error what the receiver has not written: net/http quotes
// malformed answers, crypto/x509 the names of certificates.
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
		return fmt.Errorf("%w: %w",
			ErrConnection, &cause{text: "the name cannot be looked up", err: dns})
	case errors.As(err, &certificate):
		return fmt.Errorf("%w: %w",
			ErrConnection, &cause{text: certificateText(certificate), err: certificate})
	case errors.As(err, &op):
		return fmt.Errorf("%w: %w", ErrConnection, op)
	case errors.As(err, &record), errors.As(err, &alert):
		return fmt.Errorf("%w: the TLS handshake failed", ErrConnection)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: the connection was closed early", ErrConnection)
	default:
		return fmt.Errorf("%w: the answer is not valid HTTP, or too long", ErrConnection)
	}
}

// certificateText says what is wrong with a certificate, and nothing that stands in it.
func certificateText(err error) string {
	var (
		name      x509.HostnameError
		authority x509.UnknownAuthorityError
		invalid   x509.CertificateInvalidError
	)
	switch {
	case errors.As(err, &name):
		return "the certificate is for another name"
	case errors.As(err, &authority):
		return "the certificate is of an unknown authority"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "the certificate is expired or not valid yet"
	default:
		return "the certificate is not valid"
	}
}

// cause is an error with a text of this package. The error itself is found with errors.As
// only.
type cause struct {
	text string
	err  error
}

func (c *cause) Error() string { return c.text }

func (c *cause) Unwrap() error { return c.err }
