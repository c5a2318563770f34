package main

import (
	"runtime"
	"slices"
	"testing"
)

func TestIsAvailable(t *testing.T) {
	if !isAvailable(t.Context(), runtime.Version()) {
		t.Errorf("isAvailable(%s) = false for the running version", runtime.Version())
	}
	t.Setenv("GOPROXY", "off")
	t.Setenv("GOMODCACHE", t.TempDir())
	if isAvailable(t.Context(), "go1.999.0") {
		t.Error("isAvailable = true for a version that does not exist")
	}
}

func TestNextEnv(t *testing.T) {
	got := nextEnv("go1.27.4", []string{
		"HOME=/home/a", "GOTOOLCHAIN=local",
		"PLINTH_TEST_REQUIRE=postgres", "PLINTH_TEST_REDIS_URL=x",
	})
	if want := []string{"GOTOOLCHAIN=go1.27.4", "HOME=/home/a"}; !slices.Equal(got, want) {
		t.Errorf("environment = %q, want %q", got, want)
	}
}
