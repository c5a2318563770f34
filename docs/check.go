package docs

import (
	"io/fs"

	"github.com/plinthgo/plinth/docs/internal/check"
	"github.com/plinthgo/plinth/docs/internal/site"
)

// Check returns the problems of the content, one line each with position and fix. If
// repository, the root of the working tree, is not nil, Check also compares the pages
// with the code. It returns an error if the repository cannot be read. It may run
// concurrently with other methods.
func (s *Site) Check(repository fs.FS) ([]string, error) {
	return check.Run(check.Config{
		Library: s.now.Load().library, Repository: repository,
		HasDiagram: site.HasDiagram,
	})
}
