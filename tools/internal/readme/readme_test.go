package readme_test

import (
	"slices"
	"testing"
)

func TestBlocks(t *testing.T) {
	const text = "# Title\n\n```sh\ngo run .\n```\n\nand\n\n```go\npackage main\n\nfunc main() {}\n```\n```\nplain\n```\n```json\n{"
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
		t.Errorf("Program = %q, want the program of line 9", p)
	}
	if p := Program(want[:1]); p != "" {
		t.Errorf("Program = %q, want \"\"", p)
	}
}

func TestNormalize(t *testing.T) {
	const response = `{"context":"a5f96f1a-b987-4f84-8501-2824dbd37a66","code":200,"data":{"id":"440307838414368768","created_at":"2026-11-20T16:26:09.202867Z","text":"17"}}`
	const want = `{"context":"UUID","code":200,"data":{"id":"ID","created_at":"TIME","text":"17"}}`
	if got := Normalize("\n" + response + "\n"); got != want {
		t.Errorf("Normalize = %s, want %s", got, want)
	}
	if got := Normalize(`{"id":17,"at":"2026-11-20"}`); got != `{"id":17,"at":"2026-11-20"}` {
		t.Errorf("Normalize = %s, want it unchanged", got)
	}
}

func TestNormalizeLog(t *testing.T) {
	const line = `21:24:53.667 NOTICE [MAIN]  ready        app=notes version=(devel) address=http://127.0.0.1:1118 took=1.49ms`
	const want = "TIME NOTICE [MAIN] ready app=VALUE version=VALUE address=VALUE took=VALUE"
	if got := NormalizeLog(line); got != want {
		t.Errorf("NormalizeLog = %s, want %s", got, want)
	}
}
