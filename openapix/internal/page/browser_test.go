package page_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// ready waits until the script has run.
func (tab *tab) ready() {
	tab.t.Helper()
	tab.until(`document.readyState === "complete" && !document.querySelector(".theme").hidden`)
}

// open opens an operation and its form.
func (tab *tab) open(operation string) {
	tab.t.Helper()
	tab.visit("/reference")
	tab.ready()
	get[bool](tab, fmt.Sprintf(`location.hash = %q, true`, "op-"+operation))
	tab.until(`document.activeElement.parentElement.id === %q`, "op-"+operation)
	tab.click("#op-" + operation + " .tools .button")
	tab.until(`document.activeElement.closest(".try")`)
}

// run runs a subtest that uses the tab.
func (tab *tab) run(name string, test func(t *testing.T)) {
	outer := tab.t
	defer func() { tab.t = outer }()
	outer.Run(name, func(t *testing.T) {
		tab.t = t
		test(t)
	})
}

// fill sets the value of a control of the open form.
func (tab *tab) fill(name, value string) {
	tab.t.Helper()
	get[bool](tab, fmt.Sprintf(`(document.querySelector(".try [name=%s]").value = %q, true)`, name, value))
}

// send sends the open form and returns the result.
func (tab *tab) send() (status, body string) {
	tab.t.Helper()
	tab.click(".try .button.main")
	tab.until(`/\d ms$/.test(document.querySelector(".try .result").textContent) && document.querySelector(".try .button[disabled]")`)
	return get[string](tab, `document.querySelector(".try .result").textContent`),
		get[string](tab, `document.querySelector(".area > pre")?.textContent || ""`)
}

func TestBrowser_Search(t *testing.T) {
	tab := newTab(t, start(t, read(t, "usercenter.json")).base)
	tab.visit("/reference")
	tab.ready()
	const options = `document.querySelectorAll(".found [role=option]")`
	tab.press("/")
	tab.until(`document.querySelector(".finder").open && document.activeElement.getAttribute("role") === "combobox"`)
	tab.press("user")
	tab.until(`%s.length > 3 && %[1]s[0].getAttribute("aria-selected") === "true"`, options)
	tab.press(kb.ArrowDown)
	tab.press(kb.ArrowDown)
	tab.press(kb.ArrowUp)
	tab.until(`%s[1].getAttribute("aria-selected") === "true"`, options)
	hash := get[string](tab, options+`[1].hash`)
	tab.press(kb.Enter)
	tab.until(`location.hash === %q && document.querySelector(location.hash).open && !document.querySelector(".finder").open`, hash)
	tab.until(`document.activeElement.matches(location.hash + " > summary")`)

	for query, want := range map[string]string{
		"40110": "op-getUser", "user_not_found": "op-getUser", "deleteuser": "op-deleteUser",
		"/avatar": "op-uploadAvatar", "liveness": "op-GET-healthz", "put": "op-uploadAvatar",
	} {
		tab.press("k", chromedp.KeyModifiers(chromedp.ModifierCtrl))
		tab.until(`document.querySelector(".finder").open`)
		tab.press(query)
		tab.until(`%s.length === 1 && %[1]s[0].hash === %q`, options, "#"+want)
		tab.press(kb.Escape)
		tab.until(`!document.querySelector(".finder").open`)
	}
	tab.press("/")
	tab.press("missing")
	tab.until(`document.querySelector(".status").textContent === "No operations found"`)
}

