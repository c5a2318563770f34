package term

import (
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/lipgloss/table"
)

// Tone is the style of a text on a color terminal.
type Tone uint8

// Tones.
const (
	Plain Tone = iota
	Good
	Caution
	Bad
	Faint
	Strong
)

// Paint styles text if Out supports color.
func (p *Printer) Paint(tone Tone, text string) string {
	if !p.Colour || text == "" {
		return text
	}
	return p.toned(tone).Render(text)
}

func (p *Printer) toned(tone Tone) lipgloss.Style {
	s := p.style.NewStyle()
	switch tone {
	case Good:
		return s.Foreground(lipgloss.Color("2"))
	case Caution:
		return s.Foreground(lipgloss.Color("3"))
	case Bad:
		return s.Foreground(lipgloss.Color("1")).Bold(true)
	case Faint:
		return s.Faint(true)
	case Strong:
		return s.Bold(true)
	case Plain:
	}
	return s
}

const (
	gap = 2 // spaces between two columns
	// The minimum width of the last column. On a narrower terminal the terminal wraps
	// lines.
	minWidth = 20
)

// Table prints aligned columns. On a terminal, a rule separates the headers, and the last
// column wraps at the width of the terminal.
func (p *Printer) Table(headers []string, rows [][]string) {
	p.Clear()
	last, rest := len(headers)-1, p.width()
	widest := make([]int, len(headers))
	for _, row := range append(rows, headers) {
		for i, cell := range row {
			row[i] = strings.Join(strings.Fields(cell), " ") // removes line breaks and tabs
			widest[i] = max(widest[i], lipgloss.Width(row[i]))
		}
	}
	for _, width := range widest[:last] {
		rest -= width + gap
	}
	wraps := rest >= minWidth && rest < widest[last]
	text := table.New().
		Border(lipgloss.NormalBorder()).BorderStyle(p.toned(Faint)).BorderHeader(p.IsTerminal()).
		BorderTop(false).BorderBottom(false).BorderLeft(false).BorderRight(false).
		BorderColumn(false).
		Headers(headers...).Rows(rows...).
		StyleFunc(func(row, column int) lipgloss.Style {
			tone := Plain
			if row == table.HeaderRow {
				tone = Strong
			}
			s := p.toned(tone)
			switch {
			case column < last:
				return s.PaddingRight(gap)
			case wraps:
				return s.Width(rest)
			}
			return s
		}).Render()
	for line := range strings.Lines(text) {
		p.Printf("%s\n", strings.TrimRight(line, " \n"))
	}
}
