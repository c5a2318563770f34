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

// measureRegister registers a user and returns the status and the duration.
func measureRegister(t *testing.T, p *process, name string) (status int, duration time.Duration) {
	t.Helper()
	start := time.Now()
	status, text, err := send(t.Context(), http.DefaultClient, p.url+register, person(name))
	if err != nil {
		t.Fatalf("register = %s %v", text, err)
	}
	return status, time.Since(start)
}

func TestNodeID(t *testing.T) {
	t.Parallel()

	t.Run("waits while all node IDs are leased", func(t *testing.T) {
		t.Parallel()
		// A datacenter of the default layout has 8 node IDs.
		env := append(redis(t), "SNOWFLAKE_DATACENTER_ID=3", "LOG_DIR=none",
			"PLINTH_DRAIN_DELAY=0s")
		var all []*process
		for range 10 {
			// a process leases a node ID when it generates its first ID
			all = append(all, launch(t, t.TempDir(), env...).ready())
		}
		for i, p := range all[:8] {
			if status, _ := measureRegister(t, p, "user"); status != http.StatusOK {
				t.Errorf("process %d of 8: register = %d, want 200", i, status)
			}
		}
		status, duration := measureRegister(t, all[8], "user")
		if status != http.StatusServiceUnavailable || duration < 3*time.Second {
			t.Errorf("process 9 of 8: register = %d after %v, want 503 after the TTL of 3s",
				status, duration)
		}
		for _, p := range all[:2] {
			if err := p.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			p.exit()
		}
		for i, p := range all[8:] {
			status, duration := measureRegister(t, p, "later")
			if status != http.StatusOK || duration > 30*time.Second {
				t.Errorf("process %d after two were killed: register = %d after %v, want 200 within the TTL", 9+i, status, duration)
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
			t.Errorf("the log of process 9 contains no fix:\n%s", log)
		}
	})

	t.Run("rejects another layout", func(t *testing.T) {
		t.Parallel()
		env := append(redis(t), "LOG_DIR=none", "PLINTH_DRAIN_DELAY=0s")
		first := launch(t, t.TempDir(), env...).ready()
		if status, _ := measureRegister(t, first, "first"); status != http.StatusOK {
			t.Errorf("register = %d, want 200", status)
		}
		second := launch(t, t.TempDir(), append(env, "SNOWFLAKE_LAYOUT=wide")...).ready()
		status, _ := measureRegister(t, second, "second")
		if status != http.StatusServiceUnavailable {
			t.Errorf("register with another layout = %d, want 503", status)
		}
		if status, _ := measureRegister(t, first, "third"); status != http.StatusOK {
			t.Errorf("register next to a replica with another layout = %d, want 200", status)
		}
		first.stop()
		second.stop()
		if log := second.out.String(); !strings.Contains(log,
			"SNOWFLAKE_LAYOUT=wide here, another layout in redis") {
			t.Errorf("the log does not contain the layouts:\n%s", log)
		}
	})

	t.Run("warns about a lease file in a container", func(t *testing.T) {
		t.Parallel()
		const warning = "that other containers do not share"
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
				name: "configured node ID",
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
	})
}

func TestStartup_EmptyRedis(t *testing.T) {
	t.Parallel()
	start := time.Now()
	p := launch(t, t.TempDir(), append(redis(t), "SNOWFLAKE_LEASE_TTL=30s", "LOG_DIR=none",
		"PLINTH_DRAIN_DELAY=0s")...).ready()
	if duration := time.Since(start); duration > 12*time.Second {
		t.Errorf("startup after %v, want no wait for node IDs, which is 16s", duration)
	}
	var users sync.WaitGroup
	for i := range 10 {
		users.Go(func() {
			status, duration := measureRegister(t, p, fmt.Sprint("user", i))
			if status != http.StatusOK {
				t.Errorf("register = %d after %v, want 200 after the wait", status, duration)
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
			t.Errorf("/readyz while IDs wait = %d %s %v, want 200", status, text, err)
		}
		if strings.Contains(text, `"state":"waiting"`) {
			waiting++
		}
	}
	if waiting == 0 {
		t.Error("/readyz never reported that IDs wait")
	}
	if code := p.stop(); code != 0 {
		t.Errorf("exit code = %d:\n%s", code, p.out.String())
	}
}
