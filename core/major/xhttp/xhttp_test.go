package xhttp_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/major/xhttp"
)

func contextWith(header xhttp.Header, value string) *gin.Context {
	c, _ := gin.CreateTestContext(httptest.NewRecorder())
	c.Request = httptest.NewRequestWithContext(context.Background(), http.MethodGet, "/",
		http.NoBody)
	c.Request.Header[string(header)] = []string{value}
	return c
}

func TestHeader_String(t *testing.T) {
	for _, h := range []xhttp.Header{
		xhttp.Accept, xhttp.AcceptLanguage, xhttp.AccessControlAllowCreds,
		xhttp.AccessControlAllowHeaders, xhttp.AccessControlAllowMethods,
		xhttp.AccessControlAllowOrigin, xhttp.AccessControlExposeHeaders,
		xhttp.AccessControlMaxAge, xhttp.AccessControlRequestHeaders,
		xhttp.AccessControlRequestMethod, xhttp.Allow, xhttp.Authorization, xhttp.CacheControl,
		xhttp.ContentDisposition, xhttp.ContentEncoding, xhttp.ContentLength, xhttp.ContentType,
		xhttp.ETag, xhttp.LastModified, xhttp.Origin, xhttp.Referer, xhttp.RefreshToken,
		xhttp.RequestUUID, xhttp.RetryAfter, xhttp.UserAgent, xhttp.Vary,
		xhttp.XContentTypeOptions, xhttp.XForwardedFor,
	} {
		if got := http.CanonicalHeaderKey(h.String()); got != h.String() {
			t.Errorf("header %q, want the canonical %q", h, got)
		}
	}
	if got := http.CanonicalHeaderKey("X-Request-UUID"); got != xhttp.RequestUUID.String() {
		t.Errorf("X-Request-UUID is %q, want %q", xhttp.RequestUUID, got)
	}
}

func TestHeader_GetAndSet(t *testing.T) {
	h := http.Header{}
	xhttp.Vary.Set(h, "Accept")
	if got := xhttp.Vary.Get(h); got != "Accept" {
		t.Errorf("Vary = %q, want Accept", got)
	}
}

func TestGetAuthorization(t *testing.T) {
	for _, tc := range []struct {
		name   string
		header string
		want   string
	}{
		{name: "bearer", header: "Bearer abc.def-1_2~3+4/5==", want: "abc.def-1_2~3+4/5=="},
		{name: "scheme in any case", header: "bEARER abc", want: "abc"},
		{name: "several spaces", header: "  Bearer   abc ", want: "abc"},
		{name: "missing", header: "", want: ""},
		{name: "no token", header: "Bearer ", want: ""},
		{name: "bare token", header: "abc", want: ""},
		{name: "other scheme", header: "Basic YTpi", want: ""},
		{name: "two words", header: "Bearer abc def", want: ""},
		{name: "padding only", header: "Bearer ==", want: ""},
		{name: "control character", header: "Bearer a\tb", want: ""},
		{name: "not ASCII", header: "Bearer 中文", want: ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := contextWith(xhttp.Authorization, tc.header)
			if got := xhttp.GetAuthorization(c); got != tc.want {
				t.Errorf("GetAuthorization = %q, want %q", got, tc.want)
			}
		})
	}
}

func TestParseAuthorization(t *testing.T) {
	for _, tc := range []struct {
		name                string
		value               string
		scheme, credentials string
		want                bool
	}{
		{name: "basic", value: "Basic YTpi", scheme: "Basic", credentials: "YTpi", want: true},
		{
			name: "parameters", value: `Digest username="a b", uri="/"`, scheme: "Digest",
			credentials: `username="a b", uri="/"`, want: true,
		},
		{name: "scheme only", value: "Negotiate", want: false},
		{name: "invalid scheme", value: "Ba(sic x", want: false},
		{name: "empty", value: "", want: false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			scheme, credentials, ok := xhttp.ParseAuthorization(tc.value)
			if scheme != tc.scheme || credentials != tc.credentials || ok != tc.want {
				t.Errorf("got %q, %q, %t; want %q, %q, %t",
					scheme, credentials, ok, tc.scheme, tc.credentials, tc.want)
			}
		})
	}
}

func TestGetToken(t *testing.T) {
	for _, tc := range []struct {
		name   string
		header string
		want   string
	}{
		{name: "bare", header: " abc ", want: "abc"},
		{name: "bearer", header: "Bearer abc", want: "abc"},
		{name: "other scheme", header: "Basic abc", want: ""},
		{name: "missing", header: "", want: ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := contextWith(xhttp.RefreshToken, tc.header)
			if got := xhttp.GetToken(c, xhttp.RefreshToken); got != tc.want {
				t.Errorf("GetToken = %q, want %q", got, tc.want)
			}
		})
	}
}

func TestReaders_NoRequest(t *testing.T) {
	c, _ := gin.CreateTestContext(httptest.NewRecorder())
	for name, got := range map[string]string{
		"GetAuthorization": xhttp.GetAuthorization(c),
		"GetToken":         xhttp.GetToken(c, xhttp.RefreshToken),
	} {
		if got != "" {
			t.Errorf("%s = %q, want an empty string", name, got)
		}
	}
}

func FuzzParseAuthorization(f *testing.F) {
	f.Add("Bearer abc")
	f.Add(" \t")
	f.Fuzz(func(t *testing.T, value string) {
		scheme, credentials, ok := xhttp.ParseAuthorization(value)
		if ok != (scheme != "" && credentials != "") {
			t.Errorf("ParseAuthorization(%q) = %q, %q, %t", value, scheme, credentials, ok)
		}
	})
}

func ExampleGetAuthorization() {
	c := contextWith(xhttp.Authorization, "Bearer abc.def")
	fmt.Println(xhttp.GetAuthorization(c))
	// Output: abc.def
}
