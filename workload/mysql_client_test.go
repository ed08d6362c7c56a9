package workload

import (
	"errors"
	"testing"

	sqldriver "github.com/go-sql-driver/mysql"
)

// A server that refuses some connections and breaks others is quoted.
func TestServersReasonComesFirst(t *testing.T) {
	broken, refused := sqldriver.ErrInvalidConn, &sqldriver.MySQLError{Number: 1040, Message: "Too many connections"}
	for want, errs := range map[error][]error{
		refused: {broken, refused, broken},
		broken:  {nil, broken, nil},
		nil:     {nil, nil},
	} {
		got := together(make([]*session, len(errs)), func(n int) error { return errs[n] })
		if !errors.Is(got, want) {
			t.Errorf("of %v it returns %v, want %v", errs, got, want)
		}
	}
}
