package site

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"tare/test/labtest"
)

// What closes a way counts as enforced only if that way is closed as long as it is there, and open
// without it.
func TestClosedWayShowsWhatIsEnforced(t *testing.T) {
	never := time.Hour
	for about, c := range map[string]struct {
		closed, opens time.Duration // until the way is open: by itself, and once it was opened
		want          string
		took          time.Duration
	}{
		"open":            {0, 0, "rules are not enforced: h1/c1 reached h1/c2, which one of them closed", 0},
		"one answer late": {3 * time.Second, 0, "rules are not enforced: h1/c1 reached h1/c2, which one of them closed", 3 * time.Second},
		"closed":          {never, 0, "rules are enforced: h1/c1 reached h1/c2 only when the one that closed it was gone", closedFor + tryAgain},
		"opens slowly":    {never, 9 * time.Second, "rules are enforced: h1/c1 reached h1/c2 only when the one that closed it was gone", closedFor + tryAgain + 9*time.Second},
		"never open":      {never, never, "whether rules are enforced is not known: h1/c1 reached h1/c2 neither with one that closes it nor without", closedFor + opensWithin + 2*tryAgain},
	} {
		t.Run(about, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				open := begun.Add(c.closed)
				closed := Closed{What: "rules", From: "h1/c1", To: "h1/c2", Open: func(context.Context) error {
					open = time.Now().Add(c.opens)
					return nil
				}}
				fact, err := closed.try(t.Context(), func() bool { return !time.Now().Before(open) })
				labtest.Equal(t, "error", err, nil)
				labtest.Equal(t, "fact", fact, c.want)
				labtest.Equal(t, "took", time.Since(begun), c.took)
			})
		})
	}
}
