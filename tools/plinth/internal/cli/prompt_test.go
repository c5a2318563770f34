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

// screen collects the output of a terminal.
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

// waitFor waits for want on the screen and discards the output up to it.
func (s *screen) waitFor(t *testing.T, want string) {
	t.Helper()
	for timeout := time.After(20 * time.Second); ; {
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
		case <-timeout:
			t.Fatalf("the screen lacks %q:\n%q", want, text)
		}
	}
}

func TestNew_Prompt(t *testing.T) {
	t.Setenv("CI", "")
	t.Setenv("TERM", "xterm")
	t.Chdir(t.TempDir())
	terminal, program, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo terminal: %v", err)
	}
	t.Cleanup(func() { _, _ = terminal.Close(), program.Close() })
	if err := pty.Setsize(terminal, &pty.Winsize{Rows: 60, Cols: 120}); err != nil {
		t.Fatal(err)
	}
	shown := &screen{more: make(chan struct{}, 1)}
	go copyScreen(shown, terminal)

	code := make(chan int, 1)
	go func() {
		code <- cli.Run(t.Context(), term.New(program, program, program), versions(),
			[]string{"new", "--db", "none", "--no-tidy"})
	}()
	shown.waitFor(t, "Module path")
	press(t, terminal, "example.com/asked\r")
	shown.waitFor(t, "Cache")
	press(t, terminal, "\x1b[B") // cursor down
	shown.waitFor(t, "Redis")
	press(t, terminal, "\r")
	shown.waitFor(t, "Features")
	press(t, terminal, " ") // selects the first feature, gRPC
	shown.waitFor(t, "gRPC")
	press(t, terminal, "\r")
	select {
	case got := <-code:
		if got != 0 {
			t.Fatalf("exit code = %d:\n%q", got, shown.text.String())
		}
	case <-time.After(20 * time.Second):
		t.Fatalf("timeout; screen:\n%q", shown.text.String())
	}
	checkContains(t, "asked/plugins.go", "cacheplugins/redis")
	checkContains(t, "asked/internal/service/note.go", "notev1")
	if _, err := os.Stat("asked/internal/migration"); err == nil {
		t.Error("--db none was ignored")
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
