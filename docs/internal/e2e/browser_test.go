package e2e_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/plinthgo/plinth/docs/internal/e2e/chrome"
)

// openBrowser starts the shared browser on first use. Each test opens a separate
// incognito window.
var openBrowser = sync.OnceValues(func() (*window, error) {
	ctx, stop, err := chrome.New(context.Background())
	if err != nil {
		return nil, err
	}
	return &window{ctx: ctx, stop: stop}, nil
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
	site *server

	mu       sync.Mutex
	problems []string
}

// newTab opens a tab on a new site. The test fails if the console logs an error or a
// request has another host.
func newTab(t *testing.T) *tab {
	t.Helper()
	needChromium(t)
	browser, err := openBrowser()
	if err != nil {
		t.Fatal(err)
	}
	opened.Store(browser)
	tab := &tab{t: t, site: start(t, binary(t))}
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
	problem := ""
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" || e.Type == "warning" || e.Type == "assert" {
			problem = fmt.Sprintf("console.%s was called", e.Type)
		}
	case *runtime.EventExceptionThrown:
		problem = "a script threw " + e.ExceptionDetails.Text
	case *log.EventEntryAdded:
		if e.Entry.Level == "error" || e.Entry.Level == "warning" {
			problem = fmt.Sprintf("console: %s (%s)", e.Entry.Text, e.Entry.URL)
		}
	case *network.EventRequestWillBeSent:
		if url := e.Request.URL; !strings.HasPrefix(url, tab.site.base+"/") &&
			!strings.HasPrefix(url, "data:") {
			problem = "request to " + url
		}
	}
	if problem != "" {
		tab.mu.Lock()
		defer tab.mu.Unlock()
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
	tab.do(chromedp.Navigate(tab.site.url(path)))
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
	tick, limit := time.NewTicker(20*time.Millisecond), time.After(serverTimeout)
	defer tick.Stop()
	for {
		is, err := chromedp.Run(tab.ctx, chromedp.Evaluate[bool]("Boolean("+expression+")"))
		if is && err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-limit:
			at, _ := chromedp.Run(tab.ctx, chromedp.Location())
			tab.t.Fatalf("at %s: timeout waiting for %s (%v)", at, expression, err)
		}
	}
}

// at waits until a page is loaded.
func (tab *tab) at(path string) {
	tab.t.Helper()
	tab.until("location.pathname === %q && document.readyState === 'complete'", path)
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
