package scaffold

// A part is one file of a service: the template that it is made of, and when it is there.
type part struct {
	path, template string
	wanted         func(*Service) bool
}

func always(*Service) bool { return true }

// parts are the files of a service, without those of its entity.
func parts() []part {
	return []part{
		{"main.go", "service/main.go", always},
		{"plugins.go", "service/plugins.go", func(s *Service) bool { return len(s.Plugins()) > 0 }},
		{"main_test.go", "service/main_test.go", always},
		{"internal/handler/handler.go", "service/handler.go", always},
		{"internal/repository/repository.go", "service/repository.go", always},
		{"internal/repository/store.go", "service/store.go", func(s *Service) bool { return s.DB == nil }},
		{"internal/repository/cache.go", "service/cache.go", func(s *Service) bool { return s.Cache != nil }},
		{"internal/route/route.go", "service/route.go", always},
		{"internal/startup/startup.go", "service/startup.go", always},
		{"internal/startup/nodes.go", "service/nodes.go", (*Service).HasNodes},
		{"internal/startup/tasks.go", "service/tasks.go", (*Service).HasTasks},
		{"internal/migration/migration.go", "service/migration.go", func(s *Service) bool { return s.DB != nil }},
		{"internal/migration/0001_notes_by_time.sql", "service/0001.sql", func(s *Service) bool { return s.DB != nil }},

		{"internal/task/task.go", "service/task.go", func(s *Service) bool { return s.Async }},
		{"task_test.go", "service/task_test.go", func(s *Service) bool { return s.Async }},
		{"internal/schedule/schedule.go", "service/schedule.go", func(s *Service) bool { return s.Cron }},
		{"schedule_test.go", "service/schedule_test.go", func(s *Service) bool { return s.Cron }},
		{"internal/notify/notify.go", "service/notify.go", func(s *Service) bool { return s.Mail }},
		{"internal/notify/templates/note.en.subject", "service/note.en.subject", func(s *Service) bool { return s.Mail }},
		{"internal/notify/templates/note.en.txt", "service/note.en.txt", func(s *Service) bool { return s.Mail }},
		{"notify_test.go", "service/notify_test.go", func(s *Service) bool { return s.Mail }},

		{"internal/service/note.go", "service/service.go", isGRPC},
		{"service_test.go", "service/service_test.go", isGRPC},
		{"api/notev1/note.pb.go", "proto/note.pb.go", isGRPC},
		{"api/notev1/note_grpc.pb.go", "proto/note_grpc.pb.go", isGRPC},
		{"proto/note/v1/note.proto", "proto/note.proto", isGRPC},
		{"third_party/grpcx/proto/base.proto", "proto/base.proto", isGRPC},
		{"buf.yaml", "proto/buf.yaml", isGRPC},
		{"buf.gen.yaml", "proto/buf.gen.yaml", isGRPC},

		{".gitignore", "service/gitignore", always},
		{".dockerignore", "service/dockerignore", always},
		{"Dockerfile", "service/Dockerfile", always},
		{"compose.yaml", "service/compose.yaml", always},
		{"deploy/probe/main.go", "service/probe.go", always},
		{"deploy/kubernetes/kustomization.yaml", "service/kustomization.yaml", always},
		{"deploy/kubernetes/configmap.yaml", "service/configmap.yaml", always},
		{"deploy/kubernetes/deployment.yaml", "service/deployment.yaml", always},
		{"deploy/kubernetes/service.yaml", "service/k8s-service.yaml", always},
		{"deploy/kubernetes/volume.yaml", "service/volume.yaml", (*Service).SQLite},
		{"deploy/kubernetes/autoscaler.yaml", "service/autoscaler.yaml", (*Service).Replicated},
		{"deploy/kubernetes/disruption.yaml", "service/disruption.yaml", (*Service).Replicated},
		{"Makefile", "service/Makefile", always},
		{".github/workflows/ci.yml", "service/ci.yml", always},
		{"README.md", "service/README.md", always},
		{"AGENTS.md", "service/AGENTS.md", always},
	}
}

func isGRPC(s *Service) bool { return s.GRPC }

// entityParts are the files of an entity; path holds the name of the entity for %s.
var entityParts = []struct{ path, template string }{
	{"internal/entity/%s.go", "entity/entity.go"},
	{"internal/repository/%s.go", "entity/repository.go"},
	{"internal/logic/%s.go", "entity/logic.go"},
	{"internal/handler/%s.go", "entity/handler.go"},
	{"internal/route/%s.go", "entity/route.go"},
	{"%s_test.go", "entity/test.go"},
}