func TestBrowser_TryIt(t *testing.T) {
	s := start(t, read(t, "usercenter.json"))
	tab := newTab(t, s.base)
	tab.failures = true // the browser logs error statuses
	tab.open("createUser")

	tab.run("sends the example as body", func(t *testing.T) {
		status, body := tab.send()
		if !strings.HasPrefix(status, "201 Created · ") {
			t.Errorf("status = %s", status)
		}
		for _, want := range []string{"\n  \"output\": \"Success\",\n", "\n    \"id\": 9007199254740993,\n", "\"tags\": []"} {
			if !strings.Contains(body, want) {
				t.Errorf("body = %s, want %q", body, want)
			}
		}
		if r := s.last(t); r.Header.Get("Content-Type") != "application/json" || !strings.Contains(r.Body, `"username": "ada"`) {
			t.Errorf("request = %+v", r)
		}
		tab.until(`document.querySelector(".area details pre").textContent.includes("content-type: application/json")`)
	})

	tab.run("shows an error of the service", func(t *testing.T) {
		get[bool](tab, `(document.querySelector(".try textarea").value = "{}", true)`)
		if status, body := tab.send(); !strings.HasPrefix(status, "400 ") || !strings.Contains(body, `"code": 4`) {
			t.Errorf("result = %s %s", status, body)
		}
	})

	tab.run("sends path, query and header parameters", func(t *testing.T) {
		tab.open("getUser")
		if got := get[string](tab, `document.querySelector(".try [name=id]").value`); got != "42" {
			t.Errorf("id = %s, want the example", got)
		}
		tab.fill("X-Trace", "a b")
		if _, body := tab.send(); !strings.Contains(body, `"trace": "a b"`) || !strings.Contains(body, `"id": 42`) {
			t.Errorf("body = %s", body)
		}
		tab.fill("id", "404")
		if status, body := tab.send(); !strings.HasPrefix(status, "401 ") || !strings.Contains(body, "USER_NOT_FOUND") {
			t.Errorf("result = %s %s", status, body)
		}
		tab.open("listUsers")
		tab.fill("role", "admin\nguest")
		tab.fill("sort", "id\n-id")
		tab.send()
		if got, want := s.last(t).URI, "/api/v1/users?role=admin&role=guest&sort=id%2C-id"; got != want {
			t.Errorf("URI = %s, want %s", got, want)
		}
	})

	tab.run("reports a missing required parameter", func(t *testing.T) {
		tab.open("getUser")
		before := s.last(t)
		tab.fill("id", "")
		tab.click(".try .button.main")
		tab.until(`document.querySelector(".try [name=id]:invalid")`)
		if got := s.last(t); got.URI != before.URI {
			t.Errorf("request = %s", got.URI)
		}
	})
}

func TestBrowser_Authorize(t *testing.T) {
	s := start(t, read(t, "usercenter.json"))
	tab := newTab(t, s.base)
	tab.visit("/reference")
	tab.ready()
	tab.click(".authorize")
	tab.do(chromedp.SendKeys(chromedp.CSS(`.auth [data-scheme=bearerAuth]`), "secret"))
	tab.do(chromedp.SendKeys(chromedp.CSS(`.auth [data-scheme=apiKey]`), "key"))
	tab.click(".auth .close")
	tab.until(`!document.querySelector(".auth").open && document.querySelector(".authorize").ariaPressed === "true"`)
	tab.click(`a[href="#op-getUser"]`)
	tab.click("#op-getUser .tools .button")
	if _, body := tab.send(); !strings.Contains(body, `"auth": "Bearer secret"`) {
		t.Errorf("body = %s", body)
	}
	if got := s.last(t).Header.Get("X-API-Key"); got != "" {
		t.Errorf("the key of another scheme was sent: %s", got)
	}
	if got := get[string](tab, `JSON.stringify(localStorage) + JSON.stringify(sessionStorage) + document.cookie`); got != "{}{}" {
		t.Errorf("storage = %s", got)
	}
	tab.do(chromedp.Reload())
	tab.ready()
	if got := get[string](tab, `[...document.querySelectorAll(".auth input")].map((i) => i.value).join("")`); got != "" {
		t.Errorf("credentials after a reload = %s", got)
	}
}

