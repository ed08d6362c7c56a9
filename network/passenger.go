package network

import (
	"errors"
	"fmt"
	"time"

	"tare/catalog"
	"tare/engine"
	"tare/lab"
)

// passengerSettles is how long a passenger must run before it counts as started: one with a
// wrong option ends sooner.
const passengerSettles = 300 * time.Millisecond

// passengerLog is the name of a passenger's log.
const passengerLog = "with"

// passenger is the command on one host.
type passenger struct {
	host    *lab.Host
	process *lab.Process
}

// addPassenger starts the network's passenger on a host, where it has one.
func addPassenger(h *lab.Host, setup *Setup) error {
	command := setup.Params[catalog.With]
	if command == "" {
		return nil
	}
	started := time.Now()
	process, err := h.StartDaemon(lab.Daemon{
		Name: passengerLog, Argv: []string{"sh", "-c", command}, Env: []string{"TARE_HOST=" + h.Short},
		Ready: func() error {
			if time.Since(started) < passengerSettles {
				return errors.New("it has just begun")
			}
			return nil
		},
	})
	if err != nil {
		return &engine.MissingError{
			What: "the command of --with", Err: err,
			Get: "give one that runs until it is ended: on each host, as the lab's root, with " + lab.Device + " towards the other hosts",
		}
	}
	setup.passengers = append(setup.passengers, passenger{h, process})
	return nil
}

// Lost is why the network no longer is what is weighed: its passenger has ended. nil: it runs,
// or there is none.
func (setup *Setup) Lost() error {
	for _, p := range setup.passengers {
		if how, ended := p.process.Ended(); ended {
			return fmt.Errorf("the command of --with ended in %s (%s): its log ends: %s", p.host.Name, how, p.host.LogTail(passengerLog))
		}
	}
	return nil
}
