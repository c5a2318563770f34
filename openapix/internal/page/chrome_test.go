package page_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"go.uber.org/goleak"

	"github.com/plinthgo/plinth/conformance/testreport"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if browser := opened.Load(); browser != nil {
		browser.stop()
	}
	if err := goleak.Find(); err != nil && code == 0 {
		_, _ = fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

const onChromium = "chromium"

// chromium returns the path of the browser.
var chromium = sync.OnceValues(func() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("chromium is missing; on Debian or Ubuntu: apt-get install chromium fonts-noto-cjk")
})

// needChromium skips the test if the browser is missing and optional.
func needChromium(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a browser")
	}
	r := &testreport.Run{Family: "documentation", Backend: onChromium, Tests: 1, Source: "installed"}
	testreport.Record(t, r)
	path, err := chromium()
	if err == nil {
		r.Server = path
		return
	}
	testreport.Skip(t, r, onChromium, err)
}

// openBrowser starts the shared browser on first use. Each test opens a separate
// incognito window.
var openBrowser = sync.OnceValues(func() (*window, error) {
	path, err := chromium()
	if err != nil {
		return nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.WindowSize(1280, 900))
	for _, flag := range []string{
		"no-sandbox", "disable-gpu", "disable-dev-shm-usage", "disable-background-networking",
		"disable-component-update", "disable-sync", "no-first-run", "disable-quic",
	} {
		options = append(options, chromedp.Flag(flag, true))
	}
	options = append(options, chromedp.Flag("headless", "new"))
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, closeTab := chromedp.NewContext(allocator)
	if err := chromedp.Do(ctx); err != nil {
		closeTab()
		stop()
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	return &window{ctx: ctx, stop: func() { closeTab(); stop() }}, nil
})

// opened is the browser that TestMain closes.
var opened atomic.Pointer[window]

// window is a running browser.
type window struct {
	ctx  context.Context
	stop context.CancelFunc
}

// tab is an open page.
type tab struct {
	t    *testing.T
	ctx  context.Context
	base string // URL of the server

	mu       sync.Mutex
	problems []string
	requests []string // URLs
	failures bool     // responses with an error status are expected
}

// newTab opens a tab. The test fails if the console logs an error or a request has
// another host.
func newTab(t *testing.T, base string) *tab {
	t.Helper()
	needChromium(t)
	browser, err := openBrowser()
	if err != nil {
		t.Fatal(err)
	}
	opened.Store(browser)
	tab := &tab{t: t, base: base}
	ctx, cancel := chromedp.NewContext(browser.ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	tab.ctx, cancel = context.WithTimeout(ctx, time.Minute)
	t.Cleanup(cancel)
	if err := chromedp.Listen(ctx, tab.note); err != nil {
		t.Fatal(err)
	}
	call(tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{ // clicks would miss moving elements
		Features: []*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: "reduce"}},
	})
	t.Cleanup(func() {
		tab.mu.Lock()
		defer tab.mu.Unlock()
		for _, problem := range tab.problems {
			t.Error(problem)
		}
	})
	return tab
}

// note records a problem that an event reports.
func (tab *tab) note(event any) {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	problem := ""
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		problem = fmt.Sprintf("console.%s was called", e.Type)
	case *runtime.EventExceptionThrown:
		problem = "a script threw " + e.ExceptionDetails.Text
	case *log.EventEntryAdded:
		if e.Entry.Level == "error" || e.Entry.Level == "warning" {
			problem = fmt.Sprintf("console: %s (%s)", e.Entry.Text, e.Entry.URL)
		}
		if tab.failures && e.Entry.Source == "network" {
			problem = ""
		}
	case *network.EventRequestWillBeSent:
		tab.requests = append(tab.requests, e.Request.URL)
		if url := e.Request.URL; !strings.HasPrefix(url, tab.base+"/") && !strings.HasPrefix(url, "data:") {
			problem = "request to " + url
		}
	}
	if problem != "" {
		tab.problems = append(tab.problems, problem)
	}
}

// do performs actions.
func (tab *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	tab.t.Helper()
	if err := chromedp.Do(tab.ctx, actions...); err != nil {
		tab.t.Fatal(err)
	}
}

// visit opens a path.
func (tab *tab) visit(path string) {
	tab.t.Helper()
	tab.do(chromedp.Navigate(tab.base + path))
}

// click clicks the first element that is visible.
func (tab *tab) click(selector string) {
	tab.t.Helper()
	tab.do(chromedp.Click(chromedp.CSS(selector), chromedp.NodeVisible))
}

// press presses keys, with modifiers.
func (tab *tab) press(keys string, options ...chromedp.KeyOption) {
	tab.t.Helper()
	tab.do(chromedp.KeyEvent(keys, options...))
}

// until waits until an expression is true. It may be called during a navigation.
func (tab *tab) until(format string, args ...any) {
	tab.t.Helper()
	expression := fmt.Sprintf(format, args...)
	tab.wait(expression, func() bool {
		is, err := chromedp.Run(tab.ctx, chromedp.Evaluate[bool]("Boolean("+expression+")"))
		return is && err == nil
	})
}

// wait waits until a condition is true.
func (tab *tab) wait(name string, condition func() bool) {
	tab.t.Helper()
	tick, limit := time.NewTicker(20*time.Millisecond), time.After(20*time.Second)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-limit:
			text, _ := chromedp.Run(tab.ctx, chromedp.Evaluate[string](
				`document.querySelector(".try")?.innerText || location.href`))
			tab.t.Fatalf("timeout waiting for %s; the page shows %s", name, text)
		}
	}
}

// get returns the value of an expression.
func get[T any](tab *tab, expression string) T {
	tab.t.Helper()
	value, err := chromedp.Run(tab.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		tab.t.Fatalf("%s: %v", expression, err)
	}
	return value
}

// call sends a command of the browser's protocol.
func call[P, R any](tab *tab, command cdp.Command[P, R], params P) {
	tab.t.Helper()
	if _, err := chromedp.Call(tab.ctx, command, params); err != nil {
		tab.t.Fatal(err)
	}
}
