package main

import (
	"bytes"
	"net/http"
	"os"
	"testing"

	"github.com/plinthgo/plinth/core/major/plinthtest"
	"github.com/plinthgo/plinth/core/major/xoption"
)

func TestHello(t *testing.T) {
	t.Parallel()
	app := plinthtest.New(t, xoption.WithRoute(routes))
	var got struct{ Name string }
	r := app.Request(http.MethodGet, "/hello/Ada", nil)
	if r.Into(&got); r.Status() != http.StatusOK || got.Name != "Ada" || r.Message() != "Hello" {
		t.Errorf("response = %d %s", r.Status(), r.Body())
	}
}

func TestMain_Length(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte("\n")); n >= 30 {
		t.Errorf("main.go has %d lines, want fewer than 30", n)
	}
}
