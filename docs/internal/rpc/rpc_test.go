package rpc_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/docs/internal/rpc"
)

func TestReadRefusesWhatWouldComeBackChanged(t *testing.T) {
	message := func(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}` }
	for _, tc := range []struct {
		text string
		want int // code, or 0
	}{
		{message("1"), 0},
		{message("-1"), 0},
		{message("0"), 0},
		{message(`"1.5"`), 0},
		{message("9007199254740991"), 0},
		{message("9007199254740992"), rpc.InvalidRequest},
		{message("-9007199254740992"), rpc.InvalidRequest},
		{message("-0"), rpc.InvalidRequest},
		{message("1.5"), rpc.InvalidRequest},
		{message("1.0"), rpc.InvalidRequest},
		{message("1e3"), rpc.InvalidRequest},
		{"[" + message("1") + "," + message("2") + "," + message(`"1"`) + "]", 0},
		{"[" + message("1") + "," + message("1") + "]", rpc.InvalidRequest},
		{"[" + message(`"a"`) + "," + message(`"\u0061"`) + "]", rpc.InvalidRequest},
		{"[" + strings.Repeat(`{"jsonrpc":"2.0","method":"m"},`, 15) + message("1") + "]", 0},
		{"[" + strings.Repeat(`{"jsonrpc":"2.0","method":"m"},`, 16) + message("1") + "]", rpc.InvalidRequest},
		{"", rpc.ParseError},
		{" ", rpc.ParseError},
		{"{", rpc.ParseError},
		{"{} {}", rpc.ParseError},
		{"\"\xff\"", rpc.ParseError},
		{"5", 0},
		{"[]", 0},
		{"[5]", 0},
	} {
		_, no := rpc.Read([]byte(tc.text))
		if got := code(no); got != tc.want {
			t.Errorf("Read(%s) refuses with %d, want %d", tc.text, got, tc.want)
		}
	}
}

func code(no *rpc.Answer) int {
	if no == nil {
		return 0
	}
	return no.Error.Code
}

func TestReadTellsMessagesApart(t *testing.T) {
	body, no := rpc.Read([]byte(` [{"id":1,"method":"a"},{"method":"b"},{"id":"x","result":{}},{"id":null,"method":"c"},5]`))
	if no != nil || !body.Batch {
		t.Fatalf("batch = %t, refused with %v", body.Batch, no)
	}
	var got []string
	for _, m := range body.Messages {
		key, ok := m.Key()
		got = append(got, m.Method+" "+key+" "+strconv.FormatBool(ok))
	}
	want := `a 1 true, b  false,  "x true, c  false,   false`
	if strings.Join(got, ", ") != want {
		t.Errorf("messages = %q, want %q", strings.Join(got, ", "), want)
	}
}

func TestAnAnswerToNoMessageHasNoID(t *testing.T) {
	text, err := json.Marshal(rpc.Refuse(rpc.ParseError, "parse error"))
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"jsonrpc":"2.0","error":{"code":-32700,"message":"parse error"}}`; string(text) != want {
		t.Errorf("answer = %s, want %s", text, want)
	}
}
