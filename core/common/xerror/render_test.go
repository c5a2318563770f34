package xerror_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/plinthgo/plinth/core/common/xbase"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/defined/xctx"
)

func TestError_Response(t *testing.T) {
	t.Run("returns the envelope", func(t *testing.T) {
		e := xerror.WrapData(xerror.UniqueConstraint, "choose another name", errSentinel, "name")
		r := newRequest(t.Context(), "")
		r.SetID("id-1")
		chinese := newRequest(t.Context(), "zh-CN,zh;q=0.9")
		chinese.SetID("id-1")
		for _, tc := range []struct {
			name    string
			request *xctx.Request
			profile xbase.Profile
			want    xbase.BaseResponse
		}{
			{
				"plinth", r, xbase.ProfilePlinth,
				xbase.BaseResponse{
					Context: "id-1", Output: "UNIQUE_CONSTRAINT", Code: 40907,
					Message:      "A value that must be unique is already taken",
					ErrorMessage: "choose another name", Data: "name",
				},
			},
			{
				"plinth in Chinese", chinese, xbase.ProfilePlinth,
				xbase.BaseResponse{
					Context: "id-1", Output: "UNIQUE_CONSTRAINT", Code: 40907,
					Message:      "该值已被占用，不能重复",
					ErrorMessage: "choose another name", Data: "name",
				},
			},
			{
				"java", r, xbase.ProfileJava,
				xbase.BaseResponse{
					Context: "id-1", Output: "Existed", Code: 40001,
					Message:      "A value that must be unique is already taken",
					ErrorMessage: "choose another name", Data: "name",
				},
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				status, got := e.Response(tc.request, tc.profile)
				if status != 409 {
					t.Errorf("status %d, want 409", status)
				}
				got.Overhead = 0
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	})

	t.Run("sets the overhead in debug mode and in the java profile", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			for _, tc := range []struct {
				name    string
				debug   bool
				profile xbase.Profile
				want    int64
			}{
				{"plinth", false, xbase.ProfilePlinth, 0},
				{"plinth in debug mode", true, xbase.ProfilePlinth, 1500},
				{"java", false, xbase.ProfileJava, 1500},
			} {
				r := xctx.NewRequest(t.Context(), nil)
				r.SetDebug(tc.debug)
				<-time.After(1500 * time.Microsecond)
				_, got := xerror.New(xerror.Gone, "").Response(r, tc.profile)
				if got.Overhead != tc.want {
					t.Errorf("%s: %d µs, want %d", tc.name, got.Overhead, tc.want)
				}
			}
		})
	})

	t.Run("uses the request ID of the context", func(t *testing.T) {
		e := xerror.New(xerror.Gone, "")
		ctx := context.WithValue(t.Context(), xctx.RequestKey, "id-2")
		if _, got := e.Response(ctx, xbase.ProfilePlinth); got.Context != "id-2" {
			t.Errorf("context %q, want id-2", got.Context)
		}
		if _, got := e.Response(t.Context(), xbase.ProfilePlinth); got.Context != "" {
			t.Errorf("context %q, want empty", got.Context)
		}
	})

	t.Run("omits an empty error message", func(t *testing.T) {
		_, r := xerror.From(errSentinel).Response(t.Context(), xbase.ProfilePlinth)
		text, err := r.AppendJSON(nil, xbase.ProfilePlinth)
		want := `{"context":"","output":"SERVER_INTERNAL_ERROR","code":50000,"message":"Something went wrong on our side"}`
		if err != nil || string(text) != want {
			t.Errorf("%s, %v, want %s", text, err, want)
		}
	})
}

