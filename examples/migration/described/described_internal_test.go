package main

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/major/plinthtest"
)

func TestOrder(t *testing.T) {
	app := plinthtest.New(t, options()...)
	var order Order
	r := app.Request(http.MethodPost, "/orders", gin.H{"item": "tea", "count": 2})
	if r.Status() != http.StatusOK {
		t.Fatalf("response = %d %s", r.Status(), r.Body())
	}
	if r.Into(&order); order.ID.IsZero() || order.Item != "tea" {
		t.Errorf("order = %+v", order)
	}
	r = app.Request(http.MethodPost, "/orders", gin.H{"item": "gone", "count": 2})
	if r.Output() != "SOLD_OUT" {
		t.Errorf("response = %d %s, want SOLD_OUT", r.Status(), r.Body())
	}
}

func TestDocument(t *testing.T) {
	var document struct {
		Paths map[string]map[string]struct {
			Responses map[string]any `json:"responses"`
		} `json:"paths"`
	}
	r := plinthtest.New(t, options()...).Request(http.MethodGet, "/openapi.json", nil)
	if err := json.Unmarshal([]byte(r.Body()), &document); err != nil {
		t.Fatal(err)
	}
	if document.Paths["/orders"]["post"].Responses["409"] == nil {
		t.Errorf("the document does not describe the response SOLD_OUT:\n%s", r.Body())
	}
}
