package xbase_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plinthgo/plinth/core/common/xbase"
)

type user struct {
	ID   int64  `json:"id,string"`
	Name string `json:"name"`
}

// unencodable fails to encode after its first field.
type unencodable struct {
	First string   `json:"first"`
	Then  chan int `json:"then"`
}

type failingMarshaler struct{}

var errMarshal = errors.New("marshal failed")

func (failingMarshaler) MarshalJSON() ([]byte, error) { return nil, errMarshal }

func TestBaseResponse_AppendJSON(t *testing.T) {
	t.Run("encodes every profile", func(t *testing.T) {
		for _, tc := range []struct {
			name   string
			r      xbase.BaseResponse
			plinth string
			java   string
		}{
			{
				name:   "zero",
				plinth: `{"context":"","output":"","code":0,"message":""}`,
				java:   `{"context":"","output":"","code":0,"message":"","errorMessage":null,"duration":0,"data":null}`,
			},
			{
				name: "success without data",
				r: xbase.BaseResponse{
					Context: "id", Output: xbase.OutputSuccess,
					Code: xbase.CodeSuccess, Message: "done",
				},
				plinth: `{"context":"id","output":"Success","code":200,"message":"done"}`,
				java:   `{"context":"id","output":"Success","code":200,"message":"done","errorMessage":null,"duration":0,"data":null}`,
			},
			{
				name: "all fields",
				r: xbase.BaseResponse{
					Context: "id", Output: "EXISTED", Code: 40001, Message: "taken",
					ErrorMessage: "<name>", Overhead: 12_999, Data: user{ID: 7, Name: "n"},
				},
				plinth: `{"context":"id","output":"EXISTED","code":40001,"message":"taken","error_message":"\u003cname\u003e","overhead":12999,"data":{"id":"7","name":"n"}}`,
				java:   `{"context":"id","output":"EXISTED","code":40001,"message":"taken","errorMessage":"\u003cname\u003e","duration":12,"data":{"id":"7","name":"n"}}`,
			},
			{
				name:   "nil pointer as data",
				r:      xbase.BaseResponse{Data: (*user)(nil)},
				plinth: `{"context":"","output":"","code":0,"message":""}`,
				java:   `{"context":"","output":"","code":0,"message":"","errorMessage":null,"duration":0,"data":null}`,
			},
			{
				name:   "empty slice as data",
				r:      xbase.BaseResponse{Data: []user{}},
				plinth: `{"context":"","output":"","code":0,"message":"","data":[]}`,
				java:   `{"context":"","output":"","code":0,"message":"","errorMessage":null,"duration":0,"data":[]}`,
			},
			{
				name:   "false, zero and empty string as data",
				r:      xbase.BaseResponse{Data: []any{false, 0, ""}},
				plinth: `{"context":"","output":"","code":0,"message":"","data":[false,0,""]}`,
				java:   `{"context":"","output":"","code":0,"message":"","errorMessage":null,"duration":0,"data":[false,0,""]}`,
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				for profile, want := range map[xbase.Profile]string{
					xbase.ProfilePlinth:     tc.plinth,
					xbase.ProfileJava:       tc.java,
					xbase.ProfileJavaStrict: tc.java,
				} {
					got, err := tc.r.AppendJSON([]byte("before"), profile)
					if err != nil {
						t.Fatal(err)
					}
					if want = "before" + want; string(got) != want {
						t.Errorf("%v\n got %s\nwant %s", profile, got, want)
					}
				}
			})
		}
	})

	t.Run("returns the buffer unchanged after an error", func(t *testing.T) {
		for _, tc := range []struct {
			name string
			data any
			want error
		}{
			{name: "channel", data: make(chan int)},
			{name: "second field", data: unencodable{First: "written"}},
			{name: "not a number", data: math.NaN()},
			{name: "marshaler", data: failingMarshaler{}, want: errMarshal},
		} {
			t.Run(tc.name, func(t *testing.T) {
				for _, profile := range []xbase.Profile{xbase.ProfilePlinth, xbase.ProfileJava} {
					dst := append(make([]byte, 0, 1024), "before"...)
					r := xbase.BaseResponse{Context: "id", Data: tc.data}
					got, err := r.AppendJSON(dst, profile)
					if err == nil {
						t.Fatalf("%v: error = nil", profile)
					}
					if tc.want != nil && !errors.Is(err, tc.want) {
						t.Errorf("%v: error %v, want %v", profile, err, tc.want)
					}
					if !strings.HasPrefix(err.Error(), "xbase: ") {
						t.Errorf("%v: error %q has no package prefix", profile, err)
					}
					if string(got) != "before" {
						t.Errorf("%v: buffer %q, want %q", profile, got, "before")
					}
				}
				ok := xbase.BaseResponse{Data: 1}
				if got, err := ok.AppendJSON(nil, xbase.ProfilePlinth); err != nil ||
					!json.Valid(got) {
					t.Errorf("next response = %s, %v", got, err)
				}
			})
		}
	})
}

