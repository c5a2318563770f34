// Package chrome starts a headless Chromium with a new profile.
package chrome

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/chromedp/chromedp"
)

// ErrMissing reports that Chromium is not installed.
var ErrMissing = errors.New("chromium is missing; on Debian or Ubuntu: apt-get install chromium fonts-noto-cjk")

// Find returns the path of Chromium.
func Find() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("chrome: %w", ErrMissing)
}

// Version returns the version of Chromium, such as "Chromium 156.0.8078.79".
func Version(ctx context.Context) (string, error) {
	path, err := Find()
	if err != nil {
		return "", err
	}
	out, err := exec.CommandContext(ctx, path, "--version").Output() //nolint:gosec // one of the names above
	if err != nil {
		return "", fmt.Errorf("chrome: read the version of %s: %w", path, err)
	}
	words := strings.Fields(string(out))
	return strings.Join(words[:min(2, len(words))], " "), nil
}

// Flags returns the flags of a headless browser without background requests.
func Flags() []string {
	return []string{
		"headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage",
		"disable-background-networking",
		"disable-component-update", "disable-sync", "no-first-run", "disable-quic",
	}
}

// New starts a browser, which cancel closes. Open other tabs with
// chromedp.NewContext(ctx).
func New(parent context.Context) (ctx context.Context, cancel context.CancelFunc, err error) {
	path, err := Find()
	if err != nil {
		return nil, nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path),
		chromedp.WindowSize(1280, 900))
	for _, flag := range Flags() {
		name, value, valued := strings.Cut(flag, "=")
		if valued {
			options = append(options, chromedp.Flag(name, value))
		} else {
			options = append(options, chromedp.Flag(name, true))
		}
	}
	allocator, stop := chromedp.NewExecAllocator(parent, options...)
	ctx, closeTab := chromedp.NewContext(allocator)
	if err := chromedp.Do(ctx); err != nil {
		closeTab()
		stop()
		return nil, nil, fmt.Errorf("chrome: start %s: %w", path, err)
	}
	return ctx, func() { closeTab(); stop() }, nil
}
