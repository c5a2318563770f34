package scaffold

// Exported for tests.
var (
	ServiceName  = serviceName
	NewEntity    = newEntity
	RenderEntity = renderEntity
)

// Text returns the new content of the file.
func (c Change) Text() []byte { return c.text }
