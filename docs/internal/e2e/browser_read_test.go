package e2e_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// quickStart is a page with code, a table of contents, and a twin in Chinese.
const quickStart = "/docs/guide/quick-start"

func TestBrowser_Navigation(t *testing.T) {
	tab := newTab(t)
	tab.visit("/")
	tab.click(".cards h2 a")
	tab.until("document.querySelector('nav.side a[href^=\"/docs/\"]')")
	tab.visit(quickStart)
	tab.until(`document.querySelector("nav.side a[aria-current=page]").pathname === %q`, quickStart)
	const other = `nav.side ul:not(.sectors) > li > a:not([aria-current])`
	path := get[string](tab, `document.querySelector("`+other+`").pathname`)
	tab.click(other)
	tab.at(path)
	tab.until(`document.querySelector("nav.side a[aria-current=page]").pathname === %q && document.querySelector("h1")`, path)
	tab.visit(quickStart)
	next := get[string](tab, `document.querySelector("a[rel=next]").pathname`)
	tab.click("a[rel=next]")
	tab.at(next)
	tab.until(`document.querySelector("a[rel=prev]").pathname === %q`, quickStart)
}

func TestBrowser_TableOfContents(t *testing.T) {
	tab := newTab(t)
	tab.visit(quickStart)
	tab.click(".toc li:last-child a")
	const heading = `document.getElementById(decodeURIComponent(location.hash.slice(1)))`
	tab.until(`location.hash && %s.getBoundingClientRect().top < innerHeight`, heading)
	tab.until(`document.querySelector(".toc a[aria-current]")`)
}

func TestBrowser_Chinese(t *testing.T) {
	tab := newTab(t)
	tab.visit(quickStart)
	tab.click("a.language")
	tab.at(quickStart + ".zh")
	tab.until(`document.documentElement.lang.startsWith("zh") && /\p{Script=Han}/u.test(document.querySelector("h1").textContent)`)
	tab.until(`document.querySelector("link[hreflang=en]") || document.querySelector("a.language[hreflang=en]")`)
	tab.click("a.language")
	tab.at(quickStart)
}

func TestBrowser_NoJavaScript(t *testing.T) {
	tab := newTab(t)
	call(tab, emulation.SetScriptExecutionDisabled,
		emulation.SetScriptExecutionDisabledParams{Value: true})
	tab.visit(quickStart)
	if length := get[int](tab, `document.querySelector(".prose").innerText.length`); length < 500 {
		t.Errorf("the page shows %d characters", length)
	}
	if shown := get[int](tab, `[...document.querySelectorAll("button:not(.menu)")].filter((b) => b.checkVisibility()).length`); shown > 0 {
		t.Errorf("%d buttons without function are visible", shown)
	}
	tab.click("a.find")
	tab.at("/search")
	tab.do(chromedp.SendKeys(chromedp.CSS("main input[name=q]"), "database migration\r"))
	tab.until(`location.search.includes("q=") && document.querySelectorAll("ol.hits > li").length > 2`)
	path := get[string](tab, `document.querySelector("ol.hits a").pathname`)
	tab.click("ol.hits a")
	tab.at(path)
}

func TestBrowser_Diagrams(t *testing.T) {
	tab := newTab(t)
	tab.visit("/docs/guide/architecture")
	const shown = `[...document.querySelectorAll(".diagram img")].filter((i) => i.checkVisibility())`
	for _, scheme := range []string{"light", "dark"} {
		call(tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		})
		tab.until(`(%s).length > 0 && (%[1]s).every((i) => i.classList.contains(%q))`,
			shown, scheme)
		// a picture is loaded when it comes into view
		for n := range get[int](tab, shown+".length") {
			get[bool](tab, fmt.Sprintf(`(%s[%d].scrollIntoView({ behavior: "instant" }), true)`,
				shown, n))
			tab.until(`%s[%d].complete && %[1]s[%[2]d].naturalWidth > 100`, shown, n)
		}
	}
}
