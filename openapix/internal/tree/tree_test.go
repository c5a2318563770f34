package tree_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/plinthgo/plinth/openapix/internal/tree"
)

type node struct{}

func (node) Tree() *tree.Object { return tree.New().Set("n", 1) }

func TestAppend(t *testing.T) {
	n := int64(5)
	deep := tree.New()
	for range 40 {
		deep = tree.New().Set("deep", []any{deep, "<&>", "é\u2028\n\"\\"})
	}
	o := tree.New().Set("b", true).Set("a", "text").Set("empty", []any{}).Set("object", tree.New()).
		Set("node", node{}).Set("number", json.Number("1e3")).Set("raw", json.RawMessage(`{"x": [1]}`)).
		Set("null", nil).Add("n", &n).Add("absent", "").Add("absent", false).Add("absent", []any{}).
		Add("absent", (*int64)(nil)).Add("absent", tree.New()).Set("deep", deep)
	got, err := tree.Append([]byte("> "), o)
	if err != nil {
		t.Fatal(err)
	}
	got, ok := bytes.CutPrefix(got, []byte("> "))
	if !ok || bytes.Contains(got, []byte("absent")) {
		t.Errorf("got %s, want the prefix and no absent members", got)
	}
	const start = "{\n  \"b\": true,\n  \"a\": \"text\",\n  \"empty\": [],\n  \"object\": {},\n" +
		"  \"node\": {\n    \"n\": 1\n  },\n  \"number\": 1e3,\n  \"raw\": {\n    \"x\": [\n      1\n    ]\n  },\n" +
		"  \"null\": null,\n  \"n\": 5,\n"
	if !bytes.HasPrefix(got, []byte(start)) {
		t.Errorf("got\n%s\nwant the start\n%s", got, start)
	}
	var want bytes.Buffer
	if err := json.Indent(&want, got, "", "  "); err != nil || want.String() != string(got) {
		t.Errorf("json.Indent (error %v) changes the output", err)
	}
}

func TestAppend_Error(t *testing.T) {
	if _, err := tree.Append(nil, tree.New().Set("c", make(chan int))); err == nil {
		t.Error("a channel is encoded, want an error")
	}
}

func TestObject_Clone(t *testing.T) {
	o := tree.New().Set("a", 1)
	o.Clone().Set("b", 2)
	text, err := tree.Append(nil, o.Set("c", 3))
	if want := "{\n  \"a\": 1,\n  \"c\": 3\n}"; err != nil || string(text) != want {
		t.Errorf("got %s, %v; want %s", text, err, want)
	}
}
