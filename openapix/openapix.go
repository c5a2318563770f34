// Package openapix generates the OpenAPI 3.1 document of a service from its typed routes
// (package xapi), and serves it.
//
//	xreg.Register(ctx, nodes,
//		xoption.WithRoute(route.Register),
//		openapix.Serve(openapix.WithSecurityScheme("bearer", openapix.Bearer("JWT"))),
//	)
//
// The document contains the routes of package xapi that are not hidden. The schemas
// follow the rules of encoding/json and the binding tags. Rules without an exact keyword
// are in the extension x-binding. Each error code of a route is an example with its
// messages, and the extension x-error-catalogue lists all of them.
package openapix

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xhook"
	"github.com/plinthgo/plinth/core/major/xhttp"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/openapix/internal/page"
)

// Document returns the document of the typed routes of engine as indented JSON. The same
// routes and options result in the same bytes. The error joins all problems.
func Document(engine *gin.Engine, opts ...Option) ([]byte, error) {
	return newConfig(opts).document(engine)
}

// Serve serves the document at GET /openapi.json. The document is generated once, when
// the application starts and all routes are registered. If it cannot be generated, the
// start fails.
//
// If PLINTH_OPENAPI_OUTPUT is set, the application writes the document to that file and
// exits. It opens neither the database nor any other component.
func Serve(opts ...Option) xoption.Option {
	c := newConfig(opts)
	return xoption.WithOptions(c.inspect(), xoption.WithRoute(
		func(ctx context.Context, engine *gin.Engine) {
			s := &server{}
			s.load = sync.OnceValue(func() error { return s.generate(c, engine) })
			engine.GET(c.path, s.serve)
			if c.reference != "" {
				engine.GET(c.reference, s.serveReference)
				engine.GET(c.reference+"/*path", s.serveReference)
			}
			xhook.OnStart(ctx, "openapix", func(context.Context) error { return s.load() })
		}))
}

// documentMode is the mode of a new file: the document is public.
const documentMode = 0o644

// server serves a document from memory.
type server struct {
	load func() error
	text []byte
	etag string
	page *page.Page // nil without a reference page
}

func (s *server) generate(c *config, engine *gin.Engine) (err error) {
	if s.text, err = c.document(engine); err != nil {
		return err
	}
	sum := sha256.Sum256(s.text)
	s.etag = `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
	if c.reference != "" {
		s.page, err = page.New(s.text, page.Options{Base: c.reference, DocumentURL: c.path})
	}
	return err
}

// isLoaded reports whether the document exists. Otherwise it reports the error, which is
// possible only without a start hook.
func (s *server) isLoaded(c *gin.Context) bool {
	if err := s.load(); err != nil {
		_ = c.Error(xerror.Wrap(xerror.DeveloperError, "", err))
		return false
	}
	return true
}

func (s *server) serveReference(c *gin.Context) {
	if s.isLoaded(c) {
		s.page.ServeHTTP(c.Writer, c.Request)
	}
}

func (s *server) serve(c *gin.Context) {
	if !s.isLoaded(c) {
		return
	}
	h := c.Writer.Header()
	xhttp.ContentType.Set(h, "application/json")
	xhttp.XContentTypeOptions.Set(h, "nosniff")
	xhttp.CacheControl.Set(h, "no-cache")
	xhttp.ETag.Set(h, s.etag)
	http.ServeContent(c.Writer, c.Request, "", time.Time{}, bytes.NewReader(s.text))
}

// inspect returns the option of the command: it writes the document to a file instead of
// starting the application. It returns nil without the variable of the file.
func (c *config) inspect() xoption.Option {
	output := xenv.GetEnvString(outputKey, "")
	if output == "" {
		return nil
	}
	return xoption.WithInspect(func(engine *gin.Engine) error {
		if comments := xenv.GetEnvString(commentsKey, ""); comments != "" {
			if err := c.readComments(comments); err != nil {
				return err
			}
			c.docs = docs{} // otherwise deleted comments would remain
		}
		c.inspected = true
		text, err := c.document(engine)
		if err != nil {
			return err
		}
		if err := os.WriteFile(output, text, documentMode); err != nil {
			return fmt.Errorf("openapix: write the document: %w", err)
		}
		return nil
	})
}
