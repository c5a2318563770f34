package xenv

import "testing"

func TestApplicationName(t *testing.T) {
	t.Run("returns APP_NAME", func(t *testing.T) {
		t.Setenv(AppName.String(), "shop")
		if got := ApplicationName(); got != "shop" {
			t.Errorf("ApplicationName = %q, want shop", got)
		}
	})
	for module, want := range map[string]string{
		"example.com/shop/orders":    "orders",
		"example.com/shop/orders/v2": "orders",
		"orders":                     "orders",
		"":                           defaultName,
		"v2":                         defaultName,
		"command-line-arguments":     defaultName,
	} {
		if got := moduleName(module); got != want {
			t.Errorf("moduleName(%q) = %q, want %q", module, got, want)
		}
	}
}
