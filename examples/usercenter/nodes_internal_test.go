//go:build unix

package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// answer registers a user and returns the status and how long that took.
func answer(t *testing.T, p *process, name string) (status int, took time.Duration) {
	t.Helper()
	start := time.Now()
	status, text, err := send(t.Context(), http.DefaultClient, p.url+register, person(name))
	if err != nil {
		t.Fatalf("register = %s %v", text, err)
	}
	return status, time.Since(start)
}

func TestNodeIDsThatAreAllTaken(t *testing.T) {
	t.Parallel()
	// A datacenter of the default layout has 8 numbers.
	env := append(redis(t), "SNOWFLAKE_DATACENTER_ID=3", "LOG_DIR=none", "PLINTH_DRAIN_DELAY=0s")
	var all []*process
	for range 10 {
		all = append(all, launch(t, t.TempDir(), env...).ready()) // makes no id, so takes no number
	}
	for i, p := range all[:8] {
		if status, _ := answer(t, p, "user"); status != http.StatusOK {
			t.Errorf("process %d of 8: register = %d, want 200", i, status)
		}
	}
	status, took := answer(t, all[8], "user")
	if status != http.StatusServiceUnavailable || took < 3*time.Second {
		t.Errorf("the ninth process of eight: register = %d after %v, want 503 after the TTL of 3s",
			status, took)
	}
	for _, p := range all[:2] {
		if err := p.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		p.exit()
	}
	for i, p := range all[8:] {
		status, took := answer(t, p, "later")
		if status != http.StatusOK || took > 30*time.Second {
			t.Errorf("process %d after two were killed: register = %d after %v, want 200 within the TTL", 9+i, status, took)
		}
	}
	for _, p := range all[2:] {
		if code := p.stop(); code != 0 {
			t.Errorf("exit code = %d", code)
		}
	}
	if log := all[8].out.String(); !strings.Contains(log,
		"every node ID is held: all 8 are held in redis") ||
		!strings.Contains(log, "SNOWFLAKE_LAYOUT=wide for all replicas, which has 1024") {
		t.Errorf("the log of the ninth process names no remedy:\n%s", log)
	}
}

func TestReplicasWithDifferentLayouts(t *testing.T) {
	t.Parallel()
	env := append(redis(t), "LOG_DIR=none", "PLINTH_DRAIN_DELAY=0s")
	first := launch(t, t.TempDir(), env...).ready()
	if status, _ := answer(t, first, "first"); status != http.StatusOK {
		t.Errorf("register = %d, want 200", status)
	}
	second := launch(t, t.TempDir(), append(env, "SNOWFLAKE_LAYOUT=wide")...).ready()
	if status, _ := answer(t, second, "second"); status != http.StatusServiceUnavailable {
		t.Errorf("register with another layout = %d, want 503", status)
	}
	if status, _ := answer(t, first, "third"); status != http.StatusOK {
		t.Errorf("register = %d with a replica of another layout, want 200", status)
	}
	first.stop()
	second.stop()
	if log := second.out.String(); !strings.Contains(log,
		"SNOWFLAKE_LAYOUT=wide here, another layout in redis") {
		t.Errorf("the log does not name the layouts:\n%s", log)
	}
}

func TestWarningOfNodeIDsInAContainer(t *testing.T) {
	t.Parallel()
	const warning = "which other containers do not see"
	for _, tc := range []struct {
		name string
		env  []string
		want bool
	}{
		{
			name: "lease through a file",
			env:  []string{"KUBERNETES_SERVICE_HOST=10.0.0.1"}, want: true,
		},
		{
			name: "given number",
			env:  []string{"KUBERNETES_SERVICE_HOST=10.0.0.1", "SNOWFLAKE_NODE_ID=3"},
		},
	} {
		p := launch(t, t.TempDir(),
			append(tc.env, "LOG_DIR=none", "PLINTH_DRAIN_DELAY=0s")...).ready()
		p.stop()
		if got := strings.Contains(p.out.String(), warning); got != tc.want {
			t.Errorf("%s: warned %t, want %t:\n%s", tc.name, got, tc.want, p.out.String())
		}
	}
}

func TestStartOnAnEmptyRedis(t *testing.T) {
	t.Parallel()
	start := time.Now()
	p := launch(t, t.TempDir(), append(redis(t), "SNOWFLAKE_LEASE_TTL=30s", "LOG_DIR=none",
		"PLINTH_DRAIN_DELAY=0s")...).ready()
	if took := time.Since(start); took > 12*time.Second {
		t.Errorf("the start took %v, want it not to wait for node IDs, which takes 16s", took)
	}
	var users sync.WaitGroup
	for i := range 10 {
		users.Go(func() {
			if status, took := answer(t, p, fmt.Sprint("user", i)); status != http.StatusOK {
				t.Errorf("register = %d after %v, want 200 after the wait", status, took)
			}
		})
	}
	waited := make(chan struct{})
	go func() {
		defer close(waited)
		users.Wait()
	}()
	waiting := 0
	for done := false; !done; {
		select {
		case <-waited:
			done = true
		case <-time.After(200 * time.Millisecond):
		}
		status, text, err := send(t.Context(), http.DefaultClient, p.url+"/readyz", nil)
		if err != nil || status != http.StatusOK {
			t.Errorf("/readyz while ids wait = %d %s %v, want 200", status, text, err)
		}
		if strings.Contains(text, `"state":"waiting"`) {
			waiting++
		}
	}
	if waiting == 0 {
		t.Error("/readyz never reported that ids wait")
	}
	if code := p.stop(); code != 0 {
		t.Errorf("exit code = %d:\n%s", code, p.out.String())
	}
}
