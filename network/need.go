package network

import (
	"tare/engine"
	"tare/lab"
)

// KernelNeed is something that a kernel may lack, tried in a namespace that is
// removed afterwards. Whether a module exists is never guessed from its name.
func KernelNeed(what, get string, try func(ns *lab.Namespace) error) engine.Need {
	return engine.Need{What: what, Get: get, Tried: true, Find: func() (string, error) { return "", lab.Try(try) }}
}

// Lacks returns a *engine.MissingError for the first need of the network that this
// machine lacks.
func (n Network) Lacks() error { return n.lacks(func(engine.Need) bool { return true }) }

// LacksPrograms is Lacks of what is found without making anything: programs and rights.
func (n Network) LacksPrograms() error {
	return n.lacks(func(need engine.Need) bool { return !need.Tried })
}

// lacks asks for those needs that are of concern.
func (n Network) lacks(concern func(engine.Need) bool) error {
	for _, need := range n.Needs {
		if !concern(need) {
			continue
		}
		if _, err := need.Require(); err != nil {
			return err
		}
	}
	return nil
}
