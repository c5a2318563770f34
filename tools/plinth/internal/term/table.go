package term

import (
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/lipgloss/table"
)

// Tone is how a text sounds; a terminal with colour shows it.
type Tone uint8

// The tones.
const (
	Plain Tone = iota
	Good
	Careful
	Bad
	Faint
	Strong
)

// Paint gives text its tone where Out takes colour.
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
	case Careful:
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
	gap = 2 // the space between two columns
	// the narrowest that the last column becomes; a terminal that has no room for it
	// wraps by itself
	leastWidth = 20
)

// Table writes rows below headers, one a line, with columns aligned by spaces. At a
// terminal there is a rule below the headers, and the last column, which holds sentences,
// wraps into the width that the others leave.
func (p *Printer) Table(headers []string, rows [][]string) {
	p.Clear()
	last, rest := len(headers)-1, p.width()
	widest := make([]int, len(headers))
	for _, row := range append(rows, headers) {
		for i, cell := range row {
			row[i] = strings.Join(strings.Fields(cell), " ") // neither a line break nor a tab
			widest[i] = max(widest[i], lipgloss.Width(row[i]))
		}
	}
	for _, width := range widest[:last] {
		rest -= width + gap
	}
	wraps := rest >= leastWidth && rest < widest[last]
	text := table.New().
		Border(lipgloss.NormalBorder()).BorderStyle(p.toned(Faint)).BorderHeader(p.IsTerminal()).
		BorderTop(false).BorderBottom(false).BorderLeft(false).BorderRight(false).BorderColumn(
		false).
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
