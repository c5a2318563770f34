package cli

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"

	"github.com/plinthgo/plinth/tools/plinth/internal/term"
)

// tidy runs go mod tidy in dir. If it fails, files that were written before remain.
func tidy(ctx context.Context, p *term.Printer, dir string) error {
	p.Step("running go mod tidy")
	defer p.Clear()
	cmd := exec.CommandContext(ctx, "go", "mod", "tidy")
	cmd.Dir = dir
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go mod tidy: %w; the files were written; retry the command in %s\n%s",
			err, dir, tail(out.Bytes()))
	}
	return nil
}

// tail returns the last lines of the output.
func tail(out []byte) []byte {
	const maxLines = 20
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	return bytes.Join(lines[max(0, len(lines)-maxLines):], []byte("\n"))
}