func TestBrowser_Upload(t *testing.T) {
	s := start(t, read(t, "usercenter.json"))
	tab := newTab(t, s.base)
	file := filepath.Join(t.TempDir(), `it's "me".png`)
	if err := os.WriteFile(file, []byte("picture"), 0o600); err != nil {
		t.Fatal(err)
	}
	tab.open("uploadAvatar")
	tab.do(chromedp.SetUploadFiles(chromedp.CSS(".try [type=file]"), []string{file}))
	tab.fill("title", "a title")
	tab.fill("tags", "x\ny")
	status, body := tab.send()
	for _, want := range []string{`"size": 7`, `"title": "a title"`, "\"tags\": [\n      \"x\",\n      \"y\"\n    ]"} {
		if !strings.HasPrefix(status, "200 ") || !strings.Contains(body, want) {
			t.Errorf("result = %s %s, want %s", status, body, want)
		}
	}
}

func TestBrowser_Stream(t *testing.T) {
	for _, format := range []string{"application/x-ndjson", "text/event-stream"} {
		t.Run(format, func(t *testing.T) {
			s := start(t, read(t, "usercenter.json"))
			tab := newTab(t, s.base)
			tab.open("streamEvents")
			get[bool](tab, fmt.Sprintf(`(document.querySelector(".try select").value = %q, true)`, format))
			tab.click(".try .button.main")
			const output = `document.querySelector(".area > pre").textContent`
			for i := range 3 {
				s.more <- struct{}{}
				tab.until(`%s.includes('{"id":%d,"name":"event"}')`, output, i+1)
			}
			tab.click(".try .tools .button:not(.main):not([disabled])")
			<-s.stopped
			tab.until(`document.querySelector(".try .result").textContent.endsWith("stopped")`)
			if got := s.last(t).Header.Get("Accept"); got != format {
				t.Errorf("Accept = %s", got)
			}
		})
	}
}

func TestBrowser_Download(t *testing.T) {
	tab := newTab(t, start(t, read(t, "usercenter.json")).base)
	tab.open("export")
	if status, _ := tab.send(); !strings.HasPrefix(status, "200 ") {
		t.Errorf("status = %s", status)
	}
	link := get[string](tab, `document.querySelector(".area a[download]").textContent`)
	if want := "Save users.bin (7 bytes)"; link != want {
		t.Errorf("link = %s, want %s", link, want)
	}
	dir := t.TempDir()
	call(tab, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
		Behavior: browser.SetDownloadBehaviorBehaviorAllow, DownloadPath: dir, EventsEnabled: new(true),
		BrowserContextID: chromedp.FromContext(tab.ctx).BrowserContextID,
	})
	tab.click(".area a[download]")
	tab.wait("the download", func() bool {
		text, err := os.ReadFile(filepath.Join(dir, "users.bin"))
		return err == nil && string(text) == "content"
	})
}

func TestBrowser_Proxy(t *testing.T) {
	s := start(t, document(t, 101))
	target, err := url.Parse(s.base)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(http.StripPrefix("/proxy", httputil.NewSingleHostReverseProxy(target)))
	t.Cleanup(proxy.Close)
	tab := newTab(t, proxy.URL)
	tab.failures = true
	for _, path := range []string{"/proxy/reference/", "/proxy/reference/operations/op-getUser00"} {
		tab.visit(path)
		tab.ready()
		get[bool](tab, `location.hash = "op-getUser00", true`)
		tab.click(".op .tools .button")
		tab.send()
		if got, want := s.last(t).URI, "/api/v1/user0s"; got != want {
			t.Errorf("URI = %s, want %s", got, want)
		}
	}
	tab.mu.Lock()
	defer tab.mu.Unlock()
	for _, address := range tab.requests {
		if !strings.HasPrefix(address, proxy.URL+"/proxy/") && !strings.HasPrefix(address, "data:") {
			t.Errorf("request to %s", address)
		}
	}
}

