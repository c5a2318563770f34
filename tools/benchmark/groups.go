package main

import (
	"cmp"
	"slices"
	"testing"
)

// Groups that are not in the table of ratios: peers has its own table, docs has only
// claims.
const (
	peersGroup = "peers"
	docsGroup  = "docs"
)

// groups lists the groups of measurements. A group is set up only when it runs.
var groups = []struct {
	name        string
	comparisons func() []comparison
	claims      func() []claim
}{
	{peersGroup, peers, nil},
	{"request", requests, func() []claim {
		return []claim{{
			name: "CPU of a request over loopback, client included (target 1.20)",
			show: loopbackCPU,
		}}
	}},
	{"bind", bindings, nil},
	{"typed", typedHandlers, nil},
	{"ids", ids, idClaims},
	{"cache", caches, nil},
	{"redis", redises, func() []claim {
		return []claim{{name: "CPU of a typed call on Redis (target 1.05)", show: redisCPU}}
	}},
	{"log", logs, nil},
	{"grpc", grpcs, grpcClaims},
	{"sql", sqls, nil},
	{"async", asyncs, nil},
	{"jobs", jobs, nil},
	{docsGroup, func() []comparison { return nil }, docsClaims},
}

// cleanups run in reverse order before the program exits.
var cleanups []func()

func atExit(f func()) { cleanups = append(cleanups, f) }

func cleanUp() {
	for _, f := range slices.Backward(cleanups) {
		f()
	}
}

// must returns v. It panics if err is not nil.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func firstError(errs ...error) error { return cmp.Or(errs...) }

// benchCall measures a call that must not fail.
func benchCall(call func() error) func(*testing.B) {
	return func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := call(); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// repeat measures a call that cannot fail.
func repeat(call func()) func(*testing.B) {
	return benchCall(func() error {
		call()
		return nil
	})
}
