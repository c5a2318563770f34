package markdown_test

import (
	"strings"
	"testing"

	"github.com/plinthgo/plinth/openapix/internal/page/markdown"
)

func TestRenderer_HTML(t *testing.T) {
	const external = ` rel="noopener noreferrer">`
	for _, tc := range []struct{ name, source, want string }{
		{name: "nothing", source: " \n ", want: ""},
		{name: "plain text", source: "Login name", want: "<p>Login name</p>"},
		{name: "quotes", source: `a "b" 'c'`, want: "<p>a &#34;b&#34; &#39;c&#39;</p>"},
		{name: "emphasis and code", source: "*a* **b** `<c>`", want: "<p><em>a</em> <strong>b</strong> <code>&lt;c&gt;</code></p>"},
		{name: "headings below the page", source: "# A\n\n##### B", want: "<h4>A</h4>\n<h6>B</h6>"},
		{name: "raw HTML", source: `a <b onclick="x">c</b>`, want: `<p>a &lt;b onclick=&#34;x&#34;&gt;c&lt;/b&gt;</p>`},
		{name: "a block of HTML", source: "<script>\nalert(1)\n</script>", want: "<p>&lt;script&gt;\nalert(1)\n&lt;/script&gt;</p>"},
		{name: "a link", source: "[a](https://example.com/?a=1&b=2)", want: `<p><a href="https://example.com/?a=1&amp;b=2"` + external + "a</a></p>"},
		{name: "a relative link", source: "[a](#op-x)", want: `<p><a href="#op-x"` + external + "a</a></p>"},
		{name: "a link with a script", source: "[a](javascript:alert(1))", want: "<p>a</p>"},
		{name: "a link with a hidden script", source: "[a](JaVa&#115;cript:alert(1)) [b](<java\tscript:x>)", want: "<p>a b</p>"},
		{name: "a link with data", source: "[a](data:text/html,x) <vbscript:x>", want: "<p>a vbscript:x</p>"},
		{name: "a link without a scheme", source: "[a](//evil.example)", want: "<p>a</p>"},
		{name: "a link with a quote", source: `[a](https://x/"onclick=y)`, want: `<p><a href="https://x/%22onclick=y"` + external + "a</a></p>"},
		{name: "an address", source: "<https://a.example> <b@c.example>", want: `<p><a href="https://a.example"` + external + `https://a.example</a> <a href="mailto:b@c.example"` + external + "b@c.example</a></p>"},
		{name: "a picture", source: "![alt](https://a.example/x.png)", want: `<p><a href="https://a.example/x.png"` + external + "alt</a></p>"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := string(markdown.New(3).HTML(tc.source)); got != tc.want {
				t.Errorf("HTML(%q) = %s, want %s", tc.source, got, tc.want)
			}
		})
	}

	t.Run("a table", func(t *testing.T) {
		got := string(markdown.New(3).HTML("|a|b|\n|-|:-|\n|<i>|2|"))
		if !strings.Contains(got, "<td>&lt;i&gt;</td>") || strings.Contains(got, `style="`) {
			t.Errorf("HTML = %s", got)
		}
	})
}

// FuzzRenderer_HTML checks that no source adds a script or an attribute with code.
func FuzzRenderer_HTML(f *testing.F) {
	f.Add("[a](javascript:x) <script>")
	r := markdown.New(3)
	f.Fuzz(func(t *testing.T, source string) {
		got := strings.ToLower(string(r.HTML(source)))
		for _, bad := range []string{"<script", "<img", "<iframe", `href="javascript:`, "<svg", `style="`} {
			if strings.Contains(got, bad) {
				t.Errorf("HTML(%q) contains %s: %s", source, bad, got)
			}
		}
	})
}
