//go:build unix

package cli_test

import (
	"bytes"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/plinthgo/plinth/tools/plinth/internal/cli"
	"github.com/plinthgo/plinth/tools/plinth/internal/term"
)

// screen is what a terminal shows.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{}
}

// Write implements io.Writer.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.more <- struct{}{}:
	default:
	}
	return s.text.Write(p)
}

// take waits until the screen shows a text, and forgets it.
func (s *screen) take(t *testing.T, want string) {
	t.Helper()
	for late := time.After(20 * time.Second); ; {
		s.mu.Lock()
		text := s.text.String()
		if _, rest, ok := strings.Cut(text, want); ok {
			s.text.Reset()
			s.text.WriteString(rest)
			s.mu.Unlock()
			return
		}
		s.mu.Unlock()
		select {
		case <-s.more:
		case <-late:
			t.Fatalf("the screen lacks %q:\n%q", want, text)
		}
	}
}

func TestNewAsksAtATerminalForWhatNoFlagSays(t *testing.T) {
	t.Setenv("CI", "")
	t.Setenv("TERM", "xterm")
	t.Chdir(t.TempDir())
	person, program, err := pty.Open()
	if err != nil {
		t.Skipf("no terminal can be had: %v", err)
	}
	t.Cleanup(func() { _, _ = person.Close(), program.Close() })
	if err := pty.Setsize(person, &pty.Winsize{Rows: 60, Cols: 120}); err != nil {
		t.Fatal(err)
	}
	shown := &screen{more: make(chan struct{}, 1)}
	go copyScreen(shown, person)

	code := make(chan int, 1)
	go func() {
		code <- cli.Run(t.Context(), term.New(program, program, program), versions(),
			[]string{"new", "--db", "none", "--no-tidy"})
	}()
	shown.take(t, "Module path")
	press(t, person, "example.com/asked\r")
	shown.take(t, "Cache")
	press(t, person, "\x1b[B") // one down
	shown.take(t, "Redis")
	press(t, person, "\r")
	shown.take(t, "What else")
	press(t, person, " ") // the first one
	shown.take(t, "gRPC")
	press(t, person, "\r")
	select {
	case got := <-code:
		if got != 0 {
			t.Fatalf("exit code = %d:\n%q", got, shown.text.String())
		}
	case <-time.After(20 * time.Second):
		t.Fatalf("it still asks:\n%q", shown.text.String())
	}
	holds(t, "asked/plugins.go", "cacheplugins/redis")
	holds(t, "asked/internal/service/note.go", "notev1")
	if _, err := os.Stat("asked/internal/migration"); err == nil {
		t.Error("it did not take --db none")
	}
}

func copyScreen(to *screen, from *os.File) {
	buffer := make([]byte, 4096)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			_, _ = to.Write(buffer[:n])
		}
		if err != nil {
			return
		}
	}
}

func press(t *testing.T, terminal *os.File, keys string) {
	t.Helper()
	if _, err := terminal.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}
