package term

import (
	"strings"

	"github.com/charmbracelet/lipgloss"
)

// Wrap breaks a text into the width that a terminal has right of indent columns, each line but the first behind as many
// spaces. Elsewhere the text stays as it is.
func (p *Printer) Wrap(indent int, text string) string {
	rest := p.width() - indent
	if rest < leastWidth || lipgloss.Width(text) <= rest {
		return text
	}
	wrapped := lipgloss.NewStyle().Width(rest).Render(text)
	lines := strings.Split(wrapped, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n"+strings.Repeat(" ", indent))
}