func TestError_Problem(t *testing.T) {
	t.Run("returns problem details", func(t *testing.T) {
		const id = "6f9619ff-8b86-4d01-b42d-00c04fc964ff"
		for _, tc := range []struct {
			name string
			err  *xerror.Error
			id   string
			lang string
			want string
		}{
			{
				name: "all members",
				err: xerror.WrapData(xerror.NotExist, "no user 7",
					errSentinel, map[string]int{"user": 7}),
				id: id,
				want: `{"type":"about:blank","title":"Bad Request","status":400,"detail":"no user 7","instance":"urn:uuid:` + id + `",` +
					`"code":40000,"output":"NOT_EXIST","context":"` + id + `","data":{"user":7}}`,
			},
			{
				name: "code only",
				err:  xerror.New(xerror.NotFound, ""),
				want: `{"type":"about:blank","title":"Not Found","status":404,"detail":"Not found","code":40400,"output":"NOT_FOUND","context":""}`,
			},
			{
				name: "Chinese",
				err:  xerror.New(xerror.NotFound, ""), lang: "zh",
				want: `{"type":"about:blank","title":"Not Found","status":404,"detail":"未找到","code":40400,"output":"NOT_FOUND","context":""}`,
			},
			{
				name: "nil pointer as data",
				err:  xerror.WrapData(xerror.NotFound, "", nil, (*int)(nil)),
				want: `{"type":"about:blank","title":"Not Found","status":404,"detail":"Not found","code":40400,"output":"NOT_FOUND","context":""}`,
			},
			{
				name: "ID that is not a UUID",
				err:  xerror.New(xerror.NotFound, ""), id: "client-17",
				want: `{"type":"about:blank","title":"Not Found","status":404,"detail":"Not found","code":40400,"output":"NOT_FOUND","context":"client-17"}`,
			},
			{
				name: "status without a text",
				err:  xerror.New(xerror.MustRegistered(49970, "NO_PHRASE"), ""),
				want: `{"type":"about:blank","title":"A test code","status":499,"detail":"A test code","code":49970,"output":"NO_PHRASE","context":""}`,
			},
			{
				name: "escapes",
				err:  xerror.New(xerror.NotFound, "<\"\u2028\xff"),
				want: `{"type":"about:blank","title":"Not Found","status":404,"detail":"\u003c\"\u2028�","code":40400,"output":"NOT_FOUND","context":""}`,
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				r := newRequest(t.Context(), tc.lang)
				r.SetID(tc.id)
				got, err := xbase.AppendValue([]byte("x"), tc.err.Problem(r))
				if err != nil || string(got) != "x"+tc.want {
					t.Errorf("%v\n got %s\nwant x%s", err, got, tc.want)
				}
			})
		}
	})

	t.Run("sets the instance to the URN of a UUID", func(t *testing.T) {
		r := xctx.NewRequest(t.Context(), nil)
		r.GenerateID()
		p := xerror.New(xerror.NotFound, "").Problem(r)
		if _, err := uuid.Parse(p.Instance); err != nil ||
			!strings.HasPrefix(p.Instance, "urn:uuid:") {
			t.Errorf("instance %q: %v", p.Instance, err)
		}
		for _, id := range []string{
			"6f9619ff-8b86-4d01-b42d-00c04fc964f", "6f9619ff08b86-4d01-b42d-00c04fc964ff",
			"6f9619fg-8b86-4d01-b42d-00c04fc964ff",
			"6f9619ff8b864d01b42d00c04fc964ff", "------------------------------------",
		} {
			r.SetID(id)
			if p := xerror.New(xerror.NotFound, "").Problem(r); p.Instance != "" {
				t.Errorf("instance of %s = %s, want empty", id, p.Instance)
			}
		}
	})

	t.Run("fails to encode unsupported data", func(t *testing.T) {
		e := xerror.WrapData(xerror.NotFound, "", nil, make(chan int))
		got, err := xbase.AppendValue([]byte("before"), e.Problem(t.Context()))
		var unsupported *json.UnsupportedTypeError
		if !errors.As(err, &unsupported) || !bytes.Equal(got, []byte("before")) {
			t.Errorf("%q, %v", got, err)
		}
	})
}

func TestError_Response_Allocations(t *testing.T) {
	r := newRequest(t.Context(), "zh-CN,zh;q=0.9,en;q=0.8")
	r.GenerateID()
	e := xerror.New(xerror.NotFound, "no user 7")
	buf := make([]byte, 0, 1024)
	for name, run := range map[string]func(){
		"plinth": func() {
			_, resp := e.Response(r, xbase.ProfilePlinth)
			buf, _ = resp.AppendJSON(buf[:0], xbase.ProfilePlinth)
		},
		"java": func() {
			_, resp := e.Response(r, xbase.ProfileJava)
			buf, _ = resp.AppendJSON(buf[:0], xbase.ProfileJava)
		},
	} {
		if got := testing.AllocsPerRun(100, run); got != 0 {
			t.Errorf("%s: %v allocations, want 0", name, got)
		}
	}
}
