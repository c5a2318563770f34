package xctx

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"time"
	"unsafe"
)

// idLen is the length of a UUID with dashes (RFC 9562, section 4).
const idLen = 36

// Request is the context of one request: its ID, its start time and the result that the
// access log records. It is allocated once for each request and never reused, because a
// context may outlive its request.
//
// Only the goroutine that serves the request may call Begin, GenerateID, Fail and the
// setters, or read the values of Fail. Any goroutine may read the values that were set
// before the handler runs.
type Request struct {
	parent context.Context
	base   context.Context // the application's context, searched after parent

	buf       [idLen]byte
	profile   uint8
	debug     bool
	reported  bool
	accessLog bool

	header         [1]string // the request ID
	start          time.Time
	acceptLanguage string

	errorCode    int
	errorMessage string
}

type requestKey struct{}

// NewRequest returns the context of a request that starts now and has no ID.
//
// Cancellation and deadline are those of parent. Value searches the request, then parent,
// then base, the application's context. base may be nil.
func NewRequest(parent, base context.Context) *Request {
	r := new(Request)
	r.Begin(parent, base)
	return r
}

// Begin initializes a Request like NewRequest, for a Request that is part of a larger
// allocation. It must be called once, on the zero value. A Request must not be copied.
func (r *Request) Begin(parent, base context.Context) {
	r.parent, r.base, r.start = parent, base, time.Now()
}

// RequestFrom returns the request in ctx, or nil.
func RequestFrom(ctx context.Context) *Request {
	if ctx == nil {
		return nil
	}
	if r, ok := ctx.(*Request); ok {
		return r
	}
	r, _ := ctx.Value(requestKey{}).(*Request)
	return r
}

// RequestID returns the ID of the request in ctx, or "".
func RequestID(ctx context.Context) string {
	if r := RequestFrom(ctx); r != nil && r.ID() != "" {
		return r.ID()
	}
	if ctx == nil {
		return ""
	}
	id, _ := ctx.Value(RequestKey).(string)
	return id
}

// SetBase sets the application's context after Begin, for servers whose interceptors
// receive it later.
func (r *Request) SetBase(base context.Context) { r.base = base }

// ID returns the request ID, or "" if it is not set.
func (r *Request) ID() string { return r.header[0] }

// SetID sets the request ID. The caller must validate id first.
func (r *Request) SetID(id string) { r.header[0] = id }

const maxIDLen = 64

// ValidID reports whether a request ID from a client is acceptable: 1 to 64 characters of
// [A-Za-z0-9._-]. Such an ID cannot inject headers or log lines.
func ValidID(id string) bool {
	if len(id) == 0 || len(id) > maxIDLen {
		return false
	}
	for i := range len(id) {
		switch b := id[i]; {
		case 'a' <= b && b <= 'z', 'A' <= b && b <= 'Z', '0' <= b && b <= '9', b == '.', b == '_',
			b == '-':
		default:
			return false
		}
	}
	return true
}

// GenerateID sets the request ID to a random version 4 UUID. It must be called once. Do
// not use the ID as a secret. The string shares the memory of the request, which saves an
// allocation (TestRequest_GenerateID).
func (r *Request) GenerateID() {
	putUUID(&r.buf, rand.Uint64(), rand.Uint64())
	id := unsafe.String(&r.buf[0], idLen) //nolint:gosec // buf outlives id and is written once
	r.SetID(id)
}

// HeaderValue returns the ID as the value of a response header. The caller must not
// modify it.
func (r *Request) HeaderValue() []string { return r.header[:] }

// Start returns the start time of the request.
func (r *Request) Start() time.Time { return r.start }

// AcceptLanguage returns the unparsed Accept-Language header of the request.
func (r *Request) AcceptLanguage() string { return r.acceptLanguage }

// SetAcceptLanguage sets the Accept-Language header of the request.
func (r *Request) SetAcceptLanguage(header string) { r.acceptLanguage = header }

// Profile returns the number of the profile that encodes the response envelope.
func (r *Request) Profile() uint8 { return r.profile }

