// Package markup parses the Markdown of the documentation: GitHub Flavored Markdown with
// alerts, in English and Chinese.
//
// All functions use the same parser, so that search, pages and GitHub have the same
// anchors. Sections is for the search index and the link check, HTML for the site.
package markup

import (
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// newMarkdown returns the shared converter, which is safe for concurrent use. It does not
// link bare URLs, because finding them doubles the parsing time.
func newMarkdown(opts ...goldmark.Option) goldmark.Markdown {
	return goldmark.New(append([]goldmark.Option{
		goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList,
			extension.CJK),
		goldmark.WithParserOptions(parser.WithASTTransformers(util.Prioritized(anchors{}, 100),
			util.Prioritized(alerts{}, 200))),
	}, opts...)...)
}

// parse returns the tree of a source. Each heading has its anchor as the attribute id.
func parse(md goldmark.Markdown, source []byte) ast.Node {
	return md.Parser().Parse(text.NewReader(source))
}
