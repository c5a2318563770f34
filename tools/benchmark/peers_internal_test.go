package main

import (
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/gin-gonic/gin"
)

func TestPeers_Response(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	gin.SetMode(gin.ReleaseMode)
	want := found("")
	for _, f := range append(frameworks, framework{"plinth", servePlinth}) {
		for name, log := range map[string]io.Writer{"bare": nil, "mounted": discard{}} {
			t.Run(f.name+" "+name, func(t *testing.T) {
				l := listen(t.Context())
				stop := f.serve(l, log)
				defer stop()
				got, status := getEnvelope(t, "http://"+l.Addr().String()+"/user/7")
				data, err := json.Marshal(got.Data)
				if err != nil {
					t.Fatal(err)
				}
				var gotUser user
				if err := json.Unmarshal(data, &gotUser); err != nil {
					t.Fatal(err)
				}
				if status != http.StatusOK || got.Output != want.Output || got.Code != want.Code ||
					got.Message != want.Message || gotUser != sampleUser() {
					t.Errorf("response = %d, %+v; want the response of Plinth", status, got)
				}
				if log != nil && got.Context == "" {
					t.Error("the response has no request ID")
				}
			})
		}
	}
}

func getEnvelope(t *testing.T, url string) (e handEnvelope, status int) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if err := json.NewDecoder(response.Body).Decode(&e); err != nil {
		t.Fatal(err)
	}
	return e, response.StatusCode
}
