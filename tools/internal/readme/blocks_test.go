// Package readme_test runs the commands and programs of the repository's README.md and
// compares their output with the output that it shows.
package readme_test

import (
	"regexp"
	"strings"
)

// A Block is a fenced block of Markdown.
type Block struct {
	Line     int // line of the opening fence, from 1
	Language string
	Text     string // content, including the last line feed
}

const fence = "```"

// Blocks returns the fenced blocks of a text. A block that is not closed extends to the
// end of the text.
func Blocks(text string) []Block {
	var blocks []Block
	open := false
	number := 0
	for line := range strings.Lines(text) {
		number++
		language, mark := strings.CutPrefix(strings.TrimRight(line, "\n"), fence)
		switch {
		case mark && open:
			open = false
		case mark:
			open = true
			blocks = append(blocks, Block{Line: number, Language: language})
		case open:
			blocks[len(blocks)-1].Text += line
		}
	}
	return blocks
}

// Program returns the first complete program of the blocks, or "".
func Program(blocks []Block) string {
	for _, b := range blocks {
		if b.Language == "go" && strings.HasPrefix(b.Text, "package main\n") {
			return b.Text
		}
	}
	return ""
}

// These parts of a response differ in every run.
var (
	uuid      = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	id        = regexp.MustCompile(`"[0-9]{17,19}"`)
	timestamp = regexp.MustCompile(`"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)"`)
)

// Normalize replaces IDs and times with placeholders and trims white space.
func Normalize(text string) string {
	text = uuid.ReplaceAllString(strings.TrimSpace(text), "UUID")
	return timestamp.ReplaceAllString(id.ReplaceAllString(text, `"ID"`), `"TIME"`)
}

var (
	clock    = regexp.MustCompile(`^\d\d:\d\d:\d\d\.\d{3}`)
	variable = regexp.MustCompile(`(address|app|at|took|version)=(http\S+|"[^"]*"|\S+)`)
	spaces   = regexp.MustCompile(` +`)
)

// NormalizeLog replaces the values that differ in every run in a console log line.
func NormalizeLog(line string) string {
	line = clock.ReplaceAllString(strings.TrimSpace(line), "TIME")
	return spaces.ReplaceAllString(variable.ReplaceAllString(line, "$1=VALUE"), " ")
}
