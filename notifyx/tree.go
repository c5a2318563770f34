package notifyx

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template/parse"
)

// printed names toPrint in a template.
const printed = "plinthPrinted"

// trees are the parsed templates of one part.
type trees struct {
	byName map[string]*tree
	names  []string // in the order in which they were added
}

type tree struct {
	*parse.Tree
	calls []string // the templates that it runs

	followed bool // nothing that it runs leads back to it
}

// add adds a template unless there is one of the name, and adds toPrint to what it prints.
func (ts *trees) add(name string, t *parse.Tree) {
	if ts.byName[name] != nil {
		return
	}
	added := &tree{Tree: t}
	added.list(t.Root)
	ts.byName[name] = added
	ts.names = append(ts.names, name)
}

// missing returns the first template that is run and is not there, and the one that runs it.
func (ts *trees) missing() (name, by string, found bool) {
	for _, by := range ts.names {
		for _, call := range ts.byName[by].calls {
			if ts.byName[call] == nil {
				return call, by, true
			}
		}
	}
	return "", "", false
}

// acyclic refuses a template that runs itself. All that are run are there.
func (ts *trees) acyclic() error {
	for _, name := range ts.names {
		if err := ts.follow(name, nil); err != nil {
			return err
		}
	}
	return nil
}

// follow looks at what a template runs, once for each template.
func (ts *trees) follow(name string, path []string) error {
	t := ts.byName[name]
	switch {
	case slices.Contains(path, name):
		return fmt.Errorf("template %q runs itself", name)
	case t.followed:
		return nil
	}
	path = append(path, name)
	for _, call := range t.calls {
		if err := ts.follow(call, path); err != nil {
			return err
		}
	}
	t.followed = true
	return nil
}

func (t *tree) list(l *parse.ListNode) {
	if l == nil {
		return
	}
	for _, node := range l.Nodes {
		switch n := node.(type) {
		case *parse.ActionNode:
			addPrinted(n.Pipe)
		case *parse.IfNode:
			t.branch(&n.BranchNode)
		case *parse.RangeNode:
			t.branch(&n.BranchNode)
		case *parse.WithNode:
			t.branch(&n.BranchNode)
		case *parse.TemplateNode:
			t.calls = append(t.calls, n.Name)
		}
	}
}

func (t *tree) branch(b *parse.BranchNode) {
	t.list(b.List)
	t.list(b.ElseList)
}

// addPrinted adds toPrint to a pipeline that prints, before the escapers that html/template wants at its end.
func addPrinted(pipe *parse.PipeNode) {
	if len(pipe.Decl) > 0 {
		return
	}
	text := pipe.String()
	at := len(pipe.Cmds)
	for at > 0 && slices.Contains([]string{"html", "urlquery"}, pipe.Cmds[at-1].String()) {
		at--
	}
	if at == 0 {
		return // a function without arguments
	}
	name := parse.NewIdentifier(printed).SetPos(pipe.Pos)
	quoted := &parse.StringNode{NodeType: parse.NodeString, Pos: pipe.Pos, Quoted: strconv.Quote(text), Text: text}
	pipe.Cmds = slices.Insert(pipe.Cmds, at,
		&parse.CommandNode{NodeType: parse.NodeCommand, Pos: pipe.Pos, Args: []parse.Node{name, quoted}})
}

var (
	// executing is how text/template begins an error: what comes after the place may show a value.
	executing = regexp.MustCompile(`(?s)^template: (.+?): executing ".*?" at <(.*?)>: `)
	noEntry   = regexp.MustCompile(`>: map has no entry for key ("(?:[^"\\]|\\.)*")$`)
)

// explain says what was wrong with an execution, without the values that the error may show.
func explain(err error) error {
	if m := (*MissingVariablesError)(nil); errors.As(err, &m) {
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

// reason returns the text of an error of text/template or html/template without the names that templateError adds.
func reason(err error, origin string) string {
	text := err.Error()
	for _, prefix := range []string{"template: ", "html/template:", " ", origin + ":", " "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return text
}

// decimal writes a number as JSON does.
func decimal(f float64) string {
	format := byte('f')
	if f != 0 && (f < 1e-6 && f > -1e-6 || f >= 1e21 || f <= -1e21) {
		format = 'e'
	}
	return strconv.FormatFloat(f, format, -1, 64)
}
