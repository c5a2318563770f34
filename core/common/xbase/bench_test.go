package xbase_test

import (
	"encoding/json"
	"testing"

	"github.com/plinthgo/plinth/core/common/xbase"
)

func BenchmarkEnvelope(b *testing.B) {
	const id = "6f9619ff-8b86-4d01-b42d-00c04fc964ff"
	for _, tc := range []struct {
		name string
		data any
	}{
		{name: "nil"},
		{name: "struct", data: &user{ID: 7, Name: "name"}},
	} {
		r := xbase.BaseResponse{
			Context: id, Output: "Success", Code: 200, Message: "user registered", Data: tc.data,
		}
		b.Run(tc.name+"/append", func(b *testing.B) {
			b.ReportAllocs()
			buf := make([]byte, 0, 1024)
			for b.Loop() {
				if _, err := r.AppendJSON(buf, xbase.ProfilePlinth); err != nil {
					b.Fatal(err)
				}
			}
		})
		plain := reference{
			r.Context, r.Output, r.Code, r.Message, r.ErrorMessage, r.Overhead, r.Data,
		}
		b.Run(tc.name+"/marshal", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := json.Marshal(&plain); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
