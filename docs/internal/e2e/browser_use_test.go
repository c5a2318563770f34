package e2e_test

import (
	"testing"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

func TestBrowser_Search_Keyboard(t *testing.T) {
	tab := newTab(t)
	tab.visit(quickStart)
	const options = `document.querySelectorAll(".finder [role=option]")`
	tab.until(`document.readyState === "complete"`)
	tab.press("k", chromedp.KeyModifiers(chromedp.ModifierCtrl))
	tab.until(`document.querySelector("dialog.finder").open && document.activeElement.getAttribute("role") === "combobox"`)
	tab.press("database migration")
	tab.until(`%s.length > 2 && %[1]s[0].getAttribute("aria-selected") === "true"`, options)
	tab.until(`document.querySelector(".finder .status").textContent !== ""`)
	tab.press(kb.ArrowDown)
	tab.press(kb.ArrowDown)
	tab.press(kb.ArrowUp)
	tab.until(`%s[1].getAttribute("aria-selected") === "true"`, options)
	path := get[string](tab, options+`[1].pathname`)
	tab.press(kb.Enter)
	tab.at(path)

	tab.press("/")
	tab.until(`document.querySelector("dialog.finder").open`)
	tab.press(kb.Escape)
	tab.until(`!document.querySelector("dialog.finder").open`)
}

func TestBrowser_Search_Chinese(t *testing.T) {
	tab := newTab(t)
	tab.visit(quickStart + ".zh")
	tab.until(`document.readyState === "complete"`)
	tab.click("a.find")
	tab.until(`document.querySelector("dialog.finder").open`)
	tab.do(chromedp.SendKeys(chromedp.CSS(".finder input[name=q]"), "数据库"))
	tab.until(`[...document.querySelectorAll(".finder [role=option]")].some((o) => o.pathname.endsWith(".zh"))`)
}

func TestBrowser_Theme(t *testing.T) {
	tab := newTab(t)
	const background = `getComputedStyle(document.documentElement).backgroundColor + getComputedStyle(document.body).backgroundColor`
	tab.visit(quickStart)
	tab.until(`!document.querySelector("button.theme").hidden`)
	light := get[string](tab, background)
	for range 3 {
		if get[string](tab, `document.documentElement.dataset.theme || ""`) != "dark" {
			tab.click("button.theme")
		}
	}
	dark := get[string](tab, background)
	if light == dark {
		t.Errorf("the background stays %s", light)
	}
	tab.visit("/docs/guide/architecture")
	if got := get[string](tab, background); got != dark {
		t.Errorf("the background of the next page = %s, want %s", got, dark)
	}
}

func TestBrowser_Copy(t *testing.T) {
	tab := newTab(t)
	for _, name := range []string{"clipboard-read", "clipboard-write"} {
		call(tab, browser.SetPermission, browser.SetPermissionParams{
			Permission:       &browser.PermissionDescriptor{Name: name},
			Setting:          browser.PermissionSettingGranted,
			BrowserContextID: chromedp.FromContext(tab.ctx).BrowserContextID,
		})
	}
	tab.visit(quickStart)
	const copied = `document.querySelector("%s").textContent === document.body.dataset.copied`
	tab.until(`document.querySelector(".code button")`)
	tab.click(".code button")
	tab.until(copied, ".code button")
	want := get[string](tab, `document.querySelector(".code code").textContent`)
	if got := get[string](tab, `navigator.clipboard.readText()`); got != want || got == "" {
		t.Errorf("copied text = %q, want %q", got, want)
	}
	tab.click(".copy-page")
	tab.until(copied, ".copy-page")
	title := get[string](tab, `document.querySelector("h1").textContent`)
	if got := get[string](tab, `navigator.clipboard.readText()`); len(got) < 100 ||
		got[:2+len(title)] != "# "+title {
		t.Errorf("copied text = %.80q, want a page titled %q", got, title)
	}
}

func TestBrowser_Phone(t *testing.T) {
	tab := newTab(t)
	tab.do(chromedp.EmulateViewport(360, 740, chromedp.EmulateMobile, chromedp.EmulateTouch))
	for _, path := range []string{
		"/", "/docs/guide", quickStart, quickStart + ".zh", "/docs/guide/environment",
		"/docs/guide/architecture",
		"/docs/base-go/xdb", "/search?q=database",
	} {
		tab.visit(path)
		if width := get[int](tab, `document.documentElement.scrollWidth`); width > 360 {
			t.Errorf("%s is %d pixels wide", path, width)
		}
		if text := get[float64](tab,
			`parseFloat(getComputedStyle(document.querySelector("main")).fontSize)`); text < 15 {
			t.Errorf("%s has a font size of %v pixels", path, text)
		}
	}
	tab.visit(quickStart)
	tab.click("button.menu")
	tab.until(`document.querySelector("nav.side").matches(":popover-open")`)
	const other = `nav.side ul:not(.sectors) > li > a:not([aria-current])`
	path := get[string](tab, `document.querySelector("`+other+`").pathname`)
	tab.click(other)
	tab.at(path)
}
