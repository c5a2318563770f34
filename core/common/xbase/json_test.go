package xbase_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/core/common/xbase"
)

// reference is the plinth envelope as a struct for encoding/json.
type reference struct {
	Context      string `json:"context"`
	Output       string `json:"output"`
	Code         int    `json:"code"`
	Message      string `json:"message"`
	ErrorMessage string `json:"error_message,omitempty"`
	Overhead     int64  `json:"overhead,omitempty"`
	Data         any    `json:"data,omitempty"`
}

var edgeCases = []string{
	"", "plain", `"\/`, "\x00\x01\x1f\x7f", "\b\f\n\r\t", "<script>&</script>",
	"\u2028\u2029\u2027", "汉字", "🦀",
	"\xff", "a\xc3", "\xe2\x80", "\xe2\x80\xa8", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc0\x80",
	"\ufffd", "\xef\xbf\xbd\xff",
}

// replacement replaces the escape sequence \ufffd with U+FFFD. Before Go 1.27,
// encoding/json writes the escape sequence for invalid bytes.
var replacement = strings.NewReplacer(`\\`, `\\`, `\ufffd`, "\ufffd")

// marshal encodes v like encoding/json of Go 1.27.
func marshal(v any) (string, error) {
	text, err := json.Marshal(v)
	return replacement.Replace(string(text)), err
}

func checkString(t *testing.T, s string) {
	t.Helper()
	want, err := marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := xbase.AppendValue([]byte("x"), s); err != nil || string(got) != "x"+want {
		t.Errorf("AppendValue(%q) = %s, %v, want x%s", s, got, err, want)
	}
}

func TestAppendValue_Strings(t *testing.T) {
	for _, s := range edgeCases {
		checkString(t, s)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		s := ""
		for range random.IntN(8) {
			if random.IntN(2) == 0 {
				s += edgeCases[random.IntN(len(edgeCases))]
			} else {
				s += string([]byte{byte(random.Uint32()), byte(random.Uint32())})
			}
		}
		checkString(t, s)
	}
}

func TestBaseResponse_AppendJSON_Null(t *testing.T) {
	const envelope = `{"context":"","output":"","code":0,"message":""`
	for _, v := range []any{
		nil, (*user)(nil), []user(nil), map[string]int(nil), json.RawMessage("null"),
	} {
		got, err := (&xbase.BaseResponse{Data: v}).AppendJSON(nil, xbase.ProfilePlinth)
		if err != nil || string(got) != envelope+"}" {
			t.Errorf("%#v: %s, %v", v, got, err)
		}
	}
	got, err := (&xbase.BaseResponse{Data: "null"}).AppendJSON(nil, xbase.ProfilePlinth)
	if err != nil || string(got) != envelope+`,"data":"null"}` {
		t.Errorf("%s, %v", got, err)
	}
}

func FuzzAppendValue(f *testing.F) {
	for _, s := range edgeCases {
		f.Add(s)
	}
	f.Fuzz(checkString)
}

func FuzzBaseResponse_AppendJSON(f *testing.F) {
	for _, s := range edgeCases {
		f.Add(s, "Success", 200, "done", s, int64(5), s)
	}
	f.Add("", "", 0, "", "", int64(0), "")
	f.Fuzz(func(t *testing.T, context, output string, code int, message, errorMessage string,
		overhead int64, data string,
	) {
		for _, d := range []any{
			nil, data, []string{data}, map[string]any{data: code}, user{Name: data},
		} {
			want, err := marshal(reference{
				context, output, code, message, errorMessage, overhead, d,
			})
			if err != nil {
				t.Fatal(err)
			}
			r := xbase.BaseResponse{
				Context: context, Output: output, Code: code, Message: message,
				ErrorMessage: errorMessage, Overhead: overhead, Data: d,
			}
			if got, err := r.AppendJSON(nil, xbase.ProfilePlinth); err != nil ||
				string(got) != want {
				t.Errorf("got %s, %v\nwant %s", got, err, want)
			}
			if got, err := r.AppendJSON(nil, xbase.ProfileJava); err != nil || !json.Valid(got) {
				t.Errorf("java: %s, %v", got, err)
			}
		}
	})
}
