package scaffold_test

import (
	"fmt"
	"maps"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/plinthtest"
	"github.com/plinthgo/plinth/core/major/xoption"
	// registers the variables of every driver
	_ "github.com/plinthgo/plinth/tools/plinth/internal/plugins"
	"github.com/plinthgo/plinth/tools/plinth/internal/scaffold"
)

// manifests contains the parts of the files that the tests check.
type manifests struct {
	compose struct {
		Services map[string]struct {
			Environment     map[string]string
			Volumes         []string
			Healthcheck     struct{ Test any }
			StopGracePeriod string         `yaml:"stop_grace_period"`
			DependsOn       map[string]any `yaml:"depends_on"`
		}
		Volumes map[string]any
	}
	config     struct{ Data map[string]string }
	deployment struct {
		Spec struct {
			Template struct {
				Spec struct {
					TerminationGracePeriodSeconds int `yaml:"terminationGracePeriodSeconds"`
					Containers                    []container
				}
			}
		}
	}
	service struct {
		Spec struct {
			Ports []struct {
				TargetPort string `yaml:"targetPort"`
			}
		}
	}
	kustomization struct{ Resources []string }
	image         map[string]string
	example       map[string]string // values in .env.example
}

type container struct {
	Env []struct {
		Name, Value string
		ValueFrom   struct {
			SecretKeyRef struct{ Name, Key string } `yaml:"secretKeyRef"`
		} `yaml:"valueFrom"`
	}
	Ports []struct {
		Name          string
		ContainerPort int `yaml:"containerPort"`
	}
	StartupProbe   probe `yaml:"startupProbe"`
	LivenessProbe  probe `yaml:"livenessProbe"`
	ReadinessProbe probe `yaml:"readinessProbe"`
}

type probe struct {
	HTTPGet struct{ Path, Port string } `yaml:"httpGet"`
}

var (
	imageVariable = regexp.MustCompile(`(?m)^(?:ENV| +) ?([A-Z_]+)=(\S*)`)
	envLine       = regexp.MustCompile(`(?m)^([A-Z_]+)=(.*)$`)
)

