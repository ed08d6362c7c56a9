package site

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"tare/test/labtest"
)

// What is there for a moment only is seen, and a kernel that does not list connections says so once.
func TestConnectionsAreWatchedUntilTheTrialEnds(t *testing.T) {
	refused, silent := errors.New("no such file or directory"), errors.New("no answer")
	for name, c := range map[string]struct {
		count       func(look int) (int, error)
		trial       error
		most, looks int
		err         error
	}{
		"in the middle": {count: func(look int) (int, error) { return look % 3 % 2, nil }, most: 1, looks: 5},
		"none":          {count: func(int) (int, error) { return 0, nil }, looks: 5},
		"not listed":    {count: func(int) (int, error) { return 0, refused }, err: refused},
		"used in vain":  {count: func(int) (int, error) { return 0, nil }, trial: silent, looks: 5, err: silent},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ended := make(chan error, 1)
				go func() {
					<-time.After(4*relayPause + relayPause/2)
					ended <- c.trial
				}()
				look := 0
				most, looks, err := watch(ended, func() (int, error) { look++; return c.count(look) })
				labtest.Equal(t, "most", most, c.most)
				labtest.Equal(t, "looks", looks, c.looks)
				if !errors.Is(err, c.err) {
					t.Errorf("error %v, want %v", err, c.err)
				}
			})
		})
	}
}
