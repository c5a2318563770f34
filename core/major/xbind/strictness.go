package xbind

import "github.com/gin-gonic/gin"

// Strictness configures which bodies are rejected. The zero value is the default.
//
// By default a JSON body is rejected if it contains duplicate names, data after the
// value, invalid UTF-8, unpaired surrogates or more than 100 levels of nesting, or if its
// content type is not JSON. Parsers interpret such bodies differently. Unknown fields are
// allowed, as in gin and encoding/json, because a client may be newer than the service.
type Strictness struct {
	// DisallowUnknownFields rejects members that match no field of the struct.
	DisallowUnknownFields bool
	// AllowDuplicateKeys uses the last of several members with the same name. For a
	// struct, all names that match one field are the same name, even if they differ in
	// case.
	AllowDuplicateKeys bool
	// AllowTrailingData ignores data after the JSON value.
	AllowTrailingData bool
	// AllowAnyContentType treats every body as JSON, whatever its headers are.
	AllowAnyContentType bool
	// MaxBytes limits the size of the body. If it is 0, only the limit of the server
	// applies (PLINTH_MAX_BODY_BYTES).
	MaxBytes int64
	// MaxFileBytes limits the size of each file of a form. If it is 0, only the limit of
	// the body applies.
	MaxFileBytes int64
}

// Option changes the Strictness of one call of Bind.
type Option func(*Strictness)

// WithStrictness replaces the Strictness.
func WithStrictness(strictness Strictness) Option {
	return func(s *Strictness) { *s = strictness }
}

// WithMaxBytes limits the size of the body.
func WithMaxBytes(n int64) Option {
	return func(s *Strictness) { s.MaxBytes = n }
}

// WithMaxFileBytes limits the size of each file of a form.
func WithMaxFileBytes(n int64) Option {
	return func(s *Strictness) { s.MaxFileBytes = n }
}

// DisallowUnknownFields rejects members that match no field of the struct.
func DisallowUnknownFields() Option {
	return func(s *Strictness) { s.DisallowUnknownFields = true }
}

// AllowUnknownFields ignores members that match no field of the struct.
func AllowUnknownFields() Option {
	return func(s *Strictness) { s.DisallowUnknownFields = false }
}

type strictnessKey struct{}

// Use returns middleware that sets the Strictness for the handlers after it. It can be
// used on an engine, a group or a route. The innermost Use has priority.
//
//	engine.Use(xbind.Use(xbind.Strictness{DisallowUnknownFields: true}))
func Use(s Strictness) gin.HandlerFunc {
	return func(c *gin.Context) { c.Set(strictnessKey{}, s) }
}

func strictnessOf(c *gin.Context, opts []Option) Strictness {
	set, _ := c.Get(strictnessKey{})
	s, _ := set.(Strictness)
	if len(opts) == 0 {
		return s
	}
	changed := s // a separate variable, so that s does not escape to the heap
	for _, option := range opts {
		option(&changed)
	}
	return changed
}
