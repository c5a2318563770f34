package xapi

import (
	"slices"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xbase"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xbind"
	"github.com/plinthgo/plinth/core/major/xmiddle"
)

// Option configures a route or the routes of a Group. Nil options are skipped.
type Option func(*config)

type config struct {
	id, summary, description string
	status                   int
	message                  string
	errors                   []*xerror.ErrorCode
	tags, security           []string
	deprecated, hidden       bool
	profile                  *xbase.Profile
	bind                     []xbind.Option
	middleware               []gin.HandlerFunc
}

// configOf returns a copy of the options of a router.
func configOf(r gin.IRouter) config {
	g, ok := r.(*Router)
	if !ok {
		return config{}
	}
	c := g.config
	c.errors, c.tags = slices.Clone(c.errors), slices.Clone(c.tags)
	c.security, c.bind = slices.Clone(c.security), slices.Clone(c.bind)
	return c
}

func (c *config) apply(opts []Option) {
	for _, o := range opts {
		if o != nil {
			o(c)
		}
	}
}

// Status sets the status of a success, from 200 to 299. The default is 200. Results of
// the types Empty, iter.Seq2 and *Download have their own status.
func Status(status int) Option { return func(c *config) { c.status = status } }

// Message sets the message in the envelope of a success. The default is the text of the
// status, such as "OK".
func Message(message string) Option { return func(c *config) { c.message = message } }

// Errors documents error codes that the handler returns. It does not restrict them.
func Errors(codes ...*xerror.ErrorCode) Option {
	return func(c *config) { c.errors = append(c.errors, codes...) }
}

// ID sets the operation ID. The default is the name of the function, such as createUser.
// For a method it is the name of the method and that of the type.
func ID(id string) Option { return func(c *config) { c.id = id } }

// Tag adds tags, by which documents group operations.
func Tag(names ...string) Option {
	return func(c *config) { c.tags = append(c.tags, names...) }
}

// Summary sets the title of the operation. The default is the first sentence of the doc
// comment of the handler, if the generator of the document has it.
func Summary(text string) Option { return func(c *config) { c.summary = text } }

// Description sets the description of the operation in Markdown. The default is the doc
// comment of the handler, if the generator of the document has it.
func Description(text string) Option { return func(c *config) { c.description = text } }

// Deprecated marks the operation as deprecated.
func Deprecated() Option { return func(c *config) { c.deprecated = true } }

// Security names the security schemes of which a client must use one. It documents the
// scheme; a middleware checks the credentials.
func Security(schemes ...string) Option {
	return func(c *config) { c.security = append(c.security, schemes...) }
}

// Hidden excludes the route from documents.
func Hidden() Option { return func(c *config) { c.hidden = true } }

// Profile sets the profile of the envelope.
func Profile(p xbase.Profile) Option {
	return func(c *config) {
		c.profile, c.middleware = &p, append(c.middleware, xmiddle.UseProfile(p))
	}
}

// Use adds middleware that runs before the handler.
func Use(middleware ...gin.HandlerFunc) Option {
	return func(c *config) { c.middleware = append(c.middleware, middleware...) }
}

// Bind changes the strictness of the binding, for example with xbind.WithMaxBytes.
func Bind(opts ...xbind.Option) Option {
	return func(c *config) { c.bind = append(c.bind, opts...) }
}
