package openapi_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/tools/plinth/internal/openapi"
)

const document = `{
  "openapi": "3.1.0",
  "info": { "title": "shop", "version": "1" },
  "paths": {
    "/users/{id}": {
      "get": {
        "operationId": "getUser",
        "summary": "Get a user",
        "parameters": [
          { "name": "id", "in": "path", "required": true, "schema": { "type": "string" } },
          { "name": "view", "in": "query", "schema": { "type": "string", "enum": ["short", "long"] } }
        ],
        "responses": {
          "200": {
            "description": "OK",
            "content": { "application/json": { "schema": {
              "type": "object",
              "properties": { "data": { "$ref": "#/components/schemas/User" } },
              "required": ["data"]
            } } }
          },
          "202": { "description": "Accepted" }
        }
      }
    },
    "/users": {
      "post": {
        "operationId": "createUser",
        "requestBody": { "required": true, "content": { "application/json": { "schema": {
          "type": "object",
          "properties": { "name": { "type": "string", "maxLength": 32 }, "age": { "type": "integer" } }
        } } } },
        "responses": { "204": { "description": "Created" } }
      }
    }
  },
  "components": { "schemas": { "User": {
    "type": "object",
    "properties": {
      "id": { "type": "string", "description": "ID of the user" },
      "email": { "type": ["string", "null"] },
      "description": { "type": "string" }
    },
    "required": ["id", "email"]
  } } }
}`

func TestCompare(t *testing.T) {
	const user, create = "GET /users/{id}", "POST /users"
	for _, tc := range []struct {
		name     string
		old, new string
		want     openapi.Difference // the first; What is only a part of What
	}{
		{
			"removed operation", `"post": {`, `"x-post": {`,
			openapi.Difference{openapi.Breaking, "api-removed-without-deprecation", create, "removed"},
		},
		{
			"removed response property", `"email": { "type": ["string", "null"] },`, ``,
			openapi.Difference{openapi.Breaking, "response-required-property-removed", user, "`data/email`"},
		},
		{
			"removed optional response property", `,
      "description": { "type": "string" }`, ``,
			openapi.Difference{openapi.Breaking, "response-optional-property-removed", user, "`data/description`"},
		},
		{
			"optional response property", `["id", "email"]`, `["id"]`,
			openapi.Difference{openapi.Breaking, "response-property-became-optional", user, "`data/email`"},
		},
		{
			"new required parameter", `"parameters": [`,
			`"parameters": [ { "name": "tenant", "in": "query", "required": true, "schema": { "type": "string" } },`,
			openapi.Difference{openapi.Breaking, "new-required-request-parameter", user, "`tenant`"},
		},
		{
			"new optional parameter", `"parameters": [`,
			`"parameters": [ { "name": "tenant", "in": "query", "schema": { "type": "string" } },`,
			openapi.Difference{openapi.Compatible, "new-optional-request-parameter", user, "`tenant`"},
		},
		{
			"narrowed enum", `["short", "long"]`, `["short"]`,
			openapi.Difference{openapi.Breaking, "request-parameter-enum-value-removed", user, "`long`"},
		},
		{
			"narrowed length", `"maxLength": 32`, `"maxLength": 16`,
			openapi.Difference{openapi.Breaking, "request-property-max-length-decreased", create, "`16`"},
		},
		{
			"removed status", `,
          "202": { "description": "Accepted" }`, ``,
			openapi.Difference{openapi.Breaking, "response-success-status-removed", user, "`202`"},
		},
		{
			"changed request type", `"age": { "type": "integer" }`, `"age": { "type": "string" }`,
			openapi.Difference{openapi.Breaking, "request-property-type-changed", create, "`age`"},
		},
		{
			"changed response type", `"email": { "type": ["string", "null"] }`, `"email": { "type": "integer" }`,
			openapi.Difference{openapi.Breaking, "response-property-type-changed", user, "`data/email`"},
		},
		{
			"new null in a response", `"id": { "type": "string"`, `"id": { "type": ["string", "null"]`,
			openapi.Difference{openapi.Breaking, "response-property-became-nullable", user, "`data/id`"},
		},
		{
			"new required request property", `"age": { "type": "integer" } }`,
			`"age": { "type": "integer" } }, "required": ["name"]`,
			openapi.Difference{openapi.Breaking, "request-property-became-required", create, "`name`"},
		},
		{
			"new response property", `"properties": {
      "id"`, `"properties": {
      "phone": { "type": "string" }, "id"`,
			openapi.Difference{openapi.Compatible, "response-optional-property-added", user, "`data/phone`"},
		},
		{name: "no change"},
		{name: "summary", old: "Get a user", new: "Return a user"},
		{name: "description", old: "ID of the user", new: "ID"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := openapi.Compare([]byte(document), []byte(replace(t, tc.old, tc.new)))
			if err != nil {
				t.Fatal(err)
			}
			first := openapi.Difference{}
			if len(got) > 0 {
				first = got[0]
			}
			what := first.What
			if first.What = tc.want.What; first != tc.want || !strings.Contains(what, tc.want.What) {
				t.Errorf("differences = %+v, want %+v", got, tc.want)
			}
		})
	}

	t.Run("ignores the names of path parameters", func(t *testing.T) {
		renamed := strings.NewReplacer("{id}", "{user}", `"name": "id"`, `"name": "user"`).Replace(document)
		got, err := openapi.Compare([]byte(document), []byte(renamed))
		if err != nil || len(openapi.OnlyBreaking(got)) > 0 {
			t.Errorf("breaking changes = %+v, %v", openapi.OnlyBreaking(got), err)
		}
	})

	t.Run("rejects an invalid document", func(t *testing.T) {
		if _, err := openapi.Compare([]byte("{"), []byte(document)); err == nil {
			t.Error("no error")
		}
	})
}

// replace returns document with a replacement.
func replace(t *testing.T, old, text string) string {
	t.Helper()
	if !strings.Contains(document, old) {
		t.Fatalf("the document does not contain %q", old)
	}
	return strings.Replace(document, old, text, 1)
}

func TestAll(t *testing.T) {
	for _, tc := range []struct {
		name     string
		old, new string
		want     []openapi.Difference
	}{
		{name: "no change"},
		{
			"text", "ID of the user", "ID",
			[]openapi.Difference{{
				openapi.Other, "", "/components/schemas/User/properties/id/description", "changed",
			}},
		},
		{
			"unknown keyword", `"operationId": "getUser",`, `"operationId": "getUser", "x-owner": "shop",`,
			[]openapi.Difference{{openapi.Other, "", "/paths/~1users~1{id}/get/x-owner", "added"}},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := openapi.All([]byte(document), []byte(replace(t, tc.old, tc.new)))
			if err != nil || !slices.Equal(got, tc.want) {
				t.Errorf("differences = %+v, %v; want %+v", got, err, tc.want)
			}
		})
	}

	t.Run("reports a property named description as a change only", func(t *testing.T) {
		got, err := openapi.All([]byte(document), []byte(replace(t, `,
      "description": { "type": "string" }`, "")))
		if err != nil || len(got) != 1 || got[0].Kind != openapi.Breaking {
			t.Errorf("differences = %+v, %v; want one breaking change", got, err)
		}
	})
}
