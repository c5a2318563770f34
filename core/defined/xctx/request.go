package xctx

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"time"
	"unsafe"
)

// idLen is the length of a UUID in its dashed text form (RFC 9562, section 4).
const idLen = 36

// Request is the context of one request: its id, its start and what the access log needs
// to know of its end. It is allocated once for each request and never reused, because a
// context may outlive its request.
//
// Begin, GenerateID and the setters belong to the goroutine that serves the request. What
// they set before the handler runs may be read from any goroutine; Fail is read by the
// access log only, on the same goroutine.
type Request struct {
	parent context.Context
	base   context.Context // the application, asked after parent

	buf       [idLen]byte
	profile   uint8
	debug     bool
	reported  bool
	accessLog bool

	header         [1]string // the id
	start          time.Time
	acceptLanguage string

	errorCode    int
	errorMessage string
}

// requestKey finds the Request in a chain of contexts.
type requestKey struct{}

// NewRequest returns the context of a request that starts now, without an id.
//
// Cancellation and deadline are parent's. Values are looked up in the request itself, in
// parent, and then in base, the context of the application, which may be nil.
func NewRequest(parent, base context.Context) *Request {
	r := new(Request)
	r.Begin(parent, base)
	return r
}

// Begin is NewRequest for a Request that is part of a larger allocation. It is called
// once, on the zero value; a Request must not be copied.
func (r *Request) Begin(parent, base context.Context) {
	r.parent, r.base, r.start = parent, base, time.Now()
}

// RequestFrom returns the request that ctx belongs to, or nil.
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

// RequestID returns the id of the request that ctx belongs to, or "".
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

// SetBase gives the request the context of the application, as Begin does, for a server
// whose interceptors learn of it only after the request has begun.
func (r *Request) SetBase(base context.Context) { r.base = base }

// ID returns the request id, or "" where the request has none.
func (r *Request) ID() string { return r.header[0] }

// SetID sets the request id. The caller has validated it.
func (r *Request) SetID(id string) { r.header[0] = id }

// maxIDLen is the length up to which a client's request id is taken.
const maxIDLen = 64

// ValidID reports whether a request id that a client sent may be taken: 1 to 64
// characters of [A-Za-z0-9._-], which can forge neither a header nor a line of a log.
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

// GenerateID gives the request a random UUID, version 4. It is called once. The id is no
// secret. Its text is part of the request: TestRequestAllocatesOnce fails with
// string(r.buf[:]).
func (r *Request) GenerateID() {
	putUUID(&r.buf, rand.Uint64(), rand.Uint64())
	r.SetID(unsafe.String(&r.buf[0], idLen)) //nolint:gosec // buf lives as long as r and is written once
}

// HeaderValue returns the id as the value of a response header. The caller must not
// change it.
func (r *Request) HeaderValue() []string { return r.header[:] }

// Start returns the time at which the request began.
func (r *Request) Start() time.Time { return r.start }

// AcceptLanguage returns the request's Accept-Language header as it was sent.
func (r *Request) AcceptLanguage() string { return r.acceptLanguage }

// SetAcceptLanguage keeps the request's Accept-Language header.
func (r *Request) SetAcceptLanguage(header string) { r.acceptLanguage = header }

// Profile returns the number of the envelope profile that answers the request.
func (r *Request) Profile() uint8 { return r.profile }

// SetProfile sets the number of the envelope profile that answers the request.
func (r *Request) SetProfile(p uint8) { r.profile = p }

// Debug reports whether the application that serves the request is in debug mode.
func (r *Request) Debug() bool { return r.debug }

// SetDebug says whether the application is in debug mode.
func (r *Request) SetDebug(on bool) { r.debug = on }

// Fail records the error that answers the request, for the access log.
func (r *Request) Fail(code int, message string) { r.errorCode, r.errorMessage = code, message }

// SetAccessLog records that the request will have a line in the access log.
func (r *Request) SetAccessLog() { r.accessLog = true }

// HasAccessLog reports whether SetAccessLog was called.
func (r *Request) HasAccessLog() bool { return r.accessLog }

// Report records that the failure of the request has a line of its own in the log, so
// that others about it are not at ERROR.
func (r *Request) Report() { r.reported = true }

// Reported reports whether Report was called.
func (r *Request) Reported() bool { return r.reported }

// Failure returns what Fail recorded; code is 0 where the request did not fail.
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
		if v, ok := r.own(k); ok {
			return v
		}
	}
	if v := r.parent.Value(key); v != nil || r.base == nil {
		return v
	}
	return r.base.Value(key)
}

// own returns the value of a key that the request itself answers.
func (r *Request) own(k ContextKey) (any, bool) {
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
// lo. With package hex an id takes half as long again, which is 1 % of a request
// (BenchmarkGenerateID).
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

// hexDigits returns the eight digits of the lower half of x, the first in the highest
// byte. Each step halves the groups of bits and doubles the room between them.
func hexDigits(x uint64) uint64 {
	const ones = 0x0101010101010101
	x &= 0xffffffff
	x = (x | x<<16) & 0x0000ffff0000ffff
	x = (x | x<<8) & 0x00ff00ff00ff00ff
	x = (x | x<<4) & 0x0f0f0f0f0f0f0f0f
	letters := (x + 6*ones) >> 4 & ones // 1 where the digit is over 9
	return x + '0'*ones + letters*('a'-'0'-10)
}
