package docs

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/plinthgo/plinth/docs/internal/guard"
)

// Option changes what New makes.
type Option func(*config)

type config struct {
	content fs.FS
	folder  string
	baseURL string
	editURL string
	origins []string

	problems []error
}

// editURL is where this project's pages can be edited.
const editURL = "https://github.com/plinthgo/plinth/edit/main/docs/content/"

func newConfig(opts []Option) (*config, error) {
	c := &config{content: Content(), editURL: editURL}
	for _, opt := range opts {
		if opt != nil {
			opt(c)
		}
	}
	return c, errors.Join(c.problems...)
}

func (c *config) problem(format string, args ...any) {
	c.problems = append(c.problems, fmt.Errorf("docs: "+format, args...))
}

// WithContent shows other content than the embedded one: a folder a sector, in the form
// that the page of this package describes.
func WithContent(content fs.FS) Option {
	return func(c *config) {
		if content == nil {
			c.problem("WithContent: the content is nil")
			return
		}
		c.content, c.folder = content, ""
	}
}

// WithFolder shows the content of a folder: its regular files, and none that lies
// outside. Watch then sees its changes.
func WithFolder(dir string) Option {
	return func(c *config) {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			c.problem("WithFolder: %q is not a folder", dir)
			return
		}
		c.content, c.folder = folder(dir), dir
	}
}

// WithBaseURL says where the site is reached, such as https://docs.example.org: for the
// addresses in results of the tools and in llms.txt, the site map and canonical links.
// Without it the tools and llms.txt give addresses that begin with /docs, and there is no
// site map and no canonical link. Behind a proxy that keeps the Host header it also tells
// the protocol's endpoint its own name.
func WithBaseURL(base string) Option {
	return func(c *config) {
		scheme, host, _ := strings.Cut(strings.TrimSuffix(base, "/"), "://")
		if scheme != "http" && scheme != "https" || !isAuthority(host) {
			c.problem("WithBaseURL: want http(s)://HOST[:PORT] and nothing more, HOST of letters, digits, - and . or [IPv6]")
			return
		}
		c.baseURL = scheme + "://" + host
	}
}

// authority is a name or an IPv4 address, or an IPv6 address in brackets, and a port if
// any. It stands in pages and in headers as it is, so it has no character that means
// something there.
var authority = regexp.MustCompile(
	`^(?:[A-Za-z0-9][A-Za-z0-9.-]*|\[([0-9A-Fa-f:.]+)\])(?::([0-9]+))?$`)

func isAuthority(s string) bool {
	m := authority.FindStringSubmatch(s)
	if m == nil {
		return false
	}
	if ip, err := netip.ParseAddr(m[1]); m[1] != "" && (err != nil || !ip.Is6()) {
		return false
	}
	port, err := strconv.ParseUint(m[2], 10, 16)
	return m[2] == "" || err == nil && port > 0
}

// WithOrigins allows scripts of other origins, such as https://inspector.example.org, to
// call the endpoint of the protocol. The site's own origin is allowed in any case.
func WithOrigins(origins ...string) Option {
	return func(c *config) {
		c.origins = append(c.origins, origins...)
		if err := (guard.Config{Origins: origins}).Validate(); err != nil {
			c.problem("WithOrigins: %w", err)
		}
	}
}

// WithEditURL is the address before a page's file in the link to its source; empty shows
// no link.
func WithEditURL(prefix string) Option {
	return func(c *config) { c.editURL = prefix }
}

// A folder is the file system of a folder by its name, which may come and go. Links that
// lead out of it are not followed.
type folder string

// Open implements fs.FS.
func (f folder) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	return os.OpenInRoot(string(f), name)
}
