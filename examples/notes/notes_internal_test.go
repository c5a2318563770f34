package main

import (
	"net/http"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/major/plinthtest"
)

func TestNote(t *testing.T) {
	app := plinthtest.New(t, options()...) // the whole application, with the database in memory
	var note Note
	r := app.Request(http.MethodPost, "/notes", gin.H{"text": "buy milk"})
	if r.Into(&note); r.Status() != http.StatusOK || note.ID.IsZero() || note.Text != "buy milk" {
		t.Errorf("response = %d %s", r.Status(), r.Body())
	}
}

func TestNote_Empty(t *testing.T) {
	app := plinthtest.New(t, options()...)
	if r := app.Request(http.MethodPost, "/notes", gin.H{"text": ""}); r.Output() != "BODY_ERROR" {
		t.Errorf("response = %d %s, want BODY_ERROR", r.Status(), r.Body())
	}
}
