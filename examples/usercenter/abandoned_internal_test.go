//go:build unix

package main

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"
)

// The comparison is with a single login on the same machine: 300 logins that are computed
// although their clients have gone delay the next one by 300 hashes, divided by the
// processors.
func TestAbandonedLoginsDoNotDelayTheNextOne(t *testing.T) {
	const abandoned, mostHashes = 300, 20
	p := launch(t, t.TempDir(), "GOMAXPROCS=2").ready()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: abandoned}}
	t.Cleanup(client.CloseIdleConnections)
	ada := map[string]string{
		"username": "ada", "email": "ada@example.com",
		"password": "correct horse",
	}
	if status, text, err := send(t.Context(), client, p.url+"/api/v1/user/register",
		ada); err != nil || status >= 300 {
		t.Fatalf("register = %d %s, %v", status, text, err)
	}
	// The answer is 503 until the service has noticed that enough clients have gone; a
	// client then tries again.
	logIn := func() time.Duration {
		began := time.Now()
		for {
			switch status, text, err := send(t.Context(), client, p.url+login, ada); {
			case err == nil && status == http.StatusOK:
				return time.Since(began)
			case err != nil || status != http.StatusServiceUnavailable ||
				time.Since(began) > time.Minute:
				t.Fatalf("login = %d %s, %v; want 200", status, text, err)
			}
		}
	}
	single := max(logIn(), logIn(), logIn())

	ctx, abandon := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	var mu sync.Mutex
	statuses := map[int]int{}
	for range abandoned {
		clients.Go(func() {
			status, _, _ := send(ctx, client, p.url+login, ada) // 0 if abandoned
			mu.Lock()
			statuses[status]++
			mu.Unlock()
		})
	}
	time.AfterFunc(3*single, abandon)
	clients.Wait()
	took := logIn()
	t.Logf("a login takes %s alone and %s after %d abandoned ones, of which by status: %v",
		single, took, abandoned, statuses)
	if took > mostHashes*single {
		t.Errorf("the login took %s, want less than %d times %s", took, mostHashes, single)
	}
	for status := range statuses {
		if status != 0 && status != http.StatusOK && status != http.StatusServiceUnavailable {
			t.Errorf("%d logins answered %d, want 200 or 503", statuses[status], status)
		}
	}
	if code := p.stop(); code != 0 {
		t.Errorf("exit code %d:\n%s", code, p.out.String())
	}
}
