package term

import (
	"io"
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

// Table writes rows below headers: with a rule and wrapped to its width at a terminal, else one row a line, columns aligned
// with spaces. A header of "" is a column without a name.
func (p *Printer) Table(headers []string, rows [][]string) {
	p.Clear()
	if isTerminal(p.out) {
		_, _ = io.WriteString(p.Out, p.drawTable(headers, rows)+"\n")
		return
	}
	_, _ = io.WriteString(p.Out, plainTable(headers, rows))
}

// gap is the space between two columns.
const gap = 2

// plainTable has one row a line, and columns aligned with spaces. Colours, which somebody may have forced, take no room.
func plainTable(headers []string, rows [][]string) string {
	all := make([][]string, 0, len(rows)+1)
	for _, row := range append([][]string{headers}, rows...) {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = strings.Join(strings.Fields(cell), " ") // neither a line break nor a tab
		}
		all = append(all, cells)
	}
	widths := make([]int, len(headers))
	for i := range headers {
		widths[i] = columnWidth(i, all[0], all[1:])
	}
	var b strings.Builder
	for _, row := range all {
		for i, cell := range row {
			b.WriteString(cell)
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-lipgloss.Width(cell)+gap))
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// leastWidth is the narrowest that the last column becomes; a terminal that has no room for it wraps by itself.
const leastWidth = 20

// drawTable leaves every column as wide as it wants to be, and wraps the last one, which holds sentences, into the rest.
func (p *Printer) drawTable(headers []string, rows [][]string) string {
	last, rest := len(headers)-1, p.width()
	for i := range last {
		rest -= columnWidth(i, headers, rows) + gap
	}
	wraps := rest >= leastWidth && rest < columnWidth(last, headers, rows)
	return table.New().
		Border(lipgloss.NormalBorder()).BorderStyle(p.toned(Faint)).
		BorderTop(false).BorderBottom(false).BorderLeft(false).BorderRight(false).BorderColumn(false).
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
}

// columnWidth is the width of the widest cell, colours left out.
func columnWidth(i int, headers []string, rows [][]string) int {
	widest := lipgloss.Width(headers[i])
	for _, row := range rows {
		if i < len(row) {
			widest = max(widest, lipgloss.Width(row[i]))
		}
	}
	return widest
}
