// Package markdown converts descriptions to HTML that is safe to embed in a page.
//
// It supports CommonMark and tables. Raw HTML is shown as text, pictures become links,
// and links have the schemes http, https and mailto only.
package markdown

import (
	"bytes"
	"html/template"
	"net/url"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// Renderer converts Markdown. It is safe for concurrent use.
type Renderer struct {
	markdown goldmark.Markdown
}

// New returns a renderer. It adds shift to the levels of headings, so that they are below
// those of the page.
func New(shift int) *Renderer {
	return &Renderer{goldmark.New(
		goldmark.WithExtensions(extension.NewTable(
			extension.WithTableCellAlignMethod(extension.TableCellAlignNone), // styles are forbidden
		)),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(
			util.Prioritized(&nodes{shift: shift}, 100))), //nolint:mnd // before goldmark's renderers
	)}
}

// special are the characters that may start a construct of Markdown.
const special = "\\`*_{}[]<>#+-!|&~=.)\n:"

// HTML returns the HTML of a description.
func (r *Renderer) HTML(source string) template.HTML {
	source = strings.TrimSpace(source)
	if source == "" {
		return ""
	}
	if !strings.ContainsAny(strings.TrimRight(source, ".)"), special) {
		return paragraph(source)
	}
	var b bytes.Buffer
	if err := r.markdown.Convert([]byte(source), &b); err != nil {
		return paragraph(source)
	}
	return template.HTML(bytes.TrimSpace(b.Bytes())) //nolint:gosec // rendered without raw HTML
}

func paragraph(text string) template.HTML {
	//nolint:gosec // escaped
	return template.HTML("<p>" + template.HTMLEscapeString(text) + "</p>")
}

// nodes renders the nodes that differ from goldmark's output.
type nodes struct{ shift int }

// RegisterFuncs implements renderer.NodeRenderer.
func (n *nodes) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindHeading, n.heading)
	r.Register(ast.KindLink, link)
	r.Register(ast.KindImage, link)
	r.Register(ast.KindAutoLink, autoLink)
	r.Register(ast.KindRawHTML, rawHTML)
	r.Register(ast.KindHTMLBlock, htmlBlock)
}

func (n *nodes) heading(w util.BufWriter, _ []byte, node ast.Node, entering bool) (
	ast.WalkStatus, error,
) {
	if h, ok := node.(*ast.Heading); ok {
		const lowest = '6'
		level := min('0'+byte(h.Level+n.shift), lowest)
		tag := string([]byte{'h', level, '>'})
		if entering {
			_, _ = w.WriteString("<" + tag)
		} else {
			_, _ = w.WriteString("</" + tag + "\n")
		}
	}
	return ast.WalkContinue, nil
}

// link renders a link or a picture. Pictures would be requests to other hosts.
func link(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	destination := ""
	switch n := node.(type) {
	case *ast.Link:
		destination = string(util.URLEscape(n.Destination, true))
	case *ast.Image:
		destination = string(util.URLEscape(n.Destination, true))
	}
	if address := safe(destination); address != "" {
		if entering {
			openLink(w, address)
		} else {
			_, _ = w.WriteString("</a>")
		}
	}
	return ast.WalkContinue, nil
}

func openLink(w util.BufWriter, address string) {
	_, _ = w.WriteString(`<a href="` + template.HTMLEscapeString(address) +
		`" rel="noopener noreferrer">`)
}

// safe returns an address with a safe scheme or with a fragment, or "".
func safe(address string) string {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return ""
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https", "mailto":
		return u.String()
	case "":
		if u.Host == "" {
			return u.String()
		}
	}
	return ""
}

func autoLink(w util.BufWriter, source []byte, node ast.Node, entering bool) (
	ast.WalkStatus, error,
) {
	n, ok := node.(*ast.AutoLink)
	if !ok || !entering {
		return ast.WalkContinue, nil
	}
	address := string(n.URL(source))
	if n.AutoLinkType == ast.AutoLinkEmail {
		address = "mailto:" + address
	}
	label := template.HTMLEscapeString(string(n.Label(source)))
	if address = safe(address); address != "" {
		openLink(w, address)
		label += "</a>"
	}
	_, _ = w.WriteString(label)
	return ast.WalkContinue, nil
}

func rawHTML(w util.BufWriter, source []byte, node ast.Node, entering bool) (
	ast.WalkStatus, error,
) {
	if n, ok := node.(*ast.RawHTML); ok && entering {
		for i := range n.Segments.Len() {
			segment := n.Segments.At(i)
			_, _ = w.WriteString(template.HTMLEscapeString(string(segment.Value(source))))
		}
	}
	return ast.WalkSkipChildren, nil
}

func htmlBlock(w util.BufWriter, source []byte, node ast.Node, entering bool) (
	ast.WalkStatus, error,
) {
	n, ok := node.(*ast.HTMLBlock)
	if !ok || !entering {
		return ast.WalkContinue, nil
	}
	var text strings.Builder
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		text.Write(line.Value(source))
	}
	if n.HasClosure() {
		text.Write(n.ClosureLine.Value(source))
	}
	_, _ = w.WriteString(string(paragraph(strings.TrimSpace(text.String()))) + "\n")
	return ast.WalkContinue, nil
}
