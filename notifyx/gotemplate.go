package notifyx

import (
	"fmt"
	htmltemplate "html/template"
	"io"
	"slices"
	"strings"
	texttemplate "text/template"

	"golang.org/x/text/language"
)

// sharedPrefix begins the names of templates that others run, such as layouts.
const sharedPrefix = "_"

// shared reports whether other templates run this one, and no message names it.
func (f *partFile) shared() bool { return strings.HasPrefix(f.name, sharedPrefix) }

// sharedKey names a shared template.
type sharedKey struct {
	name string
	partKey
}

// sharedFiles are the shared templates.
type sharedFiles map[sharedKey]*partFile

// put adds a shared template, also one with an error, so that what runs it is not said to miss it.
func (s sharedFiles) put(f *partFile) error {
	key := sharedKey{f.name, f.key()}
	if s[key] != nil {
		return &templateError{where: f.origin, what: fmt.Sprintf("template %q has this part already", f.name)}
	}
	s[key] = f
	if err := f.check(); err != nil {
		return err
	}
	return newTrees().parse(f, f.name)
}

// find returns the shared template that a part runs by a name: that of its language or of the nearest parent of it, else
// the one without a language.
func (s sharedFiles) find(f *partFile, name string) *partFile {
	for tag := f.tag; tag != language.Und; tag = tag.Parent() {
		if found := s[sharedKey{name, partKey{tag.String(), f.part}}]; found != nil {
			return found
		}
	}
	return s[sharedKey{name, partKey{part: f.part}}]
}

// goPart is a Go template of either kind.
type goPart struct {
	t interface {
		Execute(w io.Writer, data any) error
	}
}

func compileGo(f *partFile, shared sharedFiles) (part, error) {
	ts, err := parseGo(f, shared)
	if err != nil {
		return nil, err
	}
	var p goPart
	if f.part == PartHTML {
		p.t, err = ts.html(f.origin)
	} else {
		p.t, err = ts.text(f.origin)
	}
	if err != nil {
		return nil, placed(f.origin, reason(err, f.origin))
	}
	return p, nil
}

// parseGo returns the templates that a part defines, and the shared ones that they run. Of two definitions the one that is
// nearer to the part counts, which is how a part fills in the blocks of a layout.
func parseGo(f *partFile, shared sharedFiles) (*trees, error) {
	ts := newTrees()
	if err := ts.parse(f, f.origin); err != nil {
		return nil, err
	}
	for {
		name, by, missing := ts.missing()
		if !missing {
			break
		}
		found := shared.find(f, name)
		if found == nil {
			return nil, placed(f.origin, undefined(f, name, by))
		}
		if err := ts.parse(found, name); err != nil {
			return nil, err
		}
	}
	if err := ts.acyclic(); err != nil {
		return nil, placed(f.origin, err.Error())
	}
	return ts, nil
}

func undefined(f *partFile, name, by string) string {
	text := fmt.Sprintf("template %q runs %q, which is not defined", by, name)
	if strings.HasPrefix(name, sharedPrefix) {
		text += fmt.Sprintf(": no file %s[.LANGUAGE].%s.tmpl was added before or with this one", name, f.part)
	}
	return text
}

func newTrees() *trees { return &trees{byName: map[string]*tree{}} }

// parse adds the templates of a file that are not there yet, its own under a name.
func (ts *trees) parse(f *partFile, name string) error {
	t, err := texttemplate.New(f.origin).Funcs(functions).Parse(f.source())
	if err != nil {
		return placed(f.origin, reason(err, f.origin))
	}
	ts.add(name, t.Tree)
	defined := t.Templates()
	slices.SortFunc(defined, func(a, b *texttemplate.Template) int { return strings.Compare(a.Name(), b.Name()) })
	for _, each := range defined {
		switch defines := each.Name(); {
		case defines == f.origin: // added above
		case defines == f.name && f.shared():
			return placed(f.origin, fmt.Sprintf("template %q is this file, and is not defined within it", f.name))
		default:
			ts.add(defines, each.Tree)
		}
	}
	return nil
}

func (ts *trees) text(root string) (*texttemplate.Template, error) {
	t := texttemplate.New(root).Funcs(functions).Option("missingkey=error")
	for name, each := range ts.byName {
		if _, err := t.AddParseTree(name, each.Tree); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (ts *trees) html(root string) (*htmltemplate.Template, error) {
	t := htmltemplate.New(root).Funcs(functions).Option("missingkey=error")
	for name, each := range ts.byName {
		if _, err := t.AddParseTree(name, each.Tree); err != nil {
			return nil, err
		}
	}
	t = t.Lookup(root)
	return t, escapeNow(t)
}

func (p goPart) render(v *variables) (string, error) {
	var out limited
	if err := p.t.Execute(&out, v.values()); err != nil {
		return "", explain(err)
	}
	return out.String(), nil
}
