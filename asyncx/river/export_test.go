package river

import "github.com/plinthgo/plinth/asyncx/job/driver"

// LookUp returns the statement of Get, with ? for the ID as 32 hexadecimal digits.
func LookUp(e driver.Engine) string { return e.(*engine).sql.get }
