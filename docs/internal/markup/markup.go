// Package markup reads the Markdown of the documentation: GitHub-flavoured, with alerts,
// and with text in Chinese.
//
// One parser serves all readers, so that the anchor which the search returns is the one
// that the page has, and the one that GitHub gives the heading. Sections is what the
// search index and the check of links are made of, HTML is what people see.
package markup

import (
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// newMarkdown returns a converter with what every reader shares. It may be used by
// several goroutines at once. Bare addresses are text to it: finding them takes as long
// as all the rest.
func newMarkdown(opts ...goldmark.Option) goldmark.Markdown {
	return goldmark.New(append([]goldmark.Option{
		goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList,
			extension.CJK),
		goldmark.WithParserOptions(parser.WithASTTransformers(util.Prioritized(anchors{}, 100),
			util.Prioritized(alerts{}, 200))),
	}, opts...)...)
}

// parse returns the tree of a source, in which each heading has its anchor as the
// attribute id.
func parse(md goldmark.Markdown, source []byte) ast.Node {
	return md.Parser().Parse(text.NewReader(source))
}
