package docs

import (
	"io/fs"

	"github.com/plinthgo/plinth/docs/internal/check"
	"github.com/plinthgo/plinth/docs/internal/site"
)

// Check returns what is wrong with the content, a line each that says where and what to
// do; none where all is well. With the working tree of the repository it compares the
// pages with the code; nil leaves that out. The error is about reading the repository,
// never about the content. It may be called beside any other method such as ServeHTTP,
// and looks at what is shown when it begins.
func (s *Site) Check(repository fs.FS) ([]string, error) {
	return check.Run(check.Config{
		Library: s.now.Load().library, Repository: repository,
		HasDiagram: site.HasDiagram,
	})
}