// SetProfile sets the number of the profile that encodes the response envelope.
func (r *Request) SetProfile(p uint8) { r.profile = p }

// Debug reports whether the application that serves the request is in debug mode.
func (r *Request) Debug() bool { return r.debug }

// SetDebug sets whether the application is in debug mode.
func (r *Request) SetDebug(on bool) { r.debug = on }

// Fail records the code and message of the error response for the access log.
func (r *Request) Fail(code int, message string) { r.errorCode, r.errorMessage = code, message }

// SetAccessLog records that the access log will contain the request.
func (r *Request) SetAccessLog() { r.accessLog = true }

// HasAccessLog reports whether SetAccessLog was called.
func (r *Request) HasAccessLog() bool { return r.accessLog }

// Report records that the request's failure was logged, so that further log lines about
// it use a level below ERROR.
func (r *Request) Report() { r.reported = true }

// Reported reports whether Report was called.
func (r *Request) Reported() bool { return r.reported }

// Failure returns the values that Fail recorded. code is 0 if the request did not fail.
func (r *Request) Failure() (code int, message string) { return r.errorCode, r.errorMessage }

// Deadline implements context.Context.
func (r *Request) Deadline() (time.Time, bool) { return r.parent.Deadline() }

// Done implements context.Context.
func (r *Request) Done() <-chan struct{} { return r.parent.Done() }

// Err implements context.Context.
func (r *Request) Err() error { return r.parent.Err() }

// Value implements context.Context. A nil Request has no values.
func (r *Request) Value(key any) any {
	if r == nil {
		return nil
	}
	switch k := key.(type) {
	case requestKey:
		return r
	case ContextKey:
		if v, ok := r.ownValue(k); ok {
			return v
		}
	}
	if v := r.parent.Value(key); v != nil || r.base == nil {
		return v
	}
	return r.base.Value(key)
}

func (r *Request) ownValue(k ContextKey) (any, bool) {
	switch k {
	case RequestKey:
		return r.ID(), r.ID() != ""
	case UserStartTimeKey:
		return r.start, true
	case ErrorCodeKey:
		return r.errorCode, r.errorCode != 0
	case ErrorMessageKey:
		return r.errorMessage, r.errorMessage != ""
	default:
		return nil, false
	}
}

// putUUID writes a version 4 UUID (RFC 9562, section 5.4) made of the 128 bits of hi and
// lo. Package hex needs 50 % more time, which is 1 % of a request (BenchmarkGenerateID).
func putUUID(dst *[idLen]byte, hi, lo uint64) {
	hi = hi&^0xf000 | 0x4000       // version
	lo = lo&^(0b11<<62) | 0b10<<62 // variant
	var text [32]byte
	binary.BigEndian.PutUint64(text[0:], hexDigits(hi>>32))
	binary.BigEndian.PutUint64(text[8:], hexDigits(hi))
	binary.BigEndian.PutUint64(text[16:], hexDigits(lo>>32))
	binary.BigEndian.PutUint64(text[24:], hexDigits(lo))
	copy(dst[0:8], text[0:8])
	copy(dst[9:13], text[8:12])
	copy(dst[14:18], text[12:16])
	copy(dst[19:23], text[16:20])
	copy(dst[24:36], text[20:32])
	dst[8], dst[13], dst[18], dst[23] = '-', '-', '-', '-'
}

// hexDigits returns the eight hexadecimal digits of the lower half of x, the first in the
// most significant byte. Each step halves the groups of bits and doubles the gaps between
// them.
func hexDigits(x uint64) uint64 {
	const ones = 0x0101010101010101
	x &= 0xffffffff
	x = (x | x<<16) & 0x0000ffff0000ffff
	x = (x | x<<8) & 0x00ff00ff00ff00ff
	x = (x | x<<4) & 0x0f0f0f0f0f0f0f0f
	letters := (x + 6*ones) >> 4 & ones // 1 if the digit is over 9
	return x + '0'*ones + letters*('a'-'0'-10)
}
