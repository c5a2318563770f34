// Package page renders an OpenAPI 3.1 document as a reference page.
//
// The page, its style sheet and its script come from the service itself, so that it works
// offline and under a strict content security policy. It is complete without JavaScript.
// The script adds the search, the forms that send requests and the switch for the color
// scheme.
package page

import (
	"fmt"
	"net/http"
	"path"
	"strings"
	"sync"

	"github.com/plinthgo/plinth/openapix/internal/page/spec"
)

// Options configures a Page.
type Options struct {
	// Base is the path of the page, such as /reference. Links are relative, so a proxy
	// may add or remove a prefix.
	Base string
	// Title replaces the title of the document.
	Title string
	// DocumentURL is the address of the document. If it is empty, the page has no link
	// to it.
	DocumentURL string
}

// Page is a handler for GET and HEAD requests of Base and all paths below it. It is safe
// for concurrent use.
type Page struct {
	base, policy string
	files        func() files // rendered on the first request
}

// files are the files of a page, by path below its base. A file is compressed on first
// use.
type files map[string]func() *resource

// maxInline is the number of operations whose descriptions are part of the index. Those
// of a larger document are separate pages, which the script loads on demand.
const maxInline = 100

// New reads a document. It is rendered on the first request.
func New(document []byte, o Options) (*Page, error) {
	if o.Base = strings.TrimRight(o.Base, "/"); o.Base != "" && o.Base[0] != '/' {
		return nil, fmt.Errorf("page: the base path %q is not absolute; add a slash", o.Base)
	}
	d, err := spec.Parse(document)
	if err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	r, err := newRenderer()
	if err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	return &Page{
		base: o.Base, policy: policy(d.Servers()),
		files: sync.OnceValue(func() files { return r.files(d, o) }),
	}, nil
}

// files renders the index.
func (r *renderer) files(d *spec.Document, o Options) files {
	all := files{}
	v := newView(d, o, r)
	for address, asset := range r.assets.files {
		all["/"+address] = asset
	}
	operations := v.operations()
	for _, operation := range operations {
		if len(operations) <= maxInline {
			operation.Body = newBody(d, operation.Operation)
			continue
		}
		all["/"+operation.URL] = sync.OnceValue(func() *resource {
			return r.single(d, v, *operation)
		})
	}
	index := r.render(v)
	all[""] = func() *resource { return index }
	return all
}

// single renders the page of an operation.
func (r *renderer) single(d *spec.Document, index *view, o operation) *resource {
	v := *index
	o.Body = newBody(d, o.Operation)
	v.Single, v.Prefix, v.Home = &o, "../", "../../"+strings.TrimSuffix(index.Prefix, "/")
	if index.Prefix == "" {
		v.Home = "../"
	}
	v.Groups = groupOf(index.Groups, o.Anchor) // all operations would be longer than the page
	return r.render(&v)
}

// groupOf returns the group of an operation.
func groupOf(groups []*group, anchor string) []*group {
	for i, g := range groups {
		for _, o := range g.Operations {
			if o.Anchor == anchor {
				return groups[i : i+1]
			}
		}
	}
	return nil
}

// newView returns the index without the descriptions of operations.
func newView(d *spec.Document, o Options, r *renderer) *view {
	info := d.Get("info")
	v := &view{
		Title: info.Get("title").Str(), Version: info.Get("version").Str(),
		Document: o.DocumentURL, Servers: d.Servers(), Schemes: schemesOf(d),
		Credentials: credentialsOf(d),
		Description: r.intro.HTML(info.Get("description").Str()),
		Assets:      r.assets,
		Base:        o.Base,
	}
	if o.Title != "" {
		v.Title = o.Title
	}
	if o.Base != "" {
		v.Prefix = path.Base(o.Base) + "/"
	}
	names := anchors{}
	for _, tag := range d.Tags() {
		g := &group{
			Name: tag.Name, Anchor: names.add("tag-", tag.Name),
			Description: r.group.HTML(tag.Description),
		}
		if g.Name == "" {
			g.Name = "Operations"
		}
		for _, operation := range tag.Operations {
			g.Operations = append(g.Operations, newOperation(operation, names, r))
		}
		v.Groups = append(v.Groups, g)
	}
	return v
}

func newOperation(o *spec.Operation, names anchors, r *renderer) *operation {
	id := o.ID
	if id == "" {
		id = o.Method + o.Path
	}
	shown := &operation{
		Operation: o, Title: o.Summary, Anchor: names.add("op-", id), Codes: codesOf(o),
		Description: r.operation.HTML(o.Description),
	}
	if shown.Title == "" {
		shown.Title = id
	}
	shown.URL = "operations/" + shown.Anchor
	shown.Security, shown.SchemeNames = securityOf(o)
	return shown
}

func (v *view) operations() []*operation {
	var list []*operation
	for _, g := range v.Groups {
		list = append(list, g.Operations...)
	}
	return list
}

// anchors are the identifiers in a page.
type anchors map[string]bool

// add returns a unique identifier for a name.
func (a anchors) add(prefix, name string) string {
	id := prefix + strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_':
			return r
		case r > '\u00a0' && r != '\ufffd':
			return r
		default:
			return '-'
		}
	}, name)
	unique := id
	for i := 2; a[unique]; i++ {
		unique = fmt.Sprintf("%s-%d", id, i)
	}
	a[unique] = true
	return unique
}

// ServeHTTP implements http.Handler.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.protect(w.Header())
	name := strings.TrimPrefix(r.URL.Path, p.base)
	if p.base == "" && name == "/" {
		name = ""
	}
	file := p.files()[name]
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, http.StatusText(http.StatusMethodNotAllowed), http.StatusMethodNotAllowed)
	case name == "/":
		// http.Redirect would make the location absolute, without the prefix of a proxy
		w.Header().Set("Location", "../"+path.Base(p.base))
		w.WriteHeader(http.StatusPermanentRedirect)
	case file == nil:
		http.Error(w, http.StatusText(http.StatusNotFound), http.StatusNotFound)
	default:
		file().ServeHTTP(w, r)
	}
}
