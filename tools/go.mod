module github.com/plinthgo/plinth/tools

go 1.25.0

require (
	github.com/gin-gonic/gin v1.12.0
	github.com/go-playground/locales v0.14.1
	github.com/go-playground/universal-translator v0.18.1
	github.com/go-playground/validator/v10 v10.30.4
	github.com/google/uuid v1.6.0
	github.com/maypok86/otter/v2 v2.4.0
	github.com/plinthgo/plinth/cacheplugins/memory v0.1.0
	github.com/plinthgo/plinth/core v0.1.0
	github.com/plinthgo/plinth/dbplugins/sqlite v0.1.0
	github.com/rs/zerolog v1.35.1
	golang.org/x/mod v0.38.0
	gorm.io/gorm v1.31.2
)
