// Package deploy_test holds the manifests of this folder, and the page that quotes them,
// to what the code reads and serves.
package deploy_test

import (
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/plinthtest"
	"github.com/plinthgo/plinth/core/major/xoption"
)

// runtimeVariables are those of Go's runtime that the manifests set.
var runtimeVariables = []string{"GOMEMLIMIT", "GOMAXPROCS"}

func TestManifestsSetOnlyKnownVariables(t *testing.T) {
	known := slices.Clone(runtimeVariables)
	for _, v := range xenv.Table() {
		known = append(known, v.Key.String())
	}
	for where, names := range variables(t) {
		for name := range names {
			if !slices.Contains(known, name) {
				t.Errorf("%s sets %s, which nothing reads", where, name)
			}
		}
	}
}

func TestManifestsHoldNoSecret(t *testing.T) {
	for where, names := range variables(t) {
		for name, value := range names {
			if xenv.Lookup(xenv.EnvKey(name)).Secret && value != "" &&
				!strings.HasPrefix(value, "${") {
				t.Errorf("%s holds the value of %s", where, name)
			}
		}
	}
}

func TestValuesInTheManifestsAreAccepted(t *testing.T) {
	for where, names := range variables(t) {
		t.Run(where, func(t *testing.T) {
			for name, value := range names {
				t.Setenv(name, value)
			}
			if err := xenv.Validate(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestProbesAskTheHealthRoutes(t *testing.T) {
	app := plinthtest.New(t, xoption.WithHealth())
	const live, ready = "/healthz", "/readyz"
	for _, path := range []string{live, ready} {
		if got := app.Request(http.MethodGet, path, nil).Status(); got != http.StatusOK {
			t.Errorf("%s = %d, want 200", path, got)
		}
	}
	c := container(t)
	port := c.Ports[0]
	if got := xenv.GetEnvInt(xenv.Port, 1118); port.ContainerPort != got {
		t.Errorf("container port = %d, want %d", port.ContainerPort, got)
	}
	for _, tc := range []struct {
		name  string
		probe probe
		want  string
	}{
		{name: "startup", probe: c.StartupProbe, want: live},
		{name: "liveness", probe: c.LivenessProbe, want: live},
		{name: "readiness", probe: c.ReadinessProbe, want: ready},
	} {
		if got := tc.probe.HTTPGet; got.Path != tc.want || got.Port != port.Name {
			t.Errorf("%s probe asks %s of port %q, want %s of %q",
				tc.name, got.Path, got.Port, tc.want, port.Name)
		}
	}
	check := composed(t).Healthcheck.Test
	if want := "http://127.0.0.1:1118" + ready; check[len(check)-1] != want {
		t.Errorf("the check of Compose asks %s, want %s", check[len(check)-1], want)
	}
	if got := read[service](t,
		"kubernetes/service.yaml").Spec.Ports[0].TargetPort; got != port.Name {
		t.Errorf("the service leads to port %q, want %q", got, port.Name)
	}
}

func TestStopFitsIntoTheTimeOfThePlatform(t *testing.T) {
	compose, err := time.ParseDuration(composed(t).StopGracePeriod)
	if err != nil {
		t.Fatal(err)
	}
	for where, grace := range map[string]time.Duration{
		"Kubernetes": time.Duration(
			deployed(t).Spec.Template.Spec.TerminationGracePeriodSeconds) * time.Second,
		"Compose": compose,
	} {
		if limit := xenv.GetEnvDuration("PLINTH_SHUTDOWN_TIMEOUT", 25*time.Second); grace <= limit {
			t.Errorf("%s gives %s for a stop that may take %s", where, grace, limit)
		}
	}
	for where, names := range variables(t) {
		if _, set := names["PLINTH_SHUTDOWN_TIMEOUT"]; set {
			t.Errorf("%s sets %s: compare it above", where, "PLINTH_SHUTDOWN_TIMEOUT")
		}
	}
}

func TestEveryReplicaFindsANumberForItsIDs(t *testing.T) {
	numbers := xsnowflake.LayoutDefault.Datacenters() * xsnowflake.LayoutDefault.Nodes()
	// Pods that stop are no replicas any more and still have their numbers.
	most := read[autoscaler](t, "kubernetes/autoscaler.yaml").Spec.MaxReplicas
	if surge := deployed(t).Spec.Strategy.RollingUpdate.MaxSurge; 2*most+surge > numbers {
		t.Errorf("%d replicas, as many that stop, and a surge of %d: there are %d numbers",
			most, surge, numbers)
	}
	if got := config(t)[string(xenv.LeaseBackend)]; got != "database" {
		t.Errorf("LEASE_BACKEND = %q, want database", got)
	}
}

func TestNothingIsWrittenToAReadOnlyRoot(t *testing.T) {
	c := container(t)
	compose := composed(t)
	if !c.SecurityContext.ReadOnlyRootFilesystem || !compose.ReadOnly {
		t.Fatal("a root file system can be written to")
	}
	if got, set := config(t)["LOG_DIR"]; set || xenv.Lookup("LOG_DIR").Default != "none" {
		t.Errorf("LOG_DIR = %q, and its default is %q, want none",
			got, xenv.Lookup("LOG_DIR").Default)
	}
	mounted := slices.ContainsFunc(c.VolumeMounts,
		func(m mount) bool { return m.MountPath == "/tmp" })
	if !mounted || !slices.Contains(compose.Tmpfs, "/tmp") {
		t.Error("uploads have no temporary folder")
	}
}

func TestMemoryOfGoStaysBelowTheLimit(t *testing.T) {
	var kubernetes string
	for _, v := range container(t).Env {
		if v.Name == "GOMEMLIMIT" {
			kubernetes = v.Value
		}
	}
	if limit := container(t).Resources.Limits.Memory; kubernetes != "230MiB" || limit != "256Mi" {
		t.Errorf("Kubernetes: GOMEMLIMIT %s of %s, want 230MiB of 256Mi", kubernetes, limit)
	}
	if s := composed(t); s.Environment["GOMEMLIMIT"] != "230MiB" || s.MemLimit != "256m" {
		t.Errorf("Compose: GOMEMLIMIT %s of %s, want 230MiB of 256m",
			s.Environment["GOMEMLIMIT"], s.MemLimit)
	}
}

func TestKustomizationNamesEveryManifest(t *testing.T) {
	files, err := filepath.Glob("kubernetes/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, file := range files {
		if name := filepath.Base(file); name != "kustomization.yaml" {
			want = append(want, name)
		}
	}
	got := read[struct{ Resources []string }](t, "kubernetes/kustomization.yaml").Resources
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("resources = %q, want %q", got, want)
	}
}

// fence matches a block of a file that the pages quote.
var fence = regexp.MustCompile("(?ms)^```(?:yaml|dockerfile)\n(.*?)^```$")

func TestPagesQuoteTheManifests(t *testing.T) {
	var sources []string
	for _, pattern := range []string{"Dockerfile*", "*.yaml", "kubernetes/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			sources = append(sources, text(t, file))
		}
	}
	for _, page := range []string{"deployment.md", "deployment.zh.md"} {
		blocks := fence.FindAllStringSubmatch(text(t, "../../docs/content/guide/"+page), -1)
		if len(blocks) == 0 {
			t.Errorf("%s quotes nothing", page)
		}
		for _, block := range blocks {
			if !slices.ContainsFunc(sources,
				func(s string) bool { return strings.Contains(s, block[1]) }) {
				t.Errorf("%s: in no file of this folder:\n%s", page, block[1])
			}
		}
	}
}

// variables are those that each manifest sets for the service. What a secret of the
// cluster sets has no value.
func variables(t *testing.T) map[string]map[string]string {
	t.Helper()
	direct := map[string]string{}
	for _, v := range container(t).Env {
		direct[v.Name] = v.Value
	}
	return map[string]map[string]string{
		"configmap.yaml":  config(t),
		"deployment.yaml": direct,
		"compose.yaml":    composed(t).Environment,
		"Dockerfile":      imaged(t),
	}
}

// imaged are the variables of the last stage of the Dockerfile.
func imaged(t *testing.T) map[string]string {
	t.Helper()
	_, last, _ := strings.Cut(text(t, "Dockerfile"), "FROM gcr.io")
	set := map[string]string{}
	for _, pair := range regexp.MustCompile(
		`(?m)^(?:ENV| +) ?([A-Z_]+)=(\S*)`).FindAllStringSubmatch(last, -1) {
		set[pair[1]] = pair[2]
	}
	if len(set) == 0 {
		t.Fatal("the Dockerfile sets nothing")
	}
	return set
}

func config(t *testing.T) map[string]string {
	t.Helper()
	return maps.Clone(read[struct{ Data map[string]string }](t, "kubernetes/configmap.yaml").Data)
}

func deployed(t *testing.T) deployment {
	t.Helper()
	return read[deployment](t, "kubernetes/deployment.yaml")
}

func container(t *testing.T) containerSpec {
	t.Helper()
	return deployed(t).Spec.Template.Spec.Containers[0]
}

func composed(t *testing.T) composeService {
	t.Helper()
	return read[struct {
		Services map[string]composeService
	}](t, "compose.yaml").Services["usercenter"]
}

func read[T any](t *testing.T, file string) T {
	t.Helper()
	var into T
	if err := yaml.Unmarshal([]byte(text(t, file)), &into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return into
}

func text(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
