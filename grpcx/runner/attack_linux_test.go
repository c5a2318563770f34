package runner_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	reflectpb "google.golang.org/grpc/reflection/grpc_reflection_v1"

	pb "github.com/plinthgo/plinth/grpcx/internal/testproto"
)

// memory returns a line of /proc/<pid>/status in megabytes.
func (p *process) memory(name string) int {
	p.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		p.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), name+":")
	line, _, _ := strings.Cut(rest, "kB")
	n, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		p.t.Fatal(err)
	}
	return n >> 10
}

// latencies makes calls until ctx is canceled and returns their durations, sorted.
func latencies(
	ctx context.Context, client pb.TestServiceClient,
) (durations []time.Duration, err error) {
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		started := time.Now()
		_, err := client.Unary(context.WithoutCancel(ctx), &pb.TestRequest{Text: "work"})
		if err != nil {
			return durations, err
		}
		durations = append(durations, time.Since(started))
		select {
		case <-ctx.Done():
			slices.Sort(durations)
			return durations, nil
		case <-ticker.C:
		}
	}
}

// withTimeout returns a context with timeout d.
func withTimeout(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// waitMemory waits until the program uses less than limit megabytes and returns its
// memory use.
func (p *process) waitMemory(client pb.TestServiceClient, limit int) int {
	p.t.Helper()
	used := p.memory("VmRSS")
	for end := time.Now().Add(testTimeout); used >= limit && time.Now().Before(end); {
		if _, err := client.Unary(p.t.Context(), &pb.TestRequest{Text: "settle"}); err != nil {
			p.t.Fatal(err)
		}
		used = p.memory("VmRSS")
	}
	return used
}

const (
	memoryLimit      = 256                   // MB during an attack
	latencyLimit     = 50 * time.Millisecond // median of another client
	memoryLimitAfter = 64                    // MB after an attack
)

// attackCase is a target and the number of attacking connections.
type attackCase struct {
	name        string
	method      string
	connections int
}

// run attacks a server, checks its memory, and returns the median latency of another
// client and its limit.
func (a attackCase) run(t *testing.T) (median, limit time.Duration) {
	t.Helper()
	p := startProgram(t, "serve", "GRPC_REFLECTION=true").ready()
	client := p.client()
	baseline, err := latencies(withTimeout(t, 500*time.Millisecond), client)
	if err != nil {
		t.Fatal(err)
	}
	before := p.memory("VmRSS")
	attackers := startProgram(t, "attack",
		victimKey.String()+"="+p.address, methodKey.String()+"="+a.method,
		connectionsKey.String()+"="+strconv.Itoa(a.connections))
	attackers.line("attacking")
	durations, err := latencies(withTimeout(t, 5*time.Second), client)
	if err != nil {
		t.Fatal(err)
	}
	peak, normal := p.memory("VmHWM"), baseline[len(baseline)/2]
	median = durations[len(durations)/2]
	attackers.release()
	attackers.wantExit(0)
	after := p.waitMemory(client, memoryLimitAfter)
	t.Logf("memory: %d MB before, %d MB peak, %d MB after", before, peak, after)
	t.Logf("median call before the attack: %s; %d calls during it: median %s, 99%% %s, worst %s",
		normal, len(durations), median,
		durations[len(durations)*99/100], durations[len(durations)-1])
	if peak >= memoryLimit {
		t.Errorf("peak memory = %d MB, want less than %d MB", peak, memoryLimit)
	}
	if after >= memoryLimitAfter {
		t.Errorf("memory after the attack = %d MB, want less than %d MB",
			after, memoryLimitAfter)
	}
	p.terminate()
	p.wantExit(0)
	return median, max(latencyLimit, 10*normal)
}

// The attackers, the server and other tests share the CPUs. One of three attacks must
// meet the latency limit. Each must meet the memory limit.
func TestWithMaxInflightBytes_Attack(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector multiplies the memory of a process")
	}
	for _, tc := range []attackCase{
		{name: "unary, 1 connection", method: testMethod("Unary"), connections: 1},
		{name: "unary, 10 connections", method: testMethod("Unary"), connections: 10},
		{name: "client stream, 1 connection", method: testMethod("ClientStream"), connections: 1},
		{
			name: "client stream, 10 connections", method: testMethod("ClientStream"),
			connections: 10,
		},
		{
			name:        "reflection, 10 connections",
			method:      reflectpb.ServerReflection_ServerReflectionInfo_FullMethodName,
			connections: 10,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			median, limit := tc.run(t)
			for range 2 {
				if median >= limit {
					median, limit = tc.run(t)
				}
			}
			if median >= limit {
				t.Errorf("median call of another client in the last of three attacks = %s, "+
					"want less than %s", median, limit)
			}
		})
	}
}
