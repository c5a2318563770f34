package markup

import (
	"bytes"
	"fmt"
	"net/url"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"
)

// Options configures a Renderer.
type Options struct {
	// Words are in the language of the pages.
	Words Words
	// Diagram returns the pictures of a trimmed Mermaid diagram. If it is nil or returns
	// false, the source is shown.
	Diagram func(source string) (Diagram, bool)
}

// Words are the strings that a Renderer adds to a page.
type Words struct {
	Note, Tip, Important, Warning, Caution string // titles of alerts
	Done, Open                             string // labels of task list items
	Diagram                                string // name of a diagram without a title or heading
}

// A Diagram contains the addresses and the size in CSS pixels of the pictures of a
// diagram.
type Diagram struct {
	Light, Dark   string
	Width, Height int
}

// A Renderer converts Markdown to HTML without inline styles and scripts. Tokens of code
// have classes for a style sheet. Raw HTML is shown as text, comments are omitted. It is
// safe for concurrent use.
type Renderer struct {
	markdown goldmark.Markdown
}

// NewRenderer returns a renderer.
func NewRenderer(o Options) *Renderer {
	return &Renderer{markdown: newMarkdown(
		goldmark.WithExtensions(extension.Linkify),
		goldmark.WithParserOptions(parser.WithASTTransformers(util.Prioritized(decoration{}, 300))),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(&nodes{
			Options: o,
			writer:  html.NewWriter(html.WithEscapedSpace()),
		}, 100))),
	)}
}

// HTML returns the body of a page. Headings have the same anchors as in Sections.
func (r *Renderer) HTML(source []byte) ([]byte, error) {
	var b bytes.Buffer
	if err := r.markdown.Renderer().Render(&b, source, parse(r.markdown, source)); err != nil {
		return nil, fmt.Errorf("markup: render: %w", err)
	}
	return b.Bytes(), nil
}

// nodes renders the nodes that differ from goldmark's output.
type nodes struct {
	Options

	writer html.Writer
}

// RegisterFuncs implements renderer.NodeRenderer.
func (r *nodes) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(ast.KindText, leaf(r.text))
	reg.Register(ast.KindHeading, around(openHeading, closeHeading))
	reg.Register(ast.KindFencedCodeBlock, leaf(r.fence))
	reg.Register(ast.KindCodeBlock, leaf(r.fence))
	reg.Register(ast.KindHTMLBlock, leaf(htmlBlock))
	reg.Register(ast.KindRawHTML, leaf(rawHTML))
	reg.Register(east.KindTable, around(openTable, closeTable))
	reg.Register(east.KindTaskCheckBox, leaf(r.checkBox))
	reg.Register(kindAlert, around(r.openAlert, closeAlert))
}

// A write renders one part of a node.
type write = func(w util.BufWriter, source []byte, node ast.Node)

// leaf renders a node with its children.
func leaf(whole write) renderer.NodeRendererFunc {
	return func(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus,
		error,
	) {
		if entering {
			whole(w, source, node)
		}
		return ast.WalkSkipChildren, nil
	}
}

// around renders the parts before and after the children of a node.
func around(before, behind write) renderer.NodeRendererFunc {
	return func(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus,
		error,
	) {
		if entering {
			before(w, source, node)
		} else {
			behind(w, source, node)
		}
		return ast.WalkContinue, nil
	}
}

func openHeading(w util.BufWriter, _ []byte, node ast.Node) {
	if heading, ok := node.(*ast.Heading); ok {
		if id := anchor(heading); id == "" {
			_, _ = fmt.Fprintf(w, "<h%d>", heading.Level)
		} else {
			_, _ = fmt.Fprintf(w, `<div class="h"><h%d id="%s">`, heading.Level, escape(id))
		}
	}
}

// closeHeading adds the link to a heading next to it, because screen readers would read a
// link inside twice.
func closeHeading(w util.BufWriter, _ []byte, node ast.Node) {
	if heading, ok := node.(*ast.Heading); ok {
		_, _ = fmt.Fprintf(w, "</h%d>", heading.Level)
		if id := anchor(heading); id != "" {
			_, _ = fmt.Fprintf(w, `<a href="#%s" aria-labelledby="%s"></a></div>`,
				escape(url.PathEscape(id)), escape(id))
		}
		_ = w.WriteByte('\n')
	}
}

// htmlBlock shows HTML as text.
func htmlBlock(w util.BufWriter, source []byte, node ast.Node) {
	block, ok := node.(*ast.HTMLBlock)
	if !ok || block.HTMLBlockType == ast.HTMLBlockType2 { // comment
		return
	}
	text := lines(block, source)
	if block.HasClosure() {
		text += string(block.ClosureLine.Value(source))
	}
	_, _ = w.WriteString("<p>" + escape(strings.TrimSpace(text)) + "</p>\n")
}

func rawHTML(w util.BufWriter, source []byte, node ast.Node) {
	raw, ok := node.(*ast.RawHTML)
	if !ok {
		return
	}
	var text strings.Builder
	for i := range raw.Segments.Len() {
		segment := raw.Segments.At(i)
		text.Write(segment.Value(source))
	}
	if !strings.HasPrefix(text.String(), "<!--") {
		_, _ = w.WriteString(escape(text.String()))
	}
}

// escape escapes a text for HTML content and attributes.
func escape(text string) string { return string(util.EscapeHTML([]byte(text))) }
