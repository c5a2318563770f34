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

// latencies makes calls until ctx ends and returns how long each took.
func latencies(ctx context.Context, client pb.TestServiceClient) (took []time.Duration, err error) {
	for tick := time.NewTicker(20 * time.Millisecond); ; {
		began := time.Now()
		if _, err := client.Unary(context.WithoutCancel(ctx), &pb.TestRequest{Text: "work"}); err != nil {
			return took, err
		}
		took = append(took, time.Since(began))
		select {
		case <-ctx.Done():
			tick.Stop()
			slices.Sort(took)
			return took, nil
		case <-tick.C:
		}
	}
}

// The requirement is 256 MB, and 50 ms on an idle machine. The attackers share the processors with the server and the
// other caller here, so the assertion about the time has an order of magnitude of room.
func TestUnfinishedMessagesBoundMemoryAndLatency(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector multiplies the memory of a process")
	}
	const (
		mostMemory  = 256
		mostLatency = 500 * time.Millisecond
	)
	for _, connections := range []int{1, 10} {
		t.Run(fmt.Sprintf("%d connections", connections), func(t *testing.T) {
			p := play(t, "serve").ready()
			client := p.client()
			if _, err := client.Unary(t.Context(), &pb.TestRequest{Text: "work"}); err != nil {
				t.Fatal(err)
			}
			before := p.memory("VmRSS")
			ctx, cancel := context.WithTimeout(t.Context(), 6*time.Second)
			defer cancel()
			attackers := play(t, "attack", victimKey.String()+"="+p.address, connectionsKey.String()+"="+strconv.Itoa(connections))
			attackers.line("attacking")
			took, err := latencies(ctx, client)
			if err != nil {
				t.Fatal(err)
			}
			peak, median, worst := p.memory("VmHWM"), took[len(took)/2], took[len(took)-1]
			t.Logf("memory %d MB before, %d MB peak; %d other calls: median %s, 99%% %s, worst %s",
				before, peak, len(took), median, took[len(took)*99/100], worst)
			if peak >= mostMemory {
				t.Errorf("memory = %d MB at its peak, want less than %d MB", peak, mostMemory)
			}
			if median >= mostLatency {
				t.Errorf("another caller's median call took %s, want less than %s", median, mostLatency)
			}
			attackers.goOn()
			attackers.exits(0)
			p.terminate()
			p.exits(0)
		})
	}
}
