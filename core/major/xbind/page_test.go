package xbind_test

import (
	"testing"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xbind"
	"github.com/plinthgo/plinth/core/major/xmodels"
)

func TestBinder_Query_StrictPageRequest(t *testing.T) {
	for query, want := range map[string]xmodels.PageRequest{
		"":                          {Page: 1, Size: 20, Sort: "asc"},
		"page=2&size=200&sort=desc": {Page: 2, Size: 200, Sort: "desc"},
		"page=&size=&sort=":         {Page: 1, Size: 20, Sort: "asc"},
	} {
		got := xbind.Bind(withQuery(query), &xmodels.StrictPageRequest{}).Query()
		if got == nil || got.PageRequest() != want {
			t.Errorf("%q: %v, want %v", query, got, want)
		}
	}
	for query, want := range map[string]string{
		"page=0": "page:min", "page=-1": "page:min", "size=1000000": "size:max",
		"size=0": "size:min", "sort=up": "sort:oneof",
		"page=0&size=1000000&sort=up": "page:min size:max sort:oneof",
	} {
		c := withQuery(query)
		if got := xbind.Bind(c, &xmodels.StrictPageRequest{}).Query(); got != nil {
			t.Errorf("%q: accepted %v", query, got)
			continue
		}
		if e := reported(t, c); e.GetErrorCode() != xerror.ParameterError ||
			failedFields(e) != want {
			t.Errorf("%q: %v with %q, want %q", query, e, failedFields(e), want)
		}
	}
}
