// Package deploy_test checks the manifests of this directory, and the page that quotes
// them, against the code.
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

// runtimeVariables are variables of the Go runtime that the manifests set.
var runtimeVariables = []string{"GOMEMLIMIT", "GOMAXPROCS"}

func TestManifests_Variables(t *testing.T) {
	t.Run("are registered", func(t *testing.T) {
		known := slices.Clone(runtimeVariables)
		for _, v := range xenv.Table() {
			known = append(known, v.Key.String())
		}
		for file, names := range variables(t) {
			for name := range names {
				if !slices.Contains(known, name) {
					t.Errorf("%s sets %s, which no package registers", file, name)
				}
			}
		}
	})

	t.Run("contain no secrets", func(t *testing.T) {
		for file, names := range variables(t) {
			for name, value := range names {
				if xenv.Lookup(xenv.EnvKey(name)).Secret && value != "" &&
					!strings.HasPrefix(value, "${") {
					t.Errorf("%s contains the value of %s", file, name)
				}
			}
		}
	})

	t.Run("have valid values", func(t *testing.T) {
		for file, names := range variables(t) {
			t.Run(file, func(t *testing.T) {
				for name, value := range names {
					t.Setenv(name, value)
				}
				if err := xenv.Validate(); err != nil {
					t.Error(err)
				}
			})
		}
	})
}

func TestManifests_Probes(t *testing.T) {
	app := plinthtest.New(t, xoption.WithHealth())
	const live, ready = "/healthz", "/readyz"
	for _, path := range []string{live, ready} {
		if got := app.Request(http.MethodGet, path, nil).Status(); got != http.StatusOK {
			t.Errorf("%s = %d, want 200", path, got)
		}
	}
	c := readContainer(t)
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
			t.Errorf("%s probe = %s on port %q, want %s on %q",
				tc.name, got.Path, got.Port, tc.want, port.Name)
		}
	}
	check := readCompose(t).Healthcheck.Test
	if want := "http://127.0.0.1:1118" + ready; check[len(check)-1] != want {
		t.Errorf("health check of Compose = %s, want %s", check[len(check)-1], want)
	}
	target := decode[service](t, "kubernetes/service.yaml").Spec.Ports[0].TargetPort
	if target != port.Name {
		t.Errorf("target port of the service = %q, want %q", target, port.Name)
	}
}

func TestManifests_GracePeriod(t *testing.T) {
	compose, err := time.ParseDuration(readCompose(t).StopGracePeriod)
	if err != nil {
		t.Fatal(err)
	}
	for platform, grace := range map[string]time.Duration{
		"Kubernetes": time.Duration(
			readDeployment(t).Spec.Template.Spec.TerminationGracePeriodSeconds) * time.Second,
		"Compose": compose,
	} {
		if limit := xenv.GetEnvDuration("PLINTH_SHUTDOWN_TIMEOUT", 25*time.Second); grace <= limit {
			t.Errorf("grace period of %s = %s, want more than the shutdown timeout of %s",
				platform, grace, limit)
		}
	}
	for file, names := range variables(t) {
		if _, set := names["PLINTH_SHUTDOWN_TIMEOUT"]; set {
			t.Errorf("%s sets %s, which this test does not read", file, "PLINTH_SHUTDOWN_TIMEOUT")
		}
	}
}

func TestManifests_NodeIDs(t *testing.T) {
	nodeIDs := xsnowflake.LayoutDefault.Datacenters() * xsnowflake.LayoutDefault.Nodes()
	// Pods that are shutting down do not count as replicas, but still lease a node ID.
	most := decode[autoscaler](t, "kubernetes/autoscaler.yaml").Spec.MaxReplicas
	if surge := readDeployment(t).Spec.Strategy.RollingUpdate.MaxSurge; 2*most+surge > nodeIDs {
		t.Errorf("%d replicas, as many that shut down, and a surge of %d, but only %d node IDs",
			most, surge, nodeIDs)
	}
	if got := readConfigMap(t)[string(xenv.LeaseBackend)]; got != "database" {
		t.Errorf("LEASE_BACKEND = %q, want database", got)
	}
}

