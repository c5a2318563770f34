package main

import (
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/major/plinthtest"
	"github.com/plinthgo/plinth/core/major/xdb"
)

func TestOrder(t *testing.T) {
	app := plinthtest.New(t, options()...)
	var order Order
	if r := app.Request("POST", "/orders", gin.H{"item": "tea", "count": 2}); r.Status() != 200 {
		t.Fatalf("response = %d %s", r.Status(), r.Body())
	} else if r.Into(&order); order.ID.IsZero() || order.Item != "tea" {
		t.Errorf("order = %+v", order)
	}
	for _, tc := range []struct {
		name string
		body any
		want string
	}{
		{name: "sold out", body: gin.H{"item": "gone", "count": 2}, want: "SOLD_OUT"},
		{name: "no count", body: gin.H{"item": "tea"}, want: "BODY_ERROR"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if r := app.Request("POST", "/orders", tc.body); r.Output() != tc.want {
				t.Errorf("response = %d %s, want %s", r.Status(), r.Body(), tc.want)
			}
		})
	}
}

func TestClean(t *testing.T) {
	app := plinthtest.New(t, options()...)
	ctx := app.Context()
	old := Order{Item: "tea", Count: 1}
	old.CreatedAt = time.Now().AddDate(0, 0, -91)
	for _, order := range []*Order{&old, {Item: "cup", Count: 1}} {
		if err := xdb.MustGetDB(ctx).Create(order).Error; err != nil {
			t.Fatal(err)
		}
	}
	if err := clean(ctx); err != nil {
		t.Fatal(err)
	}
	var remaining []Order
	if err := xdb.MustGetDB(ctx).Find(&remaining).Error; err != nil || len(remaining) != 1 ||
		remaining[0].Item != "cup" {
		t.Errorf("remaining orders = %+v, %v, want the cup", remaining, err)
	}
	for _, job := range jobs() {
		if err := job.Err(); err != nil {
			t.Error(err)
		}
	}
}
