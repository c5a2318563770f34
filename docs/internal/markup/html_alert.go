package markup

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

var kindAlert = ast.NewNodeKind("Alert")

// An alertNode is a block quote whose first line is a marker such as [!NOTE].
type alertNode struct {
	ast.BaseBlock
	name string // in lower case
}

// Kind implements ast.Node.
func (*alertNode) Kind() ast.NodeKind { return kindAlert }

// Dump implements ast.Node.
func (n *alertNode) Dump(source []byte, level int) {
	ast.DumpHelper(n, source, level, map[string]string{"name": n.name}, nil)
}

// alerts converts block quotes into alerts.
type alerts struct{}

// Transform implements parser.ASTTransformer.
func (alerts) Transform(doc *ast.Document, reader text.Reader, _ parser.Context) {
	var quotations []*ast.Blockquote
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if quotation, ok := n.(*ast.Blockquote); ok && entering {
			quotations = append(quotations, quotation)
		}
		return ast.WalkContinue, nil
	})
	for _, quotation := range quotations {
		if name := takeMarker(quotation, reader.Source()); name != "" {
			replace(quotation, &alertNode{name: name})
		}
	}
}

// takeMarker removes the marker of a block quote and returns its name.
func takeMarker(quotation *ast.Blockquote, source []byte) string {
	paragraph, ok := quotation.FirstChild().(*ast.Paragraph)
	if !ok || paragraph.Lines().Len() == 0 {
		return ""
	}
	first := paragraph.Lines().At(0)
	name, ok := alertName(strings.TrimSpace(string(first.Value(source))))
	if !ok {
		return ""
	}
	for child := paragraph.FirstChild(); child != nil; {
		next := child.NextSibling()
		words, isText := child.(*ast.Text)
		if isText && words.Segment.Start >= first.Stop {
			break
		}
		paragraph.RemoveChild(paragraph, child)
		if isText && (words.SoftLineBreak() || words.HardLineBreak()) {
			break
		}
		child = next
	}
	if !paragraph.HasChildren() {
		quotation.RemoveChild(quotation, paragraph)
	}
	return name
}

// alertName returns the name of a marker, in lower case.
func alertName(marker string) (string, bool) {
	name, opened := strings.CutPrefix(strings.ToLower(marker), "[!")
	name, closed := strings.CutSuffix(name, "]")
	switch name {
	case "note", "tip", "important", "warning", "caution":
		return name, opened && closed
	}
	return "", false
}

// replace replaces a node and keeps its children.
func replace(old, by ast.Node) {
	for child := old.FirstChild(); child != nil; {
		next := child.NextSibling()
		by.AppendChild(by, child)
		child = next
	}
	old.Parent().ReplaceChild(old.Parent(), old, by)
}

// openAlert sets the role note, because a complementary region would be a landmark within
// the main one.
func (r *nodes) openAlert(w util.BufWriter, _ []byte, node ast.Node) {
	n, ok := node.(*alertNode)
	if !ok {
		return
	}
	title := escape(map[string]string{
		"note": r.Words.Note, "tip": r.Words.Tip, "important": r.Words.Important,
		"warning": r.Words.Warning, "caution": r.Words.Caution,
	}[n.name])
	_, _ = w.WriteString(`<aside class="alert ` + n.name + `" role="note" aria-label="` + title +
		`"><p class="alert-title">` +
		title + "</p>\n")
}

func closeAlert(w util.BufWriter, _ []byte, _ ast.Node) { _, _ = w.WriteString("</aside>\n") }
