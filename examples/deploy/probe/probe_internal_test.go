package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestCheck(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/readyz" {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(server.Close)
	for _, tc := range []struct {
		name string
		args []string
		want bool
	}{
		{name: "200", args: []string{server.URL + "/readyz"}, want: true},
		{name: "503", args: []string{server.URL + "/draining"}, want: false},
		{name: "no listener", args: []string{"http://127.0.0.1:1/readyz"}, want: false},
		{name: "no URL", args: nil, want: false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if err := check(tc.args); (err == nil) != tc.want {
				t.Errorf("check(%q) = %v, want success %t", tc.args, err, tc.want)
			}
		})
	}
}
