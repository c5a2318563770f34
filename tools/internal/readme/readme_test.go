package readme_test

import (
	"slices"
	"testing"
)

func TestBlocksAreWhatStandsBetweenFences(t *testing.T) {
	const text = "# It\n\n```sh\ngo run .\n```\n\nand\n\n```go\npackage main\n\nfunc main() {}\n```\n```\nplain\n```\n```json\n{"
	want := []Block{
		{Line: 3, Language: "sh", Text: "go run .\n"},
		{Line: 9, Language: "go", Text: "package main\n\nfunc main() {}\n"},
		{Line: 14, Language: "", Text: "plain\n"},
		{Line: 17, Language: "json", Text: "{"},
	}
	got := Blocks(text)
	if !slices.Equal(got, want) {
		t.Errorf("Blocks = %+v, want %+v", got, want)
	}
	if p := Program(got); p != want[1].Text {
		t.Errorf("Program = %q, want that of line 9", p)
	}
	if p := Program(want[:1]); p != "" {
		t.Errorf("Program = %q, want none", p)
	}
}

func TestNormalKeepsAllButIDsAndTimes(t *testing.T) {
	const answer = `{"context":"a5f96f1a-b987-4f84-8501-2824dbd37a66","code":200,"data":{"id":"440307838414368768","created_at":"2026-11-20T16:26:09.202867Z","text":"17"}}`
	const want = `{"context":"UUID","code":200,"data":{"id":"ID","created_at":"TIME","text":"17"}}`
	if got := Normal("\n" + answer + "\n"); got != want {
		t.Errorf("Normal = %s, want %s", got, want)
	}
	if got := Normal(`{"id":17,"at":"2026-11-20"}`); got != `{"id":17,"at":"2026-11-20"}` {
		t.Errorf("Normal = %s, want it as it is", got)
	}
}
