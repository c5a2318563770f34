package xbind

import (
	"sync/atomic"

	"github.com/gin-gonic/gin"
)

// Strictness says which JSON bodies are refused. The zero value is the default.
//
// It refuses what no honest client sends and what two readers may understand differently: names that
// occur twice, data after the value, text that is not UTF-8, more than 100 levels of objects and lists, a
// content type that is not JSON. Unknown fields pass, as with gin and encoding/json: a client may be newer
// than the service.
type Strictness struct {
	// DisallowUnknownFields refuses members that no field of the struct takes.
	DisallowUnknownFields bool
	// AllowDuplicateKeys lets the last of several members with one name win. For a struct, names that
	// reach the same field are the same, also where they differ in case.
	AllowDuplicateKeys bool
	// AllowTrailingData ignores what follows the JSON value.
	AllowTrailingData bool
	// AllowAnyContentType takes the body for JSON whatever its headers say.
	AllowAnyContentType bool
	// MaxBytes bounds the body. At 0 the limit of the server stands alone (PLINTH_MAX_BODY_BYTES).
	MaxBytes int64
	// MaxFileBytes bounds each file of a form. At 0 the limit of the whole body stands alone.
	MaxFileBytes int64
}

// Option changes the strictness of one call.
type Option func(*Strictness)

// WithStrictness replaces the whole strictness.
func WithStrictness(s Strictness) Option { return func(to *Strictness) { *to = s } }

// WithMaxBytes bounds the body.
func WithMaxBytes(n int64) Option { return func(to *Strictness) { to.MaxBytes = n } }

// DisallowUnknownFields refuses members that no field of the struct takes.
func DisallowUnknownFields() Option {
	return func(to *Strictness) { to.DisallowUnknownFields = true }
}

// strictnessKey finds what Use has set in a gin context.
type strictnessKey struct{}

// inUse spares programs without Use the look into the context.
var inUse atomic.Bool

// WithMaxFileBytes bounds each file of a form.
func WithMaxFileBytes(n int64) Option { return func(to *Strictness) { to.MaxFileBytes = n } }

// Use sets the strictness of an engine, a group or a route: whatever is bound behind it. The innermost
// wins.
//
//	engine.Use(xbind.Use(xbind.Strictness{DisallowUnknownFields: true}))
func Use(s Strictness) gin.HandlerFunc {
	inUse.Store(true)
	return func(c *gin.Context) { c.Set(strictnessKey{}, s) }
}

func strictnessOf(c *gin.Context, opts []Option) Strictness {
	if len(opts) == 0 && !inUse.Load() {
		return Strictness{}
	}
	return customStrictness(c, opts)
}

func customStrictness(c *gin.Context, opts []Option) Strictness {
	var s Strictness
	if v, ok := c.Get(strictnessKey{}); ok {
		s, _ = v.(Strictness)
	}
	if len(opts) == 0 {
		return s
	}
	changed := s // the options make this one escape
	for _, o := range opts {
		o(&changed)
	}
	return changed
}