func TestManifests_ReadOnlyRoot(t *testing.T) {
	c := readContainer(t)
	compose := readCompose(t)
	if !c.SecurityContext.ReadOnlyRootFilesystem || !compose.ReadOnly {
		t.Fatal("a root file system is writable")
	}
	if got, set := readConfigMap(t)["LOG_DIR"]; set || xenv.Lookup("LOG_DIR").Default != "none" {
		t.Errorf("LOG_DIR = %q with default %q, want none", got, xenv.Lookup("LOG_DIR").Default)
	}
	mounted := slices.ContainsFunc(c.VolumeMounts,
		func(m mount) bool { return m.MountPath == "/tmp" })
	if !mounted || !slices.Contains(compose.Tmpfs, "/tmp") {
		t.Error("no temporary directory for uploads")
	}
}

func TestManifests_MemoryLimit(t *testing.T) {
	var kubernetes string
	for _, v := range readContainer(t).Env {
		if v.Name == "GOMEMLIMIT" {
			kubernetes = v.Value
		}
	}
	if limit := readContainer(t).Resources.Limits.Memory; kubernetes != "230MiB" ||
		limit != "256Mi" {
		t.Errorf("Kubernetes: GOMEMLIMIT %s of %s, want 230MiB of 256Mi", kubernetes, limit)
	}
	if s := readCompose(t); s.Environment["GOMEMLIMIT"] != "230MiB" || s.MemLimit != "256m" {
		t.Errorf("Compose: GOMEMLIMIT %s of %s, want 230MiB of 256m",
			s.Environment["GOMEMLIMIT"], s.MemLimit)
	}
}

func TestKustomization_Resources(t *testing.T) {
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
	got := decode[struct{ Resources []string }](t, "kubernetes/kustomization.yaml").Resources
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("resources = %q, want %q", got, want)
	}
}

// fence matches a code block in a page.
var fence = regexp.MustCompile("(?ms)^```(?:yaml|dockerfile)\n(.*?)^```$")

func TestPages_Manifests(t *testing.T) {
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
			t.Errorf("%s quotes no manifest", page)
		}
		for _, block := range blocks {
			if !slices.ContainsFunc(sources,
				func(s string) bool { return strings.Contains(s, block[1]) }) {
				t.Errorf("%s: not in any file of this directory:\n%s", page, block[1])
			}
		}
	}
}

// variables returns the variables that each file sets for the service. Variables from a
// secret of the cluster have no value.
func variables(t *testing.T) map[string]map[string]string {
	t.Helper()
	direct := map[string]string{}
	for _, v := range readContainer(t).Env {
		direct[v.Name] = v.Value
	}
	return map[string]map[string]string{
		"configmap.yaml":  readConfigMap(t),
		"deployment.yaml": direct,
		"compose.yaml":    readCompose(t).Environment,
		"Dockerfile":      dockerfileEnv(t),
	}
}

// dockerfileEnv returns the variables of the last stage of the Dockerfile.
func dockerfileEnv(t *testing.T) map[string]string {
	t.Helper()
	_, last, _ := strings.Cut(text(t, "Dockerfile"), "FROM gcr.io")
	set := map[string]string{}
	assignment := regexp.MustCompile(`(?m)^(?:ENV| +) ?([A-Z_]+)=(\S*)`)
	for _, pair := range assignment.FindAllStringSubmatch(last, -1) {
		set[pair[1]] = pair[2]
	}
	if len(set) == 0 {
		t.Fatal("the Dockerfile sets no variables")
	}
	return set
}

func readConfigMap(t *testing.T) map[string]string {
	t.Helper()
	return maps.Clone(decode[struct{ Data map[string]string }](t, "kubernetes/configmap.yaml").Data)
}

func readDeployment(t *testing.T) deployment {
	t.Helper()
	return decode[deployment](t, "kubernetes/deployment.yaml")
}

func readContainer(t *testing.T) containerSpec {
	t.Helper()
	return readDeployment(t).Spec.Template.Spec.Containers[0]
}

func readCompose(t *testing.T) composeService {
	t.Helper()
	return decode[struct {
		Services map[string]composeService
	}](t, "compose.yaml").Services["usercenter"]
}

func decode[T any](t *testing.T, file string) T {
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
