package accept_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/docs/internal/accept"
)

func TestItems(t *testing.T) {
	for header, want := range map[string]string{
		"":                                 "",
		" , ,":                             "",
		"gzip":                             "gzip 1",
		"br;q=0.5, GZIP ; Q = 0":           "br 0.5, gzip 0",
		"gzip;x=1;q=0":                     "gzip 0",
		"application/json;q=x, */*":        "application/json 0, */* 1",
		"text/html;level=1;q=0.4,text/xml": "text/html 0.4, text/xml 1",
	} {
		var got []string
		for name, weight := range accept.Items([]string{header}) {
			got = append(got, fmt.Sprint(name, " ", weight))
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("Items(%q) = %q, want %q", header, strings.Join(got, ", "), want)
		}
	}
}

func TestItems_SeveralValues(t *testing.T) {
	n := 0
	for range accept.Items([]string{"a, b", "c"}) {
		n++
	}
	if n != 3 {
		t.Errorf("%d items, want 3", n)
	}
}
