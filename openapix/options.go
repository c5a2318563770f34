package openapix

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"runtime/debug"
	"strings"

	"github.com/plinthgo/plinth/core/common/xbase"
	"github.com/plinthgo/plinth/core/defined/xenv"
)

// Option configures a document. Nil options are skipped.
type Option func(*config)

type config struct {
	title, version, description string
	servers                     []string
	path, reference             string
	profile                     xbase.Profile
	inspected                   bool
	tags                        []tag
	schemes                     map[string]SecurityScheme
	comments                    map[string]string
	docs                        docs
	err                         error // errors of the options
}

func newConfig(opts []Option) *config {
	c := &config{
		path: "/openapi.json", schemes: map[string]SecurityScheme{}, comments: map[string]string{},
	}
	// an invalid value fails the start of the application
	c.profile, _ = xbase.ParseProfile(xenv.GetEnvString(envelopeKey, "plinth"))
	for _, o := range opts {
		if o != nil {
			o(c)
		}
	}
	return c
}

func (c *config) fail(err error) { c.err = errors.Join(c.err, err) }

// WithTitle sets the title of the API. The default is the name of the application (see
// xenv.ApplicationName).
func WithTitle(title string) Option { return func(c *config) { c.title = title } }

// WithVersion sets the version of the API. The default is APP_VERSION, and then the
// version of the program in its build info.
func WithVersion(version string) Option { return func(c *config) { c.version = version } }

// WithDescription sets the description of the API in Markdown.
func WithDescription(text string) Option { return func(c *config) { c.description = text } }

// WithServerURL adds a URL of the API. The default is the server of the document.
func WithServerURL(url string) Option {
	return func(c *config) { c.servers = append(c.servers, url) }
}

type tag struct{ name, description string }

// WithTag describes a tag. The document lists the described tags first, in the order of
// the options.
func WithTag(name, description string) Option {
	return func(c *config) { c.tags = append(c.tags, tag{name, description}) }
}

// WithPath sets the path at which Serve serves the document. The default is
// /openapi.json.
func WithPath(route string) Option {
	return func(c *config) {
		if !path.IsAbs(route) || strings.ContainsAny(route, ":*") {
			c.fail(fmt.Errorf("openapix: WithPath: %q is not a plain absolute path", route))
			return
		}
		c.path = route
	}
}

// WithReference serves a reference page of the document at path, such as /reference. The
// page works offline. It searches operations and sends requests to them.
func WithReference(route string) Option {
	return func(c *config) {
		if !path.IsAbs(route) || route == "/" || strings.ContainsAny(route, ":*") {
			c.fail(fmt.Errorf("openapix: WithReference: %q is not a plain absolute path", route))
			return
		}
		c.reference = route
	}
}

// WithProfile sets the profile of the envelope for routes without xapi.Profile. The
// default is PLINTH_ENVELOPE. An application with xoption.WithProfile needs it.
func WithProfile(p xbase.Profile) Option { return func(c *config) { c.profile = p } }

// WithSecurityScheme adds a security scheme. Routes refer to its name with xapi.Security.
func WithSecurityScheme(name string, s SecurityScheme) Option {
	return func(c *config) { c.schemes[name] = s }
}

// WithDescriptions uses the summaries, descriptions and deprecations of document, which
// is the output of an earlier run with comments, if the routes and types of this run have
// none. A service embeds its committed document, because its binary does not contain doc
// comments:
//
//	//go:embed openapi.json
//	var document []byte
//
// Operations are matched by ID, parameters by operation and name, and schemas by
// component and property.
func WithDescriptions(document []byte) Option {
	return func(c *config) {
		t, err := parseDocs(document)
		if err != nil {
			c.fail(fmt.Errorf("openapix: WithDescriptions: %w", err))
			return
		}
		c.docs = t
	}
}

// WithComments adds Go doc comments by qualified name: path.Func, path.(*Type).Method,
// path.Type.Method, path.Type and path.Type.Field. path is the import path of the
// package, and main for the package of the program.
//
// The first sentence of a function is the summary of its operation, and the rest is the
// description. A paragraph that starts with "Deprecated:" marks an operation, a type or a
// field as deprecated. The command plinth openapi reads the comments from source code.
func WithComments(comments map[string]string) Option {
	return func(c *config) { maps.Copy(c.comments, comments) }
}

// readComments adds the comments of a JSON file.
func (c *config) readComments(name string) error {
	data, err := os.ReadFile(name) //nolint:gosec // a file of the developer
	if err != nil {
		return fmt.Errorf("openapix: read the comments: %w", err)
	}
	if err := json.Unmarshal(data, &c.comments); err != nil {
		return fmt.Errorf("openapix: decode %s: %w", commentsKey, err)
	}
	return nil
}

// applicationVersion returns APP_VERSION, the version in the build info, or "dev". It
// ignores the build info for the command, because it differs between commits.
func (c *config) applicationVersion() string {
	if version, set := xenv.GetEnv(xenv.AppVersion); set {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && !c.inspected &&
		strings.HasPrefix(info.Main.Version, "v") {
		return info.Main.Version
	}
	return "dev"
}
