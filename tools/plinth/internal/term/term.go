// Package term prints styled output to terminals and plain text to other writers.
package term

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/term"
	"github.com/mattn/go-isatty"
	"github.com/muesli/termenv"

	"github.com/plinthgo/plinth/core/defined/xenv"
)

// Printer prints results to Out, and errors and progress to Err. After Configure has
// returned, its methods are safe for concurrent use.
type Printer struct {
	// In is the input of prompts.
	In io.Reader
	// Out receives results. Err receives everything else.
	Out, Err io.Writer
	// JSON makes the result a single JSON document.
	JSON bool
	// Interactive reports whether prompts and progress are possible: input and errors are
	// a terminal, CI is not set, and JSON is off.
	Interactive bool
	// Colour reports whether Out supports color.
	Colour bool

	canErase bool               // the terminal can erase a line
	style    *lipgloss.Renderer // for Out

	mu      sync.Mutex
	hasStep bool // Err shows a step
}

// New returns a printer for the given files.
func New(in, out, err *os.File) *Printer {
	p := &Printer{In: in, Out: out, Err: err}
	p.Configure(false, false)
	return p
}

// Configure applies the flags of the command line.
func (p *Printer) Configure(isJSON, noColor bool) {
	p.JSON = isJSON
	p.Interactive = !isJSON && !isCI() && isTerminal(p.In) && isTerminal(p.Err)
	p.canErase = !isDumb()
	p.style = lipgloss.NewRenderer(p.Out)
	p.Colour = !isJSON && !noColor && p.style.ColorProfile() != termenv.Ascii
	p.style.SetHasDarkBackground(true) // avoids a query to the terminal; no color depends on it
	p.style.SetColorProfile(termenv.Ascii)
	if p.Colour {
		p.style.SetColorProfile(termenv.ANSI)
	}
}

func isTerminal(stream any) bool {
	f, _ := stream.(*os.File)
	return f != nil && (isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd()))
}

// isCI reports whether the program runs in CI. CI services set the variable CI.
func isCI() bool {
	v, set := xenv.GetEnv("CI")
	return set && v != "false" && v != "0"
}

// isDumb reports whether the terminal does not support escape sequences.
func isDumb() bool {
	v, _ := xenv.GetEnv("TERM")
	return v == "dumb"
}

// width returns the number of columns of the terminal, or 0 if Out is not a terminal.
func (p *Printer) width() int {
	f, _ := p.Out.(*os.File)
	if f == nil {
		return 0
	}
	columns, _, err := term.GetSize(f.Fd())
	if err != nil {
		return 0
	}
	return columns
}

// WriteJSON writes v as an indented document.
func (p *Printer) WriteJSON(v any) error {
	e := json.NewEncoder(p.Out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// Printf writes a part of the result.
func (p *Printer) Printf(format string, args ...any) {
	_, _ = fmt.Fprintf(p.Out, format, args...)
}

// Done prints a completed action. It prints nothing if JSON is set.
func (p *Printer) Done(format string, args ...any) { p.line(Good, "✓ ", format, args) }

// Note prints a line of the result. It prints nothing if JSON is set.
func (p *Printer) Note(format string, args ...any) { p.line(Plain, "", format, args) }

// Warn prints a warning to Err, also if JSON is set.
func (p *Printer) Warn(format string, args ...any) {
	p.Clear()
	_, _ = fmt.Fprintf(p.Err, "warning: "+format+"\n", args...)
}

func (p *Printer) line(tone Tone, mark, format string, args []any) {
	if p.JSON {
		return
	}
	p.Clear()
	if !p.IsTerminal() {
		mark = ""
	}
	_, _ = fmt.Fprintf(p.Out, "%s%s\n", p.Paint(tone, mark), fmt.Sprintf(format, args...))
}

// Step shows a progress message on an interactive terminal. The next line of output
// replaces it.
func (p *Printer) Step(format string, args ...any) {
	if !p.canErase || !p.Interactive {
		return
	}
	text, _, _ := strings.Cut(fmt.Sprintf(format, args...), "\n")
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = fmt.Fprintf(p.Err, "\r\x1b[K%s …", text)
	p.hasStep = true
}

// Clear erases the progress message.
func (p *Printer) Clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hasStep {
		_, _ = io.WriteString(p.Err, "\r\x1b[K")
		p.hasStep = false
	}
}

// IsTerminal reports whether Out is a terminal.
func (p *Printer) IsTerminal() bool { return isTerminal(p.Out) }
