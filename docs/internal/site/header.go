package site

import "net/http"

// Content security policies. The one of pages allows nothing inline and nothing from
// elsewhere; the one of pictures is for those who open a diagram by itself, which holds
// its own style.
const (
	pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
		"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
	picturePolicy = "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'"
)

// protect sets the headers that keep a page from doing, or being made to do, what
// documentation need not.
func protect(h http.Header) {
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "strict-origin-when-cross-origin")
	h.Set("Permissions-Policy",
		"camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

func protectPicture(h http.Header) { h.Set("Content-Security-Policy", picturePolicy) }
