package markup_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plinthgo/plinth/docs/internal/markup"
)

var words = markup.Words{
	Note: "Note", Tip: "Tip", Important: "Important", Warning: "Warning", Caution: "Caution",
	Done: "done", Open: "to do", Diagram: "Diagram",
}

func render(t *testing.T, o markup.Options, source string) string {
	t.Helper()
	o.Words = words
	got, err := markup.NewRenderer(o).HTML([]byte(source))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(got))
}

func TestHTML(t *testing.T) {
	tests := []struct{ name, source, want string }{
		{"heading", "## Über *uns*\n", `<div class="h"><h2 id="über-uns">Über <em>uns</em></h2>` +
			`<a href="#%C3%BCber-uns" aria-labelledby="über-uns"></a></div>`},
		{"heading in Chinese", "## 快速 开始\n", `<div class="h"><h2 id="快速-开始">快速 开始</h2>` +
			`<a href="#%E5%BF%AB%E9%80%9F-%E5%BC%80%E5%A7%8B" aria-labelledby="快速-开始"></a></div>`},
		{
			"a heading in a quotation has no anchor", "> ## x\n",
			"<blockquote>\n<h2>x</h2>\n</blockquote>",
		},
		{
			"table", "|a|b|c|\n|--|:-:|--:|\n|1|2|3|\n",
			"<div class=\"table\"><table>\n<thead>\n<tr>\n<th>a</th>\n" +
				"<th class=\"center\">b</th>\n<th class=\"right\">c</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>1</td>\n" +
				"<td class=\"center\">2</td>\n<td class=\"right\">3</td>\n</tr>\n</tbody>\n</table></div>",
		},
		{
			"task list", "- [x] a\n- [ ] b\n",
			"<ul>\n<li><input type=\"checkbox\" disabled checked aria-label=\"done\"> a</li>\n" +
				"<li><input type=\"checkbox\" disabled aria-label=\"to do\"> b</li>\n</ul>",
		},
		{
			"external link", "[a](https://example.com/)",
			`<p><a href="https://example.com/" rel="noopener">a</a></p>`,
		},
		{
			"external autolink", "<HTTPS://example.com/>",
			`<p><a href="HTTPS://example.com/" rel="noopener">HTTPS://example.com/</a></p>`,
		},
		{"internal link", "[a](/docs/guide/x#y)", `<p><a href="/docs/guide/x#y">a</a></p>`},
		{"a link that runs a script", "[a](javascript:alert(1))", `<p><a href="">a</a></p>`},
		{
			"an image with an embedded page", "![a](data:text/html;base64,PHNjcmlwdD4=)",
			`<p><img src="" alt="a" loading="lazy"></p>`,
		},
		{
			"raw block", "<script>alert(1)</script>\n",
			"<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>",
		},
		{
			"raw text", "a <img src=x onerror=alert(1)> b",
			"<p>a &lt;img src=x onerror=alert(1)&gt; b</p>",
		},
		{"comment", "<!-- a -->\n\nb<!-- c -->\n", "<p>b</p>"},
		{"soft break between Chinese lines", "中文\n换行", "<p>中文换行</p>"},
		{
			"soft break before a link", "a,\n[b](/c) `d`\n**e**",
			"<p>a,\n<a href=\"/c\">b</a> <code>d</code>\n<strong>e</strong></p>",
		},
		{
			"soft break before a Chinese link", "中\n[文](/c)\n`d`",
			"<p>中<a href=\"/c\">文</a>\n<code>d</code></p>",
		},
		{"hard break", "a\\\nb", "<p>a<br>\nb</p>"},
		{
			"code without a language", "```\n<a> & b\n```\n",
			`<div class="code"><pre><code>&lt;a&gt; &amp; b</code></pre></div>`,
		},
		{
			"code of an unknown language", "```zzz\" x=\"\n<a>\n```\n",
			`<div class="code" data-lang="zzz&quot;"><pre><code>&lt;a&gt;</code></pre></div>`,
		},
		{
			"indented code", "    a < b\n",
			`<div class="code"><pre><code>a &lt; b</code></pre></div>`,
		},
		{
			"code that ends in a comment", "```sh\n# x\n```\n",
			`<div class="code" data-lang="sh"><pre><code><b class="c"># x</b></code></pre></div>`,
		},
		{
			"code", "```go\n// x\nvar s = \"</pre>\"\n```\n",
			`<div class="code" data-lang="go"><pre><code><b class="c">// x` + "\n" +
				`</b><b class="k">var </b>s = <b class="s">&quot;&lt;/pre&gt;&quot;</b></code></pre></div>`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, render(t, markup.Options{}, tt.source)); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}

func TestAlert(t *testing.T) {
	tests := []struct{ name, source, want string }{
		{
			"one paragraph", "> [!NOTE]\n> Text.\n",
			`<aside class="alert note" role="note" aria-label="Note"><p class="alert-title">Note</p>` +
				"\n<p>Text.</p>\n</aside>",
		},
		{
			"lower case, and a list", "> [!warning]\n>\n> - a\n",
			`<aside class="alert warning" role="note" aria-label="Warning">` +
				`<p class="alert-title">Warning</p>` + "\n<ul>\n<li>a</li>\n</ul>\n</aside>",
		},
		{
			"starts with code", "> [!TIP]\n> `a` b\n",
			`<aside class="alert tip" role="note" aria-label="Tip"><p class="alert-title">Tip</p>` +
				"\n<p><code>a</code> b</p>\n</aside>",
		},
		{"text after the marker", "> [!NOTE] x\n", "<blockquote>\n<p>[!NOTE] x</p>\n</blockquote>"},
		{"another word", "> [!FOO]\n> x\n", "<blockquote>\n<p>[!FOO]\nx</p>\n</blockquote>"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, render(t, markup.Options{}, tt.source)); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}

func TestDiagram(t *testing.T) {
	pictures := func(source string) (markup.Diagram, bool) {
		return markup.Diagram{Light: "/l.svg", Dark: "/d.svg", Width: 20, Height: 10},
			strings.HasPrefix(source, "graph")
	}
	figure := func(alt string) string {
		return `<figure class="diagram"><img class="light" src="/l.svg" alt="` + alt +
			`" width="20" height="10" loading="lazy">` +
			`<img class="dark" src="/d.svg" alt="` + alt +
			`" width="20" height="10" loading="lazy"></figure>`
	}
	tests := []struct{ name, source, want string }{
		{
			"title and description", "```mermaid\n\ngraph\naccTitle: A \"b\"\naccDescr: C.\n```\n",
			figure("A &quot;b&quot;. C."),
		},
		{
			"description of several lines", "```mermaid\ngraph\naccDescr {\n  A\n  b.\n}\n```\n",
			figure("A b."),
		},
		{
			"description of one line in braces", "```mermaid\ngraph\naccDescr { A }\n```\n",
			figure("A"),
		},
		{"neither, and no heading", "```mermaid\ngraph\n```\n", figure("Diagram")},
		{
			"no picture", "```mermaid\npie\n```\n",
			`<div class="code" data-lang="mermaid"><pre><code>pie</code></pre></div>`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want,
				render(t, markup.Options{Diagram: pictures}, tt.source)); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
	got := render(t, markup.Options{Diagram: pictures},
		"## A *request*\n\n- x\n\n  ```mermaid\n  graph\n  ```\n")
	if !strings.Contains(got, figure("A request")) {
		t.Errorf("the diagram does not have the name of the heading:\n%s", got)
	}
}
