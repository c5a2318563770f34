package markup

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// openTable wraps a table in an element that scrolls horizontally.
func openTable(w util.BufWriter, _ []byte, _ ast.Node) {
	_, _ = w.WriteString("<div class=\"table\"><table>\n")
}

func closeTable(w util.BufWriter, _ []byte, _ ast.Node) { _, _ = w.WriteString("</table></div>\n") }

func (r *nodes) checkBox(w util.BufWriter, _ []byte, node ast.Node) {
	state, name := "", r.Words.Open
	if box, ok := node.(*east.TaskCheckBox); ok && box.IsChecked {
		state, name = " checked", r.Words.Done
	}
	_, _ = w.WriteString(`<input type="checkbox" disabled` + state + ` aria-label="` +
		escape(name) + `"> `)
}

// decoration sets attributes of links and table cells, which goldmark renders.
type decoration struct{}

// Transform implements parser.ASTTransformer.
func (decoration) Transform(doc *ast.Document, reader text.Reader, _ parser.Context) {
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			markExternal(n, n.Destination)
		case *ast.AutoLink:
			markExternal(n, n.URL(reader.Source()))
		case *ast.Image:
			n.SetAttributeString("loading", []byte("lazy"))
		case *east.TableCell:
			alignByClass(n)
		}
		return ast.WalkContinue, nil
	})
}

func markExternal(n ast.Node, destination []byte) {
	destination = bytes.ToLower(destination)
	for _, scheme := range []string{"http:", "https:", "//"} {
		if bytes.HasPrefix(destination, []byte(scheme)) {
			n.SetAttributeString("rel", []byte("noopener"))
		}
	}
}

// alignByClass replaces the style attribute, which the content security policy forbids.
func alignByClass(cell *east.TableCell) {
	switch cell.Alignment {
	case east.AlignRight:
		cell.SetAttributeString("class", []byte("right"))
	case east.AlignCenter:
		cell.SetAttributeString("class", []byte("center"))
	case east.AlignLeft, east.AlignNone:
	}
	cell.Alignment = east.AlignNone
}
