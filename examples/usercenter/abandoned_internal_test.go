//go:build unix

package main

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"
)

// TestLogin_Abandoned compares a login after abandoned logins with a single login on the
// same machine. If the service computed all abandoned logins, the login would wait for
// 300 hashes divided by the number of processors.
func TestLogin_Abandoned(t *testing.T) {
	const abandoned, mostHashes = 300, 20
	p := launch(t, t.TempDir(), "GOMAXPROCS=2").ready()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: abandoned}}
	t.Cleanup(client.CloseIdleConnections)
	ada := map[string]string{
		"username": "ada", "email": "ada@example.com", "password": "correct horse",
	}
	status, text, err := send(t.Context(), client, p.url+"/api/v1/user/register", ada)
	if err != nil || status >= 300 {
		t.Fatalf("register = %d %s, %v", status, text, err)
	}
	// The service returns 503 until it has noticed enough closed connections, so the
	// client retries.
	logIn := func() time.Duration {
		start := time.Now()
		for {
			switch status, text, err := send(t.Context(), client, p.url+login, ada); {
			case err == nil && status == http.StatusOK:
				return time.Since(start)
			case err != nil || status != http.StatusServiceUnavailable ||
				time.Since(start) > time.Minute:
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
	duration := logIn()
	t.Logf("a login: %s, after %d abandoned logins: %s; statuses: %v",
		single, abandoned, duration, statuses)
	if duration > mostHashes*single {
		t.Errorf("login after %s, want less than %d times %s", duration, mostHashes, single)
	}
	for status := range statuses {
		if status != 0 && status != http.StatusOK && status != http.StatusServiceUnavailable {
			t.Errorf("%d logins = %d, want 200 or 503", statuses[status], status)
		}
	}
	if code := p.stop(); code != 0 {
		t.Errorf("exit code %d:\n%s", code, p.out.String())
	}
}
