package docker

import (
	"errors"
	"fmt"
	"testing"

	"tare/test/labtest"
)

// What Docker 20.10 answers where the next request succeeded, and what no other does.
func TestContainerIsStartedAgain(t *testing.T) {
	for message, c := range map[string]struct {
		status int
		again  bool
	}{
		"network docker-overlay not found": {404, true},
		"attaching to network failed, make sure your network options are correct and check manager logs: context deadline exceeded": {500, true},
		"No such container: c1": {404, false},
		"attaching to network failed, make sure your network options are correct and check manager logs: invalid pool": {500, false},
	} {
		err := fmt.Errorf("ask Docker in h1: %w", &refusal{c.status, message})
		labtest.Equal(t, message, notAttached(err), c.again)
	}
	labtest.Equal(t, "an engine that is gone", notAttached(errors.New("context deadline exceeded")), false)
}
