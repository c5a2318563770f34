package main_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"
)

func TestDocs_Stdio(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := command(ctx, t.TempDir(), nil, "docs")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	call := func(message string) (response struct {
		Result struct {
			ServerInfo struct{ Name string }
			Tools      []struct{ Name string }
		}
	},
	) {
		t.Helper()
		if _, err := fmt.Fprintln(in, message); err != nil {
			t.Fatal(err)
		}
		if !lines.Scan() {
			t.Fatalf("no response: %v", lines.Err())
		}
		if err := json.Unmarshal(lines.Bytes(), &response); err != nil {
			t.Fatal(err)
		}
		return response
	}
	initialized := call(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`)
	if initialized.Result.ServerInfo.Name == "" {
		t.Errorf("initialize: %s", lines.Bytes())
	}
	_, err = fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	if err != nil {
		t.Fatal(err)
	}
	if list := call(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`); len(list.Result.Tools) == 0 {
		t.Errorf("tools/list: %s", lines.Bytes())
	}
	_ = in.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("exit after the client closed the input: %v, want 0", err)
	}
}
