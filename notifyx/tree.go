package notifyx

import (
	"errors"
	"fmt"
	htmltemplate "html/template"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	texttemplate "text/template"
	"text/template/parse"

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

// put adds a shared template, also one with an error, so that what runs it is not said to
// miss it.
func (s sharedFiles) put(f *partFile) error {
	key := sharedKey{f.name, f.key()}
	if s[key] != nil {
		return &templateError{
			where: f.origin,
			what:  fmt.Sprintf("template %q has this part already", f.name),
		}
	}
	s[key] = f
	if err := f.check(); err != nil {
		return err
	}
	t, _, err := f.parse()
	if err == nil && t.Lookup(f.name) != nil {
		return placed(f.origin,
			fmt.Sprintf("template %q is this file, and is not defined within it", f.name))
	}
	return err
}

// find returns the shared template that a part runs by a name: that of its language or of
// the nearest parent of it, else the one without a language.
func (s sharedFiles) find(f *partFile, name string) *partFile {
	for tag := f.tag; tag != language.Und; tag = tag.Parent() {
		if found := s[sharedKey{name, partKey{tag.String(), f.part}}]; found != nil {
			return found
		}
	}
	return s[sharedKey{name, partKey{part: f.part}}]
}

// trees are the parsed templates of one part by their names.
type trees map[string]*parse.Tree

// resolve returns the templates that a part defines, and the shared ones that they run.
// Of two definitions the one that is nearer to the part counts, which is how a part fills
// in the blocks of a layout.
func resolve(f *partFile, t *texttemplate.Template, shared sharedFiles) (trees, error) {
	all := trees{}
	all.add(f.origin, t)
	for {
		name, by := all.missing()
		if name == "" {
			return all, all.checkRecursion(f.origin)
		}
		found := shared.find(f, name)
		if found == nil {
			return nil, placed(f.origin, undefined(f, name, by))
		}
		t, _, err := found.parse()
		if err != nil {
			return nil, err
		}
		all.add(name, t)
	}
}

func undefined(f *partFile, name, by string) string {
	text := fmt.Sprintf("template %q runs %q, which is not defined", by, name)
	if strings.HasPrefix(name, sharedPrefix) {
		text += fmt.Sprintf(": no file %s[.LANGUAGE].%s.tmpl was added before or with this one",
			name, f.part)
	}
	return text
}

// add adds the templates of a file that are not there yet, its own under a name.
func (ts trees) add(name string, t *texttemplate.Template) {
	if ts[name] == nil {
		ts[name] = t.Tree
	}
	for _, defined := range t.Templates() {
		if ts[defined.Name()] == nil && defined.Name() != t.Name() {
			ts[defined.Name()] = defined.Tree
		}
	}
}

// missing returns the first template that is run and is not there, and the one that runs
// it. Its name is "" if all are there.
func (ts trees) missing() (name, by string) {
	for _, by := range slices.Sorted(maps.Keys(ts)) {
		for _, name := range calls(ts[by].Root) {
			if ts[name] == nil {
				return name, by
			}
		}
	}
	return "", ""
}

// checkRecursion refuses a template that runs itself, also by way of others: one that
// does so without end would need more stack than there is, which no program survives.
func (ts trees) checkRecursion(origin string) error {
	seen := map[string]bool{}
	done := map[string]bool{}
	var visit func(name string) error
	visit = func(name string) error {
		switch {
		case done[name]:
			return nil
		case seen[name]:
			return placed(origin, fmt.Sprintf("template %q runs itself", name))
		}
		seen[name] = true
		for _, called := range calls(ts[name].Root) {
			if err := visit(called); err != nil {
				return err
			}
		}
		done[name] = true
		return nil
	}
	for _, name := range append([]string{origin}, slices.Sorted(maps.Keys(ts))...) {
		if err := visit(name); err != nil {
			return err
		}
	}
	return nil
}

// calls returns the names of the templates that a list of nodes runs.
func calls(list *parse.ListNode) (names []string) {
	if list == nil {
		return nil
	}
	for _, node := range list.Nodes {
		var branch *parse.BranchNode
		switch n := node.(type) {
		case *parse.TemplateNode:
			names = append(names, n.Name)
			continue
		case *parse.IfNode:
			branch = &n.BranchNode
		case *parse.RangeNode:
			branch = &n.BranchNode
		case *parse.WithNode:
			branch = &n.BranchNode
		default:
			continue
		}
		names = slices.Concat(names, calls(branch.List), calls(branch.ElseList))
	}
	return names
}

func (ts trees) text(root string) (*texttemplate.Template, error) {
	t := texttemplate.New(root).Funcs(functions).Option("missingkey=error")
	for name, tree := range ts {
		if _, err := t.AddParseTree(name, tree); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (ts trees) html(root string) (*htmltemplate.Template, error) {
	t := htmltemplate.New(root).Funcs(functions).Option("missingkey=error")
	for name, tree := range ts {
		if _, err := t.AddParseTree(name, tree); err != nil {
			return nil, err
		}
	}
	t = t.Lookup(root)
	return t, escapeNow(t)
}

// functions are what templates have instead of those of the library.
var functions = map[string]any{"index": index}

// index is that of text/template for what variables are made of: maps and lists. A key
// that is not there is a missing variable, and not the text "<no value>".
func index(item any, keys ...any) (any, error) {
	for _, key := range keys {
		switch c := item.(type) {
		case map[string]any:
			name, ok := key.(string)
			if !ok {
				return nil, errors.New("index: a name is a string")
			}
			if item = c[name]; item == nil {
				return nil, &MissingVariablesError{Variables: []string{name}}
			}
		case []any:
			i, err := strconv.Atoi(fmt.Sprint(key)) // a constant is an int, a variable an int64
			if err != nil || i < 0 || i >= len(c) {
				return nil, errors.New("index: there is no such element")
			}
			item = c[i]
		default:
			return nil, errors.New("index: neither a list nor a map")
		}
	}
	return item, nil
}

var (
	// executing is how text/template begins an error: what comes after the place may show
	// a value.
	executing = regexp.MustCompile(`(?s)^template: (.+?): executing ".*?" at <(.*?)>: `)
	noEntry   = regexp.MustCompile(`>: map has no entry for key ("(?:[^"\\]|\\.)*")$`)
)

// explain says what was wrong with an execution, without the values that the error may
// show.
func explain(err error) error {
	if m, ok := errors.AsType[*MissingVariablesError](err); ok {
		return m
	}
	if errors.Is(err, errTooLong) {
		return errTooLong
	}
	place := executing.FindStringSubmatch(err.Error())
	if place == nil {
		return errors.New("it cannot be executed with these variables")
	}
	if key := noEntry.FindStringSubmatch(err.Error()); key != nil {
		if name, err := strconv.Unquote(key[1]); err == nil {
			return &MissingVariablesError{Variables: []string{pathTo(place[2], name)}}
		}
	}
	return fmt.Errorf("%s: <%s> cannot be executed with these variables", place[1], place[2])
}

// pathTo returns the path of a missing name within a field such as .user.name.
func pathTo(field, name string) string {
	segments := strings.Split(strings.TrimPrefix(field, "."), ".")
	if i := slices.Index(segments, name); strings.HasPrefix(field, ".") && i >= 0 {
		return strings.Join(segments[:i+1], ".")
	}
	return name
}

// reason returns the text of an error of text/template or html/template without the names
// that templateError adds.
func reason(err error, origin string) string {
	text := err.Error()
	for _, prefix := range []string{"template: ", "html/template:", " ", origin + ":", " "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return text
}
