package xbind

import "github.com/gin-gonic/gin"

// Strictness says which JSON bodies are refused. The zero value is the default.
//
// It refuses what no honest client sends and what two readers may understand differently:
// names that occur twice, data after the value, text that is not UTF-8 or has half of a
// surrogate pair, more than 100 levels of objects and lists, a content type that is not
// JSON. Unknown fields pass, as with gin and encoding/json: a client may be newer than
// the service.
type Strictness struct {
	// DisallowUnknownFields refuses members that no field of the struct takes.
	DisallowUnknownFields bool
	// AllowDuplicateKeys lets the last of several members with one name win. For a
	// struct, names that reach the same field are the same, also where they differ in
	// case.
	AllowDuplicateKeys bool
	// AllowTrailingData ignores what follows the JSON value.
	AllowTrailingData bool
	// AllowAnyContentType takes the body for JSON whatever its headers say.
	AllowAnyContentType bool
	// MaxBytes bounds the body. At 0 the limit of the server stands alone
	// (PLINTH_MAX_BODY_BYTES).
	MaxBytes int64
	// MaxFileBytes bounds each file of a form. At 0 the limit of the whole body stands
	// alone.
	MaxFileBytes int64
}

// Option changes the strictness of one call.
type Option func(*Strictness)

// WithStrictness replaces the whole strictness.
func WithStrictness(strictness Strictness) Option {
	return func(s *Strictness) { *s = strictness }
}

// WithMaxBytes bounds the body.
func WithMaxBytes(n int64) Option {
	return func(s *Strictness) { s.MaxBytes = n }
}

// WithMaxFileBytes bounds each file of a form.
func WithMaxFileBytes(n int64) Option {
	return func(s *Strictness) { s.MaxFileBytes = n }
}

// DisallowUnknownFields refuses members that no field of the struct takes.
func DisallowUnknownFields() Option {
	return func(s *Strictness) { s.DisallowUnknownFields = true }
}

// AllowUnknownFields ignores members that no field of the struct takes.
func AllowUnknownFields() Option {
	return func(s *Strictness) { s.DisallowUnknownFields = false }
}

// strictnessKey finds what Use has set in a gin context.
type strictnessKey struct{}

// Use sets the strictness of an engine, a group or a route: whatever is bound behind it.
// The innermost wins.
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
	changed := s // a variable of its own: options let it escape
	for _, option := range opts {
		option(&changed)
	}
	return changed
}