func read(t *testing.T, files scaffold.Files) *manifests {
	t.Helper()
	m := &manifests{image: map[string]string{}, example: map[string]string{}}
	for file, into := range map[string]any{
		"compose.yaml": &m.compose, "deploy/kubernetes/configmap.yaml": &m.config,
		"deploy/kubernetes/deployment.yaml":    &m.deployment,
		"deploy/kubernetes/service.yaml":       &m.service,
		"deploy/kubernetes/kustomization.yaml": &m.kustomization,
	} {
		if err := yaml.Unmarshal(files[file], into); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
	_, last, _ := strings.Cut(string(files["Dockerfile"]), "FROM gcr.io/distroless/static:nonroot")
	for _, pair := range imageVariable.FindAllStringSubmatch(last, -1) {
		m.image[pair[1]] = pair[2]
	}
	for _, pair := range envLine.FindAllStringSubmatch(string(files[".env.example"]), -1) {
		m.example[pair[1]] = pair[2]
	}
	return m
}

func (m *manifests) container() container {
	return m.deployment.Spec.Template.Spec.Containers[0]
}

// variables returns the variables that each file sets for the service.
func (m *manifests) variables(service string) map[string]map[string]string {
	direct := map[string]string{}
	for _, v := range m.container().Env {
		direct[v.Name] = v.Value
	}
	return map[string]map[string]string{
		"configmap.yaml": m.config.Data, "deployment.yaml": direct,
		"compose.yaml": m.compose.Services[service].Environment,
		"Dockerfile":   m.image, ".env.example": m.example,
	}
}

// everyManifest runs check for each combination.
func everyManifest(
	t *testing.T, check func(spec scaffold.Spec, s *scaffold.Service, m *manifests) error,
) {
	t.Helper()
	for _, spec := range combinations() {
		s, files := rendered(t, spec)
		if err := check(spec, s, read(t, files)); err != nil {
			t.Errorf("%s: %v", name(spec), err)
		}
	}
}

func TestRender_Manifests(t *testing.T) {
	t.Run("set only known variables", func(t *testing.T) {
		known := []string{"GOMEMLIMIT", "GOMAXPROCS"}
		for _, v := range xenv.Table() {
			known = append(known, v.Key.String())
		}
		everyManifest(t, func(_ scaffold.Spec, s *scaffold.Service, m *manifests) error {
			for file, set := range m.variables(s.Name) {
				for variable, value := range set {
					if !slices.Contains(known, variable) {
						return fmt.Errorf("%s sets the unknown variable %s", file, variable)
					}
					if xenv.Lookup(xenv.EnvKey(variable)).Secret && value != "" &&
						!strings.HasPrefix(value, "${"+variable+":?") {
						return fmt.Errorf("%s contains the value of %s", file, variable)
					}
				}
			}
			return nil
		})
	})

	t.Run("set valid values", func(t *testing.T) {
		for _, spec := range []scaffold.Spec{
			withAllFeatures("postgres", "redis"), withAllFeatures("oracle", "memory"),
			withAllFeatures("sqlite", "none"),
		} {
			s, files := rendered(t, spec)
			for file, set := range read(t, files).variables(s.Name) {
				t.Run(name(spec)+" "+file, func(t *testing.T) {
					for variable, value := range set {
						t.Setenv(variable, value)
					}
					if err := xenv.Validate(); err != nil {
						t.Error(err)
					}
				})
			}
		}
	})

	t.Run("probe the health routes", func(t *testing.T) {
		app := plinthtest.New(t, xoption.WithHealth())
		const live, ready = "/healthz", "/readyz"
		for _, path := range []string{live, ready} {
			if got := app.Request(http.MethodGet, path, nil).Status(); got != http.StatusOK {
				t.Errorf("%s = %d, want 200", path, got)
			}
		}
		everyManifest(t, func(spec scaffold.Spec, s *scaffold.Service, m *manifests) error {
			c := m.container()
			for _, tc := range []struct {
				probe probe
				path  string
			}{
				{c.StartupProbe, live}, {c.LivenessProbe, live}, {c.ReadinessProbe, ready},
			} {
				if tc.probe.HTTPGet.Path != tc.path || tc.probe.HTTPGet.Port != "http" {
					return fmt.Errorf("probe = %+v, want %s", tc.probe, tc.path)
				}
			}
			want := map[string]int{"http": xenv.GetEnvInt(xenv.Port, 1118)}
			if spec.GRPC {
				want["grpc"] = xenv.GetEnvInt("GRPC_PORT", 1119)
			}
			got := map[string]int{}
			for _, p := range c.Ports {
				got[p.Name] = p.ContainerPort
			}
			if !maps.Equal(got, want) || len(m.service.Spec.Ports) != len(want) {
				return fmt.Errorf("ports = %v, want %v; service %v",
					got, want, m.service.Spec.Ports)
			}
			check := fmt.Sprint(m.compose.Services[s.Name].Healthcheck.Test)
			if !strings.Contains(check, fmt.Sprintf("http://127.0.0.1:%d%s", want["http"], ready)) {
				return fmt.Errorf("Compose health check = %s", check)
			}
			return nil
		})
	})

	t.Run("allow more time than the shutdown timeout", func(t *testing.T) {
		everyManifest(t, func(_ scaffold.Spec, s *scaffold.Service, m *manifests) error {
			compose, err := time.ParseDuration(m.compose.Services[s.Name].StopGracePeriod)
			cluster := time.Duration(
				m.deployment.Spec.Template.Spec.TerminationGracePeriodSeconds) * time.Second
			limit := xenv.GetEnvDuration("PLINTH_SHUTDOWN_TIMEOUT", 25*time.Second)
			if err == nil && (compose <= limit || cluster <= limit) {
				return fmt.Errorf("shutdown timeout = %s, grace periods = %s and %s",
					limit, compose, cluster)
			}
			return err
		})
	})
}

func TestRender_UnusedOptions(t *testing.T) {
	for _, spec := range combinations() {
		_, files := rendered(t, spec)
		for _, tc := range []struct {
			chosen bool
			words  string
		}{
			{spec.Database != "none", `DATABASE_|gorm\.io|xdb|migration`},
			{spec.Cache != "none", `NOSQL_|xcache|cacheplugins`},
			{spec.GRPC, `(?i)grpc`},
			{spec.Async, `internal/task`},
			{spec.Cron, `(?i)cronx|internal/schedule`},
			{spec.Mail, `EMAIL_|mailpit|internal/notify|(?i)email`},
			{spec.Database == "sqlite", `/data/|\.db\b|VOLUME`},
			{spec.Cache == "redis", `redis:8|NOSQL_PASS|redis-password`},
		} {
			if tc.chosen {
				continue
			}
			word := regexp.MustCompile(tc.words)
			for _, file := range files.Paths() {
				if path.Base(file) == ".env.example" { // its comments name all backends
					continue
				}
				if found := word.Find(files[file]); found != nil {
					t.Errorf("%s: %s contains %q", name(spec), file, found)
				}
			}
		}
	}
}

func TestRender_Compose(t *testing.T) {
	everyManifest(t, func(_ scaffold.Spec, s *scaffold.Service, m *manifests) error {
		used := map[string]bool{}
		for name, service := range m.compose.Services {
			if service.Healthcheck.Test == nil {
				return fmt.Errorf("%s has no health check", name)
			}
			for _, v := range service.Volumes {
				volume, _, _ := strings.Cut(v, ":")
				used[volume] = true
			}
		}
		if !slices.Equal(slices.Sorted(maps.Keys(used)),
			slices.Sorted(maps.Keys(m.compose.Volumes))) {
			return fmt.Errorf("volumes = %v, used volumes = %v", m.compose.Volumes, used)
		}
		for name := range m.compose.Services[s.Name].DependsOn {
			if _, ok := m.compose.Services[name]; !ok {
				return fmt.Errorf("depends_on names the unknown service %s", name)
			}
		}
		if len(m.compose.Services[s.Name].DependsOn) != len(m.compose.Services)-1 {
			return fmt.Errorf("depends_on = %v, want %d services",
				m.compose.Services[s.Name].DependsOn, len(m.compose.Services)-1)
		}
		return nil
	})
}

func TestRender_Kustomization(t *testing.T) {
	for _, spec := range combinations() {
		_, files := rendered(t, spec)
		var want []string
		for _, file := range files.Paths() {
			if path.Dir(file) == "deploy/kubernetes" && path.Base(file) != "kustomization.yaml" {
				want = append(want, path.Base(file))
			}
		}
		got := read(t, files).kustomization.Resources
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s: resources = %q, want %q", name(spec), got, want)
		}
	}
}
