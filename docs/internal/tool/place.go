package tool

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/plinthgo/plinth/docs/internal/page"
)

// scheme is the URI scheme of the resources.
const scheme = "docs"

// A place is a location in the documentation. Both parts may be empty.
type place struct {
	sector *page.Sector
	path   string // within the sector, with a leading slash
}

// locate returns the place for the arguments sector and path. Each may be empty, and the
// path may contain the sector.
func (d *docs) locate(sector, path string) (place, error) {
	named, path, err := d.split(path)
	if err != nil {
		return place{}, err
	}
	s, err := d.sector(sector)
	if err != nil {
		return place{}, err
	}
	if named == "" && (s == nil || d.library.Find(s.Name, path) == nil) {
		first, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		if d.library.Sector(first) != nil {
			named, path = first, "/"+rest
		}
	}
	of, err := d.sector(named)
	switch {
	case err != nil:
		return place{}, err
	case s != nil && of != nil && s != of:
		return place{}, fmt.Errorf(
			"the path names sector %q, but argument \"sector\" is %q: call again with sector %q and path %q",
			of.Name, s.Name, of.Name, path)
	}
	return place{sector: cmp.Or(s, of), path: path}, nil
}

// split splits a path into sector and path. It removes the address of the site,
// /docs/<sector> or docs:///<sector>, and an anchor and query. An empty path stays empty.
func (d *docs) split(path string) (sector, rest string, err error) {
	if path == "" {
		return "", "", nil
	}
	if strings.Contains(path, "://") {
		if path, err = d.fromURL(path); err != nil {
			return "", "", err
		}
	} else {
		if i := strings.IndexAny(path, "#?"); i >= 0 {
			path = path[:i]
		}
		if decoded, err := url.PathUnescape(path); err == nil {
			path = decoded
		}
	}
	path = "/" + strings.Trim(path, "/")
	path = strings.TrimPrefix(path, "/llms.mdx")
	if after, ok := strings.CutPrefix(path, "/docs/"); ok {
		sector, rest, _ = strings.Cut(after, "/")
		return sector, "/" + rest, nil
	}
	return "", path, nil
}

// fromURL converts a URL of the site or of a resource to /docs/<sector>/<path>. It
// accepts loopback addresses, for local copies of the site.
func (d *docs) fromURL(address string) (string, error) {
	u, err := url.Parse(address)
	if err == nil && u.Scheme == scheme && u.Host == "" {
		return "/docs" + u.Path, nil
	}
	if err == nil && (u.Scheme == "http" || u.Scheme == "https") &&
		(d.base == "" || strings.EqualFold(u.Host, d.site.Host) || isLoopback(u.Hostname())) {
		return strings.TrimPrefix(u.Path, d.site.Path), nil
	}
	return "", fmt.Errorf("%q is not an address of this documentation, whose pages are below %s/docs; call search or list for the path of a page",
		address, d.base)
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// sector returns a sector by name, or nil for an empty name.
func (d *docs) sector(name string) (*page.Sector, error) {
	if name == "" {
		return nil, nil // the argument is optional
	}
	bare := strings.Trim(strings.TrimPrefix(strings.TrimPrefix(name, "/"), "docs/"), "/")
	for _, n := range []string{bare, strings.ToLower(bare)} {
		if s := d.library.Sector(n); s != nil {
			return s, nil
		}
	}
	nearest := ""
	if names := d.library.NearestSector(bare); len(names) > 0 {
		nearest = fmt.Sprintf("; the nearest is %q", names[0])
	}
	return nil, fmt.Errorf("sector %q not found%s; the sectors are %s; call sector for their descriptions", name, nearest, d.names())
}

// page returns the page at a place.
func (d *docs) page(at place) (*page.Page, error) {
	if at.sector == nil {
		return nil, errors.New(`argument "sector" is required: ` + d.sectorHint())
	}
	for _, path := range []string{at.path, strings.ToLower(at.path)} {
		if p := d.library.Find(at.sector.Name, path); p != nil {
			return p, nil
		}
	}
	return nil, d.unknownPage(at.sector.Name, at.path)
}

// unknownPage returns an error with the most similar pages of a sector, or of all sectors
// if sector is empty.
func (d *docs) unknownPage(sector, path string) error {
	var nearest []string
	for _, p := range d.library.NearestPage(sector, path) {
		where := fmt.Sprintf("%q (%s)", p.Path, p.Title)
		if p.Sector.Name != sector {
			where = fmt.Sprintf("%q of sector %q (%s)", p.Path, p.Sector.Name, p.Title)
		}
		nearest = append(nearest, where)
	}
	if sector == "" {
		return fmt.Errorf("no sector has a page %q; the nearest are %s; call list for the pages of a sector", path, strings.Join(nearest, ", "))
	}
	return fmt.Errorf("sector %q has no page %q; the nearest are %s; call list with sector %q for all of its pages, or search",
		sector, path, strings.Join(nearest, ", "), sector)
}

func (d *docs) sectorHint() string {
	return "the sectors are " + d.names()
}
