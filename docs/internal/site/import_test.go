package site_test

import (
	"strings"
	"testing"
)

func TestSite_Page_ImportPath(t *testing.T) {
	s, library := realSite(t)
	for _, p := range library.Sector("base-go").Pages {
		html := body(t, s, p.URL())
		want := "</h1>\n<p class=\"import\"><code>import \"" + p.Import + "\"</code></p>"
		if p.Path == "/" {
			if strings.Contains(html, `class="import"`) {
				t.Errorf("%s: got an import path, want none", p.File)
			}
			continue
		}
		if p.Import == "" || !strings.Contains(strings.ReplaceAll(html, "&#34;", `"`), want) {
			t.Errorf("%s: the page does not show its import path %q below its title",
				p.File, p.Import)
		}
	}
}
