// Package doctor finds everything at once that keeps a service from starting, or from
// running well, each with its mend.
//
// It changes nothing: no file, no table and no key is made, and nothing is downloaded.
// What it says holds no secret.
package doctor

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/plinthgo/plinth/tools/plinth/internal/hush"
	_ "github.com/plinthgo/plinth/tools/plinth/internal/plugins" // what a service may connect with
	"github.com/plinthgo/plinth/tools/plinth/internal/service"
)

// Status says how serious a finding is.
type Status string

// The states of findings.
const (
	OK      Status = "ok"
	Warning Status = "warning"
	Problem Status = "problem"
	Skipped Status = "skipped"
)

// Finding is what a check has to say: one thing, and how to mend it.
type Finding struct {
	Check  string `json:"check"`
	Status Status `json:"status"`
	Detail string `json:"detail"`
	Mend   string `json:"mend,omitempty"`
}

// Options say how to look.
type Options struct {
	// Timeout bounds each check.
	Timeout time.Duration
	// Now is the clock of this machine; nil is time.Now.
	Now func() time.Time
}

// patient is the service while it is looked at. Its methods are the checks.
type patient struct {
	*service.Service

	now func() time.Time

	mu     sync.Mutex
	clocks []reading // of servers
}

// check is one thing to look at.
type check struct {
	name string
	run  func(ctx context.Context) []Finding
}

// Run looks at a service that was entered. The findings come in the order of the checks.
func Run(ctx context.Context, s *service.Service, o Options) []Finding {
	p := &patient{Service: s, now: o.Now}
	if p.now == nil {
		p.now = time.Now
	}
	found := together(ctx, o.Timeout, []check{
		{"go", p.checkGo},
		{"go.mod", p.checkModules},
		{"environment", p.checkEnvironment},
		{"drivers", p.checkDrivers},
		{"ports", p.checkPorts},
		{"database", p.checkDatabase},
		{"cache", p.checkCache},
		{"mail", p.checkMail},
	})
	// The clocks of the servers are known only now.
	found = append(found, together(ctx, o.Timeout,
		[]check{{"clock", p.checkClock}, {"node", p.checkNode}})...)
	for i := range found {
		found[i].Detail = hush.Mask(found[i].Detail)
	}
	return found
}

// together runs checks side by side, each in its time.
func together(ctx context.Context, limit time.Duration, checks []check) []Finding {
	found := make([][]Finding, len(checks))
	var all sync.WaitGroup
	for i, c := range checks {
		all.Go(func() { found[i] = inTime(ctx, c, limit) })
	}
	all.Wait()
	return slices.Concat(found...)
}

// inTime runs a check, and leaves it behind where it does not end in time.
func inTime(ctx context.Context, c check, limit time.Duration) []Finding {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	done := make(chan []Finding, 1)
	go func() { done <- c.run(ctx) }()
	var found []Finding
	select {
	case found = <-done:
	case <-ctx.Done():
		found = []Finding{problem(fmt.Sprintf("no answer within %s", limit),
			"see what it waits for, or give it longer with --timeout")}
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

func warning(detail, mend string) Finding {
	return Finding{Status: Warning, Detail: detail, Mend: mend}
}

func problem(detail, mend string) Finding {
	return Finding{Status: Problem, Detail: detail, Mend: mend}
}

// listen returns a context with which a library connects, and a function that returns
// what it has warned of.
func listen(ctx context.Context) (listening context.Context, warnings func() []Finding) {
	var mu sync.Mutex
	var found []Finding
	listening = hush.Context(ctx, func(line string) {
		mu.Lock()
		defer mu.Unlock()
		found = append(found, warning(line, ""))
	})
	return listening, func() []Finding {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(found)
	}
}