func TestBrowser_NoJavaScript(t *testing.T) {
	tab := newTab(t, start(t, read(t, "usercenter.json")).base)
	call(tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	tab.visit("/reference")
	if shown := get[int](tab, `[...document.querySelectorAll("button:not(.menu)")].filter((b) => b.checkVisibility()).length`); shown > 0 {
		t.Errorf("%d buttons without function are visible", shown)
	}
	tab.click("#op-createUser > summary")
	tab.until(`document.querySelector("#op-createUser .body").innerText.includes("3 to 32 characters")`)
}

func TestBrowser_Phone(t *testing.T) {
	for _, name := range []string{"usercenter.json", "hostile.json"} {
		t.Run(name, func(t *testing.T) {
			tab := newTab(t, start(t, read(t, name)).base)
			tab.do(chromedp.EmulateViewport(320, 640, chromedp.EmulateMobile, chromedp.EmulateTouch))
			tab.visit("/reference")
			tab.ready()
			get[int](tab, `document.querySelectorAll("details").forEach((d) => { d.open = true; }), 1`)
			tab.until(`document.querySelectorAll(".tools").length === document.querySelectorAll("details.op").length`)
			get[int](tab, `document.querySelectorAll(".tools .button").forEach((b) => b.click()), 1`)
			if width := get[int](tab, `document.documentElement.scrollWidth`); width > 320 {
				t.Errorf("the page is %d pixels wide: %s", width, get[string](tab,
					`[...document.querySelectorAll("main *")].filter((e) => e.getBoundingClientRect().right > 320 && !e.closest(".table, pre")).map((e) => e.outerHTML.slice(0, 80)).slice(0, 5).join("\n")`))
			}
			tab.click("button.menu")
			tab.until(`document.querySelector("nav.side").matches(":popover-open")`)
			tab.click("nav.side li:last-child a")
			tab.until(`location.hash && !document.querySelector("nav.side").matches(":popover-open")`)
		})
	}
}

func TestBrowser_Hostile(t *testing.T) {
	tab := newTab(t, start(t, read(t, "hostile.json")).base)
	tab.visit("/reference")
	tab.ready()
	get[int](tab, `document.querySelectorAll("details").forEach((d) => { d.open = true; }), 1`)
	tab.until(`document.querySelectorAll(".tools").length === document.querySelectorAll("details.op").length`)
	get[int](tab, `document.querySelectorAll(".tools .button").forEach((b) => b.click()), 1`)
	tab.press("k", chromedp.KeyModifiers(chromedp.ModifierCtrl))
	tab.press("script")
	tab.until(`document.querySelectorAll(".found [role=option]").length > 0`)
	if got := get[string](tab, `String(window.pwned) + document.scripts.length + document.querySelectorAll("img, iframe, object, svg, [onclick], [onerror], [style], a[href^='javascript' i], a[href^='data' i]").length`); got != "undefined10" {
		t.Errorf("scripts and elements = %s, want undefined10", got)
	}
}

func TestBrowser_Large(t *testing.T) {
	s := start(t, document(t, 500))
	tab := newTab(t, s.base)
	tab.failures = true
	tab.visit("/reference")
	tab.ready()
	tab.click(`a[href="#op-postUser01"]`)
	tab.until(`document.querySelector("#op-postUser01 .fields")`)
	tab.click("#op-postUser01 .tools .button")
	if status, _ := tab.send(); !strings.HasPrefix(status, "404") {
		t.Errorf("status = %s", status)
	}
	if got, want := s.last(t).URI, "/api/v1/user0s"; got != want {
		t.Errorf("URI = %s, want %s", got, want)
	}
	tab.visit("/reference/operations/op-postUser01")
	tab.ready()
	tab.click("article.op .tools .button")
	tab.click(".side [aria-current=page]")
	tab.until(`location.pathname === "/reference" && document.querySelector("#op-postUser01").open`)
}

func TestBrowser_Theme(t *testing.T) {
	tab := newTab(t, start(t, read(t, "usercenter.json")).base)
	const background = `getComputedStyle(document.body).backgroundColor`
	tab.visit("/reference")
	tab.ready()
	light := get[string](tab, background)
	tab.click("button.theme")
	tab.click("button.theme")
	dark := get[string](tab, background)
	if light == dark {
		t.Errorf("the background stays %s", light)
	}
	tab.do(chromedp.Reload())
	tab.ready()
	if got := get[string](tab, background); got != dark {
		t.Errorf("the background after a reload = %s, want %s", got, dark)
	}
}
