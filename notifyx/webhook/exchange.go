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

// request is a signed request.
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

// errCanceled reports that the context of the caller is done.
var errCanceled = errors.New("webhook: canceled")

// exchange sends the request and reads the response within the timeout.
func (c *Client) exchange(parent context.Context, r *request) (Result, error) {
	ctx, cancel := context.WithTimeoutCause(parent, c.config.timeout, ErrTimeout)
	defer cancel() // closes the connection instead of draining an unread response
	start := time.Now()
	status, err := c.roundTrip(ctx, r)
	result := Result{Status: status, Duration: time.Since(start)}
	switch {
	case err == nil, errors.Is(err, ErrStatus), errors.Is(err, ErrResponseTooLarge),
		errors.Is(err, ErrURL):
		return result, err
	case parent.Err() != nil:
		return result, fmt.Errorf("%w: %w", errCanceled, context.Cause(parent))
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
		return 0, fmt.Errorf("%w: it cannot be parsed", ErrURL)
	}
	req.Header = r.header
	res, err := c.transport.RoundTrip(req)
	if err != nil {
		return 0, err
	}
	defer func() { _ = res.Body.Close() }() // the response is not used further
	var statusErr error
	if res.StatusCode < http.StatusOK || res.StatusCode >= http.StatusMultipleChoices {
		statusErr = &StatusError{Status: res.StatusCode, Wait: c.retryAfter(res)}
	}
	if res.StatusCode == http.StatusSwitchingProtocols {
		return res.StatusCode, statusErr // no body follows
	}
	err = drain(res)
	if statusErr == nil || errors.Is(err, ErrResponseTooLarge) {
		return res.StatusCode, errors.Join(statusErr, err)
	}
	return res.StatusCode, statusErr
}

// drain reads the body up to the limit. It returns an error if the body is too long or
// incomplete.
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

// retryAfter parses the Retry-After header (RFC 9110, section 10.2.3) and limits its
// value.
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

// connectionError removes text written by the receiver from an error: net/http quotes
// malformed responses, and crypto/x509 the names of certificates.
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
			ErrConnection, &cause{text: "host not found", err: dns})
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
		return fmt.Errorf("%w: the response is not valid HTTP or has too large headers",
			ErrConnection)
	}
}

// certificateText describes a certificate error without quoting the certificate.
func certificateText(err error) string {
	var (
		name      x509.HostnameError
		authority x509.UnknownAuthorityError
		invalid   x509.CertificateInvalidError
	)
	switch {
	case errors.As(err, &name):
		return "the certificate is for another host"
	case errors.As(err, &authority):
		return "the certificate is signed by an unknown authority"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "the certificate is expired or not valid yet"
	default:
		return "the certificate is not valid"
	}
}

// cause replaces the text of an error. errors.As still finds the error.
type cause struct {
	text string
	err  error
}

func (c *cause) Error() string { return c.text }

func (c *cause) Unwrap() error { return c.err }
