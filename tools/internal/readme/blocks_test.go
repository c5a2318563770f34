// Package readme_test does what the repository's README.md promises: its commands, its
// programs and what these print.
package readme_test

import (
	"regexp"
	"strings"
)

// A Block is a fenced block of Markdown.
type Block struct {
	Line     int // of its opening fence, from 1
	Language string
	Text     string // with its last line's end
}

const fence = "```"

// Blocks returns the fenced blocks of a text. One that is not closed goes to the end.
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

// Program returns the first whole program of the blocks, or "".
func Program(blocks []Block) string {
	for _, b := range blocks {
		if b.Language == "go" && strings.HasPrefix(b.Text, "package main\n") {
			return b.Text
		}
	}
	return ""
}

// The parts of an answer that are others each time.
var (
	uuid = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	id   = regexp.MustCompile(`"[0-9]{17,19}"`)
	at   = regexp.MustCompile(`"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)"`)
)

// Normal replaces ids and times by words, and leaves out the white space around the text.
func Normal(text string) string {
	text = uuid.ReplaceAllString(strings.TrimSpace(text), "UUID")
	return at.ReplaceAllString(id.ReplaceAllString(text, `"ID"`), `"TIME"`)
}
