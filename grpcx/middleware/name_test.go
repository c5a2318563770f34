package middleware_test

import (
	"strings"
	"testing"

	"github.com/plinthgo/plinth/grpcx/middleware"
)

func TestExtractServiceName(t *testing.T) {
	for _, tc := range []struct{ name, method, want string }{
		{"full", "/shop.v1.Orders/Place", "shop.v1.Orders"},
		{"without the slash", "shop.v1.Orders/Place", "shop.v1.Orders"},
		{"without a package", "/Orders/Place", "Orders"},
		{"empty", "", ""},
		{"slash", "/", ""},
		{"slashes", "//", ""},
		{"no method", "/shop.v1.Orders", ""},
		{"no method, slash", "/shop.v1.Orders/", ""},
		{"no service", "//Place", ""},
		{"no service, no slash", "/Place", ""},
		{"two slashes at the start", "//shop.v1.Orders/Place", ""},
		{"three parts", "/shop/v1.Orders/Place", ""},
		{"slash at the end", "/shop.v1.Orders/Place/", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := middleware.ExtractServiceName(tc.method); got != tc.want {
				t.Errorf("ExtractServiceName(%q) = %q, want %q", tc.method, got, tc.want)
			}
		})
	}
}

func TestExtractServiceName_Allocations(t *testing.T) {
	method := "/" + service + "/Unary"
	got := testing.AllocsPerRun(1000, func() { _ = middleware.ExtractServiceName(method) })
	if got != 0 {
		t.Errorf("allocations = %v, want 0", got)
	}
}

func FuzzExtractServiceName(f *testing.F) {
	for _, seed := range []string{
		"", "/", "//", "/a/b", "a/b", "//b", "/a/", "/a/b/c", "/a//b", "/\x00/\xff",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, method string) {
		got := middleware.ExtractServiceName(method)
		if strings.Contains(got, "/") {
			t.Fatalf("ExtractServiceName(%q) = %q, want no slash", method, got)
		}
		if got == "" {
			return
		}
		full := "/" + strings.TrimPrefix(method, "/")
		name := full[strings.LastIndexByte(full, '/')+1:]
		if name == "" || "/"+got+"/"+name != full {
			t.Fatalf("ExtractServiceName(%q) = %q, want the service of method %q",
				method, got, name)
		}
		if again := middleware.ExtractServiceName("/" + got + "/" + name); again != got {
			t.Fatalf("ExtractServiceName of %q and %q = %q", got, name, again)
		}
	})
}
