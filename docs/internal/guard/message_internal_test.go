package guard

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

func TestReadMessage(t *testing.T) {
	message := func(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}` }
	for _, tc := range []struct {
		text string
		want int // error code, or 0
	}{
		{message("1"), 0},
		{message("-1"), 0},
		{message("0"), 0},
		{message(`"1.5"`), 0},
		{message("9007199254740991"), 0},
		{message("9007199254740992"), jsonrpc.CodeInvalidRequest},
		{message("-9007199254740992"), jsonrpc.CodeInvalidRequest},
		{message("-0"), jsonrpc.CodeInvalidRequest},
		{message("1.5"), jsonrpc.CodeInvalidRequest},
		{message("1.0"), jsonrpc.CodeInvalidRequest},
		{message("1e3"), jsonrpc.CodeInvalidRequest},
		{"[" + message("1") + "," + message("2") + "," + message(`"1"`) + "]", 0},
		{"[" + strings.Repeat(`{"jsonrpc":"2.0","method":"m"},`, 15) + message("1") + "]", 0},
		{
			"[" + strings.Repeat(`{"jsonrpc":"2.0","method":"m"},`, 16) + message("1") + "]",
			jsonrpc.CodeInvalidRequest,
		},
		{"", jsonrpc.CodeParseError},
		{" ", jsonrpc.CodeParseError},
		{"{", jsonrpc.CodeParseError},
		{"{} {}", jsonrpc.CodeParseError},
		{"\"\xff\"", jsonrpc.CodeParseError},
		{`{"jsonrpc":"2.0","id":1.5,"ID":7,"method":"ping"}`, jsonrpc.CodeInvalidRequest},
		{`{"jsonrpc":"1.0","id":1,"method":"ping"}`, jsonrpc.CodeInvalidRequest},
		{`{"jsonrpc":"2.0","id":1,"error":5}`, jsonrpc.CodeInvalidRequest},
		{`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x","data":[]}}`, 0},
		{`{"jsonrpc":"2.0","id":1,"error":{"code":1}}`, jsonrpc.CodeInvalidRequest},
		{`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":null}}`, jsonrpc.CodeInvalidRequest},
		{`{"jsonrpc":"2.0","id":1,"error":{"Code":1,"Message":"x"}}`, jsonrpc.CodeInvalidRequest},
		{
			`{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":1,"message":"x"}}`,
			jsonrpc.CodeInvalidRequest,
		},
		{`{"jsonrpc":"2.0","id":1,"method":null}`, jsonrpc.CodeInvalidRequest},
		{`{"jsonrpc":"2.0","id":1,"method":""}`, 0},
		{`{"jsonrpc":"2.0","id":1.5,"method":""}`, jsonrpc.CodeInvalidRequest},
		{"5", jsonrpc.CodeInvalidRequest},
		{"[]", jsonrpc.CodeInvalidRequest},
		{"[5]", jsonrpc.CodeInvalidRequest},
	} {
		_, e := readMessage([]byte(tc.text))
		if got := code(e); got != tc.want {
			t.Errorf("readMessage(%s) = error %d, want %d", tc.text, got, tc.want)
		}
	}
}

func code(e *errorResponse) int {
	if e == nil {
		return 0
	}
	return e.Error.Code
}

func TestReadMessage_ID(t *testing.T) {
	t.Run("has the ID of the message", func(t *testing.T) {
		for text, want := range map[string]string{
			`{"jsonrpc":"1.0","id":"x","method":"ping"}`:   `"x"`,
			`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`:   "",
			`[{"jsonrpc":"1.0","id":"x","method":"ping"}]`: "",
			`{"jsonrpc":"2.0","id":{},"method":"ping"}`:    "",
			`{"jsonrpc":"2.0","id":1,"method":null}`:       "1",
			`{"jsonrpc":"2.0","id":1}`:                     "1",
			`{"jsonrpc":"2.0","id":1,"error":{}}`:          "",
		} {
			if _, e := readMessage([]byte(text)); e == nil || string(e.ID) != want {
				t.Errorf("%s is rejected with %+v, want the id %q", text, e, want)
			}
		}
	})

	t.Run("is missing without a message", func(t *testing.T) {
		text, err := json.Marshal(newError(jsonrpc.CodeParseError, "parse error"))
		if err != nil {
			t.Fatal(err)
		}
		if want := `{"jsonrpc":"2.0","error":{"code":-32700,"message":"parse error"}}`; string(
			text) != want {
			t.Errorf("error = %s, want %s", text, want)
		}
	})
}
