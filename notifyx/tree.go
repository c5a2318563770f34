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

// sharedPrefix marks the names of templates that other templates include, such as
// layouts.
const sharedPrefix = "_"

// shared reports whether the file is a shared template.
func (f *partFile) shared() bool { return strings.HasPrefix(f.name, sharedPrefix) }

type sharedKey struct {
	name string
	partKey
}

type sharedFiles map[sharedKey]*partFile

// put adds a shared template, even if it has an error, so that templates that include it
// do not also report it as undefined.
func (s sharedFiles) put(f *partFile) error {
	key := sharedKey{f.name, f.key()}
	if s[key] != nil {
		return &templateError{
			origin:  f.origin,
			problem: fmt.Sprintf("template %q has this part already", f.name),
		}
	}
	s[key] = f
	if err := f.check(); err != nil {
		return err
	}
	t, _, err := f.parse()
	if err == nil && t.Lookup(f.name) != nil {
		return withPosition(f.origin,
			fmt.Sprintf("template %q is the file itself: do not define it within the file", f.name))
	}
	return err
}

// find returns the shared template that a part includes by name: in the language of the
// part, else in the nearest parent language, else without a language.
func (s sharedFiles) find(f *partFile, name string) *partFile {
	for tag := f.tag; tag != language.Und; tag = tag.Parent() {
		if found := s[sharedKey{name, partKey{tag.String(), f.part}}]; found != nil {
			return found
		}
	}
	return s[sharedKey{name, partKey{part: f.part}}]
}

// trees maps names to the parsed templates of one part.
type trees map[string]*parse.Tree

// resolve returns the templates that a part defines and the shared templates that they
// include. A definition closer to the part overrides others, so that a part can define
// the blocks of a layout.
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
			return nil, withPosition(f.origin, undefined(f, name, by))
		}
		t, _, err := found.parse()
		if err != nil {
			return nil, err
		}
		all.add(name, t)
	}
}

func undefined(f *partFile, name, by string) string {
	text := fmt.Sprintf("template %q includes %q, which is not defined", by, name)
	if strings.HasPrefix(name, sharedPrefix) {
		text += fmt.Sprintf(": no file %s[.LANGUAGE].%s.tmpl was added before or with this one",
			name, f.part)
	}
	return text
}

// add adds the missing templates of a file, with its main template under name.
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

// missing returns the first included template that is undefined and the template that
// includes it, or "" if all are defined.
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

// checkRecursion rejects a template that includes itself, directly or through others:
// endless recursion overflows the stack, which terminates the program.
func (ts trees) checkRecursion(origin string) error {
	seen := map[string]bool{}
	done := map[string]bool{}
	var visit func(name string) error
	visit = func(name string) error {
		switch {
		case done[name]:
			return nil
		case seen[name]:
			return withPosition(origin, fmt.Sprintf("template %q includes itself", name))
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

// calls returns the names of the templates that the nodes include.
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

// functions overrides functions of the template packages.
var functions = map[string]any{"index": index}

// index replaces the index function of text/template for maps and lists. A missing key is
// a missing variable instead of the text "<no value>".
func index(item any, keys ...any) (any, error) {
	for _, key := range keys {
		switch c := item.(type) {
		case map[string]any:
			name, ok := key.(string)
			if !ok {
				return nil, errors.New("index: the key of a map must be a string")
			}
			if item = c[name]; item == nil {
				return nil, &MissingVariablesError{Variables: []string{name}}
			}
		case []any:
			i, err := strconv.Atoi(fmt.Sprint(key)) // constants are ints, variables int64s
			if err != nil || i < 0 || i >= len(c) {
				return nil, errors.New("index: no such element")
			}
			item = c[i]
		default:
			return nil, errors.New("index: the value is not a list or a map")
		}
	}
	return item, nil
}

var (
	// executing matches the start of an error of text/template; the text after the
	// position may contain a value.
	executing = regexp.MustCompile(`(?s)^template: (.+?): executing ".*?" at <(.*?)>: `)
	noEntry   = regexp.MustCompile(`>: map has no entry for key ("(?:[^"\\]|\\.)*")$`)
)

// explain converts an execution error to one without values.
func explain(err error) error {
	if m, ok := errors.AsType[*MissingVariablesError](err); ok {
		return m
	}
	if errors.Is(err, errTooLong) {
		return errTooLong
	}
	place := executing.FindStringSubmatch(err.Error())
	if place == nil {
		return errors.New("cannot be executed with these variables")
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

// reason returns the text of an error of text/template or html/template without the
// prefixes that templateError adds.
func reason(err error, origin string) string {
	text := err.Error()
	for _, prefix := range []string{"template: ", "html/template:", " ", origin + ":", " "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return text
}
