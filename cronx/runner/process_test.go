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

// process is a running replica.
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

// stop stops a replica gracefully.
func (p *process) stop(t *testing.T) {
	t.Helper()
	_ = p.stdin.Close()
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("replica: %v\n%s", err, p.stderr)
	}
	if text := p.stderr.String(); text != "" {
		t.Logf("replica log:\n%s", text[:min(len(text), 4000)])
	}
}

// stopAll stops replicas gracefully, in parallel.
func stopAll(t *testing.T, all []*process) {
	t.Helper()
	for _, p := range all {
		_ = p.stdin.Close()
	}
	for _, p := range all {
		p.stop(t)
	}
}

// kill kills a replica with SIGKILL.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
	_ = p.stdin.Close()
}

// logsOf returns the log messages of replicas about ticks, by job and tick.
func logsOf(all []*process) map[string]string {
	logged := map[string]string{}
	for _, p := range all {
		for _, line := range p.stderr.with("tick ") {
			at, err := time.Parse(time.RFC3339, fmt.Sprint(line["tick"]))
			if err == nil {
				logged[fmt.Sprintf("%s@%d", line["job"], at.Unix())] += fmt.Sprint(line["msg"],
					line["error"])
			}
		}
	}
	return logged
}
