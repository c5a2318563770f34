// Package doctor reports every problem that prevents a service from starting or running
// correctly, with a fix for each.
//
// It does not change files, tables or keys, and downloads nothing. Its findings contain
// no secrets.
package doctor

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	_ "github.com/plinthgo/plinth/tools/plinth/internal/plugins" // the drivers of services
	"github.com/plinthgo/plinth/tools/plinth/internal/redact"
	"github.com/plinthgo/plinth/tools/plinth/internal/service"
)

// Status is the severity of a finding.
type Status string

// Values of Status.
const (
	OK      Status = "ok"
	Warning Status = "warning"
	Problem Status = "problem"
	Skipped Status = "skipped"
)

// Finding is a result of a check with its fix.
type Finding struct {
	Check  string `json:"check"`
	Status Status `json:"status"`
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"`
}

// Options configures Run.
type Options struct {
	// Timeout limits each check.
	Timeout time.Duration
	// Now returns the current time. The default is time.Now.
	Now func() time.Time
}

// target is the service to check. Its methods are the checks.
type target struct {
	*service.Service

	now func() time.Time

	mu     sync.Mutex
	clocks []reading // readings of server clocks
}

// check is a named check.
type check struct {
	name string
	run  func(ctx context.Context) []Finding
}

// Run checks a service after Enter. It returns the findings in the order of the checks.
func Run(ctx context.Context, s *service.Service, o Options) []Finding {
	p := &target{Service: s, now: o.Now}
	if p.now == nil {
		p.now = time.Now
	}
	found := runAll(ctx, o.Timeout, []check{
		{"go", p.checkGo},
		{"go.mod", p.checkModules},
		{"environment", p.checkEnvironment},
		{"drivers", p.checkDrivers},
		{"ports", p.checkPorts},
		{"database", p.checkDatabase},
		{"cache", p.checkCache},
		{"mail", p.checkMail},
	})
	// checkClock compares the clocks that the checks above read.
	found = append(found, runAll(ctx, o.Timeout,
		[]check{{"clock", p.checkClock}, {"node", p.checkNode}})...)
	for i := range found {
		found[i].Detail = redact.Text(found[i].Detail)
	}
	return found
}

// runAll runs checks concurrently, each with the timeout.
func runAll(ctx context.Context, limit time.Duration, checks []check) []Finding {
	found := make([][]Finding, len(checks))
	var all sync.WaitGroup
	for i, c := range checks {
		all.Go(func() { found[i] = runWithTimeout(ctx, c, limit) })
	}
	all.Wait()
	return slices.Concat(found...)
}

// runWithTimeout runs a check and abandons it after the timeout.
func runWithTimeout(ctx context.Context, c check, limit time.Duration) []Finding {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	done := make(chan []Finding, 1)
	go func() { done <- c.run(ctx) }()
	var found []Finding
	select {
	case found = <-done:
	case <-ctx.Done():
		found = []Finding{problem(fmt.Sprintf("timed out after %s", limit),
			"check the server, or increase --timeout")}
	}
	for i := range found {
		found[i].Check = c.name
	}
	return found
}

func ok(format string, args ...any) Finding {
	return Finding{Status: OK, Detail: fmt.Sprintf(format, args...)}
}

func skipped(format string, args ...any) Finding {
	return Finding{Status: Skipped, Detail: fmt.Sprintf(format, args...)}
}

func warning(detail, fix string) Finding {
	return Finding{Status: Warning, Detail: detail, Fix: fix}
}

func problem(detail, fix string) Finding {
	return Finding{Status: Problem, Detail: detail, Fix: fix}
}

// captureWarnings returns a context that captures the warnings of libraries, and a
// function that returns them.
func captureWarnings(ctx context.Context) (capturing context.Context, warnings func() []Finding) {
	var mu sync.Mutex
	var found []Finding
	capturing = redact.CaptureWarnings(ctx, func(line string) {
		mu.Lock()
		defer mu.Unlock()
		found = append(found, warning(line, ""))
	})
	return capturing, func() []Finding {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(found)
	}
}
