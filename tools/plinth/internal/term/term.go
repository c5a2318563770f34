// Package term prints for people at a terminal, and plainly for everything else.
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

// Printer prints what a command has to say: results on Out, problems and progress on Err.
// Its methods may be called from any goroutine, once Configure has returned.
type Printer struct {
	// In is where answers come from.
	In io.Reader
	// Out takes results, Err everything that is none.
	Out, Err io.Writer
	// JSON is set where the result is to be one JSON document.
	JSON bool
	// Interactive is set where somebody sits there: input and errors are a terminal, it
	// is no CI, and JSON is not asked for.
	Interactive bool
	// Colour is set where Out takes colour.
	Colour bool

	moves bool               // the terminal can take a line back
	style *lipgloss.Renderer // of Out

	mu    sync.Mutex
	drawn bool // a step stands on Err
}

// New returns a printer on these files.
func New(in, out, err *os.File) *Printer {
	p := &Printer{In: in, Out: out, Err: err}
	p.Configure(false, false)
	return p
}

// Configure applies what the command line asks for.
func (p *Printer) Configure(isJSON, noColor bool) {
	p.JSON = isJSON
	p.Interactive = !isJSON && !isCI() && isTerminal(p.In) && isTerminal(p.Err)
	p.moves = !isDumb()
	p.style = lipgloss.NewRenderer(p.Out)
	p.Colour = !isJSON && !noColor && p.style.ColorProfile() != termenv.Ascii
	p.style.SetHasDarkBackground(true) // never asked of the terminal: no colour here depends on it
	p.style.SetColorProfile(termenv.Ascii)
	if p.Colour {
		p.style.SetColorProfile(termenv.ANSI)
	}
}

func isTerminal(stream any) bool {
	f, _ := stream.(*os.File)
	return f != nil && (isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd()))
}

// isCI reports whether this is a run that nobody looks at, by the variable that the known
// services set.
func isCI() bool {
	v, set := xenv.GetEnv("CI")
	return set && v != "false" && v != "0"
}

// isDumb reports whether the terminal knows nothing but lines.
func isDumb() bool {
	v, _ := xenv.GetEnv("TERM")
	return v == "dumb"
}

// width is the number of columns of the terminal that Out is, or 0.
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

// WriteJSON writes v as one indented document.
func (p *Printer) WriteJSON(v any) error {
	e := json.NewEncoder(p.Out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// Printf writes a part of the result as it stands.
func (p *Printer) Printf(format string, args ...any) {
	_, _ = fmt.Fprintf(p.Out, format, args...)
}

// Done writes a line about what has been done. Like every line of the result it is left
// out of JSON.
func (p *Printer) Done(format string, args ...any) { p.line(Good, "✓ ", format, args) }

// Note writes a line of the result.
func (p *Printer) Note(format string, args ...any) { p.line(Plain, "", format, args) }

// Warn writes a line to Err, whatever the form of the result.
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

// Step shows what is being done, on Err and only to somebody who sits there, until the
// next line of any kind.
func (p *Printer) Step(format string, args ...any) {
	if !p.moves || !p.Interactive {
		return
	}
	text, _, _ := strings.Cut(fmt.Sprintf(format, args...), "\n")
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = fmt.Fprintf(p.Err, "\r\x1b[K%s …", text)
	p.drawn = true
}

// Clear takes the step away.
func (p *Printer) Clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.drawn {
		_, _ = io.WriteString(p.Err, "\r\x1b[K")
		p.drawn = false
	}
}

// IsTerminal reports whether results go to a terminal.
func (p *Printer) IsTerminal() bool { return isTerminal(p.Out) }
