package runner_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"
)

// process is a replica that runs.
type process struct {
	cmd    *exec.Cmd
	stdin  io.Closer
	stderr *lines
}

func (r replica) start(t *testing.T) *process {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: exec.CommandContext(t.Context(), os.Args[0]), stderr: &lines{}}
	p.cmd.Env = append(os.Environ(), replicaKey.String()+"="+string(text))
	p.cmd.Stderr = p.stderr
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// stop ends a replica in order.
func (p *process) stop(t *testing.T) {
	t.Helper()
	_ = p.stdin.Close()
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("a replica: %v\n%s", err, p.stderr)
	}
	if text := p.stderr.String(); text != "" {
		t.Logf("a replica says:\n%s", text[:min(len(text), 4000)])
	}
}

// stopAll ends replicas in order, at the same time.
func stopAll(t *testing.T, all []*process) {
	t.Helper()
	for _, p := range all {
		_ = p.stdin.Close()
	}
	for _, p := range all {
		p.stop(t)
	}
}

// kill ends a replica at once, as kill -9 does.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
	_ = p.stdin.Close()
}

// said returns what replicas say of ticks.
func said(all []*process) map[string]string {
	told := map[string]string{}
	for _, p := range all {
		for _, line := range p.stderr.with("tick ") {
			at, err := time.Parse(time.RFC3339, fmt.Sprint(line["tick"]))
			if err == nil {
				told[fmt.Sprintf("%s@%d", line["job"], at.Unix())] += fmt.Sprint(line["msg"],
					line["error"])
			}
		}
	}
	return told
}
