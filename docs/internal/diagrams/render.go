package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"github.com/chromedp/chromedp"

	"github.com/plinthgo/plinth/conformance/testnode"
	"github.com/plinthgo/plinth/docs/internal/e2e/chrome"
)

// script defines draw, which draws one diagram.
//
//go:embed draw.js
var script string

// render renders the pictures of the sources.
func render(ctx context.Context, sources []source) error {
	if len(sources) == 0 {
		return nil
	}
	programs, err := testnode.Install(ctx, packagesDir)
	if err != nil {
		return err
	}
	browser, stop, err := chrome.New(ctx)
	if err != nil {
		return err
	}
	defer stop()
	page, err := writePage(programs.Path("mermaid", "dist", "mermaid.min.js"))
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(filepath.Dir(page)) }()
	for _, t := range themes() {
		for _, s := range sources {
			svg, err := draw(browser, page, s, t)
			if err != nil {
				return fmt.Errorf("%v: %w", s, err)
			}
			path := filepath.Join(picturesDir, s.name()+ending(t))
			if err := os.WriteFile(path, []byte(svg), 0o644); err != nil { //nolint:gosec // a file of the repository
				return err
			}
		}
	}
	return nil
}

// writePage writes a page that loads the library and script.
func writePage(library string) (path string, err error) {
	dir, err := os.MkdirTemp("", "diagrams-")
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "index.html")
	address := url.URL{Scheme: "file", Path: library}
	html := fmt.Sprintf("<!doctype html><meta charset=utf-8><script src=%q></script><script>%s</script>", address.String(), script)
	return path, os.WriteFile(path, []byte(html), 0o600)
}

// draw renders a diagram on a new page, because the library numbers its diagrams.
func draw(browser context.Context, page string, s source, t theme) (svg string, err error) {
	arguments, err := json.Marshal([]any{s.code, "d" + s.name(), t.variables, fonts})
	if err != nil {
		return "", err
	}
	address := url.URL{Scheme: "file", Path: page}
	if err := chromedp.Do(browser, chromedp.Navigate(address.String())); err != nil {
		return "", err
	}
	svg, err = chromedp.Run(browser, chromedp.Evaluate[string](fmt.Sprintf("draw(...%s)",
		arguments), chromedp.EvalAwaitPromise))
	return svg + "\n", err
}
