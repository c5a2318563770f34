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

// Option configures New.
type Option func(*config)

type config struct {
	content fs.FS
	folder  string
	baseURL string
	editURL string
	origins []string

	problems []error
}

// editURL is the default prefix of edit links.
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

// WithContent replaces the embedded content. It has one directory for each sector.
func WithContent(content fs.FS) Option {
	return func(c *config) {
		if content == nil {
			c.problem("WithContent: the content is nil")
			return
		}
		c.content, c.folder = content, ""
	}
}

// WithFolder replaces the embedded content by the regular files of a directory. It does
// not follow links out of the directory. Watch reloads the directory.
func WithFolder(dir string) Option {
	return func(c *config) {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			c.problem("WithFolder: %q is not a directory", dir)
			return
		}
		c.content, c.folder = folder(dir), dir
	}
}

// WithBaseURL sets the public address of the site, such as https://docs.example.org, for
// links of the tools and of llms.txt, the sitemap and canonical links. Without it, links
// of the tools and of llms.txt start with /docs, and there are no sitemap and no
// canonical links. Behind a proxy that preserves the Host header, it is also required for
// the protocol endpoint to accept the public name.
func WithBaseURL(base string) Option {
	return func(c *config) {
		scheme, host, _ := strings.Cut(strings.TrimSuffix(base, "/"), "://")
		if scheme != "http" && scheme != "https" || !isAuthority(host) {
			c.problem("WithBaseURL: want http(s)://HOST[:PORT]; HOST is a name, an IPv4 address or an [IPv6 address]")
			return
		}
		c.baseURL = scheme + "://" + host
	}
}

// authority matches a name or an IPv4 address, or an IPv6 address in brackets, with an
// optional port. Pages and headers contain it unescaped, so it allows no special
// characters.
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
// call the protocol endpoint. The origin of the site is always allowed.
func WithOrigins(origins ...string) Option {
	return func(c *config) {
		c.origins = append(c.origins, origins...)
		if err := (guard.Config{Origins: origins}).Validate(); err != nil {
			c.problem("WithOrigins: %w", err)
		}
	}
}

// WithEditURL sets the prefix of edit links; the file name of the page follows. Without a
// prefix, pages have no edit link.
func WithEditURL(prefix string) Option {
	return func(c *config) { c.editURL = prefix }
}

// A folder is the file system of a directory that may be removed and created again. It
// does not follow links out of the directory.
type folder string

// Open implements fs.FS.
func (f folder) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	return os.OpenInRoot(string(f), name)
}
