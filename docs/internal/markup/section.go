package markup

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

// A Section is a heading and what follows it up to the next one. The first of a page has
// no heading and holds what stands before them all.
type Section struct {
	Heading string // plain text
	Anchor  string // without the #
	Level   int    // 2 to 6; 0 where there is no heading
	Text    string // words of paragraphs, lists, tables and code, in one line with single blanks
}

var plainMarkdown = newMarkdown()

// Sections splits a page. There is always a first one, which may be empty.
func Sections(source []byte) []Section {
	sections := []Section{{}}
	var words strings.Builder
	flush := func() {
		sections[len(sections)-1].Text = strings.Join(strings.Fields(words.String()), " ")
		words.Reset()
	}
	for n := parse(plainMarkdown, source).FirstChild(); n != nil; n = n.NextSibling() {
		heading, ok := n.(*ast.Heading)
		if !ok {
			appendText(&words, n, source)
			continue
		}
		flush()
		sections = append(sections, Section{
			Heading: plain(heading, source),
			Anchor:  anchor(heading), Level: heading.Level,
		})
	}
	flush()
	return sections
}

// Links returns the destinations of a page's links and images, in the order of the page.
func Links(source []byte) []string {
	var links []string
	_ = ast.Walk(parse(plainMarkdown, source),
		func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			switch n := n.(type) {
			case *ast.Link:
				if entering {
					links = append(links, string(n.Destination))
				}
			case *ast.Image:
				if entering {
					links = append(links, string(n.Destination))
				}
			}
			return ast.WalkContinue, nil
		})
	return links
}

// A Fence is a block of code with the language after its opening marks.
type Fence struct {
	Language string // the first word of the info string
	Code     string
	Line     int // of its first line of code in the source, from 1
}

// Fences returns the fenced blocks of a page, in the order of the page, those within
// lists and quotations too.
func Fences(source []byte) []Fence {
	var fences []Fence
	_ = ast.Walk(parse(plainMarkdown, source),
		func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			block, ok := n.(*ast.FencedCodeBlock)
			if !ok || !entering {
				return ast.WalkContinue, nil
			}
			fence := Fence{Language: string(block.Language(source)), Code: lines(block, source)}
			if block.Lines().Len() > 0 {
				fence.Line = 1 + strings.Count(string(source[:block.Lines().At(0).Start]), "\n")
			}
			fences = append(fences, fence)
			return ast.WalkSkipChildren, nil
		})
	return fences
}

func anchor(heading *ast.Heading) string {
	id, _ := heading.AttributeString("id")
	text, _ := id.([]byte)
	return string(text)
}

// plain is the text of a node without marks.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	appendText(&b, n, source)
	return strings.Join(strings.Fields(b.String()), " ")
}

// appendText writes the words of a node. Cells of a table are kept apart by blanks,
// blocks by line breaks.
func appendText(b *strings.Builder, node ast.Node, source []byte) {
	_ = ast.Walk(node, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			b.WriteString(words(n, source))
			return ast.WalkContinue, nil
		}
		if _, isCell := n.(*east.TableCell); isCell {
			b.WriteByte(' ')
		} else if n.Type() == ast.TypeBlock {
			b.WriteByte('\n')
		}
		return ast.WalkContinue, nil
	})
}

// words are those that a node adds to its children's.
func words(n ast.Node, source []byte) string {
	switch n := n.(type) {
	case *ast.Text:
		text := string(n.Value(source))
		if n.HardLineBreak() || n.SoftLineBreak() && !betweenWide(n, source) {
			text += " "
		}
		return text
	case *ast.String:
		return string(n.Value)
	case *ast.AutoLink:
		return string(n.Label(source))
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		return lines(n, source)
	}
	return ""
}

// lines is the text of a block of code.
func lines(n ast.Node, source []byte) string {
	var b strings.Builder
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		b.Write(line.Value(source))
	}
	return b.String()
}