func TestBaseResponse_MarshalJSON(t *testing.T) {
	r := xbase.BaseResponse{Context: "id", Output: "Success", Code: 200, Data: user{ID: 1}}
	want, err := r.AppendJSON(nil, xbase.ProfilePlinth)
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]any{"value": r, "pointer": &r} {
		if got, err := json.Marshal(v); err != nil || string(got) != string(want) {
			t.Errorf("%s: %s, %v, want %s", name, got, err, want)
		}
	}
}

func TestBaseResponse_UnmarshalJSON(t *testing.T) {
	t.Run("decodes every profile", func(t *testing.T) {
		want := xbase.BaseResponse{
			Context: "id", Output: "EXISTED", Code: 40001, Message: "taken", ErrorMessage: "name",
			Overhead: 3000,
		}
		for _, profile := range []xbase.Profile{xbase.ProfilePlinth, xbase.ProfileJava} {
			sent := want
			sent.Data = user{ID: 7, Name: "n"}
			text, err := sent.AppendJSON(nil, profile)
			if err != nil {
				t.Fatal(err)
			}

			var data user
			got := xbase.BaseResponse{Data: &data}
			if err := json.Unmarshal(text, &got); err != nil {
				t.Fatal(err)
			}
			if data != (user{ID: 7, Name: "n"}) {
				t.Errorf("%v: data %+v was not decoded into the pointer", profile, data)
			}
			got.Data = nil
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%v (-want +got):\n%s", profile, diff)
			}

			var untyped xbase.BaseResponse
			if err := json.Unmarshal(text, &untyped); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(map[string]any{"id": "7", "name": "n"}, untyped.Data); diff != "" {
				t.Errorf("%v: data (-want +got):\n%s", profile, diff)
			}
		}
	})

	t.Run("replaces previous values", func(t *testing.T) {
		r := xbase.BaseResponse{ErrorMessage: "old", Overhead: 1, Data: "old"}
		text := []byte(`{"context":"id","output":"Success","code":200,"message":"m"}`)
		if err := json.Unmarshal(text, &r); err != nil {
			t.Fatal(err)
		}
		if r.ErrorMessage != "" || r.Overhead != 0 {
			t.Errorf("got %+v, want the new response only", r)
		}
	})

	t.Run("rejects other JSON values", func(t *testing.T) {
		for _, text := range []string{`[]`, `{"code":"x"}`, `1`} {
			var r xbase.BaseResponse
			if err := json.Unmarshal([]byte(text), &r); err == nil {
				t.Errorf("UnmarshalJSON(%s) = nil error, %+v", text, r)
			}
		}
	})
}

func TestParseProfile(t *testing.T) {
	for _, p := range []xbase.Profile{
		xbase.ProfilePlinth, xbase.ProfileJava, xbase.ProfileJavaStrict,
	} {
		if got, err := xbase.ParseProfile(p.String()); err != nil || got != p {
			t.Errorf("ParseProfile(%q) = %v, %v", p, got, err)
		}
	}
	for _, name := range []string{"", "Java", "xml"} {
		if _, err := xbase.ParseProfile(name); err == nil ||
			!strings.Contains(err.Error(), "plinth, java, java-strict") {
			t.Errorf("ParseProfile(%q): error %v does not list the accepted names", name, err)
		}
	}
	if got := xbase.Profile(9).String(); got != "Profile(9)" {
		t.Errorf("String of an unknown profile = %q", got)
	}
}

func TestBaseResponse_AppendJSON_Concurrent(t *testing.T) {
	var wg sync.WaitGroup
	for id := range 8 {
		wg.Go(func() {
			r := xbase.BaseResponse{Context: fmt.Sprint(id), Data: map[string]int{"id": id}}
			want := fmt.Sprintf(
				`{"context":"%d","output":"","code":0,"message":"","data":{"id":%d}}`, id, id)
			var buf []byte
			for range 500 {
				var err error
				if buf, err = r.AppendJSON(buf[:0], xbase.ProfilePlinth); err != nil ||
					string(buf) != want {
					t.Errorf("got %s, %v, want %s", buf, err, want)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestBaseResponse_AppendJSON_Allocations(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector drops pooled items")
	}
	dst := make([]byte, 0, 4096)
	for _, tc := range []struct {
		name string
		data any
	}{
		{name: "no data"},
		{name: "struct", data: &user{ID: 7, Name: "n"}},
		{name: "strings with escapes", data: &[]user{{Name: "<first>\nsecond"}, {Name: "a & b"}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := xbase.BaseResponse{
				Context: "id", Output: "Success", Code: 200, Message: "done",
				Overhead: 9, Data: tc.data,
			}
			for _, profile := range []xbase.Profile{xbase.ProfilePlinth, xbase.ProfileJava} {
				got := testing.AllocsPerRun(200, func() {
					if _, err := r.AppendJSON(dst, profile); err != nil {
						t.Fatal(err)
					}
				})
				if got != 0 {
					t.Errorf("%v: %v allocations, want 0", profile, got)
				}
			}
		})
	}
}
