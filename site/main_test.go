package site_test

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"testing"

	"tare/agent"
	"tare/network"
	"tare/site"
	"tare/test/labtest"
)

// verbs are what the test binary is started as.
func verbs() map[string]func(arguments []string) error {
	return map[string]func([]string) error{
		site.KeeperVerb: func([]string) error { return site.Keep() },
		site.AgentVerb: func([]string) error {
			return agent.Serve(context.Background(), os.Stdin, os.Stdout, "test")
		},
		network.RelayVerb: func(a []string) error { // --listen A --to B
			return network.Relay(context.Background(), netip.MustParseAddrPort(a[1]), netip.MustParseAddrPort(a[3]), func() error {
				_, err := os.Stdout.Write([]byte("\n"))
				return err
			})
		},
		"engines":  func([]string) error { return site.Engines() },
		"claim":    func(a []string) error { return claim(a[0]) },
		"own":      func([]string) error { return own() },
		"up":       func(a []string) error { return upAgainAndAgain(a[0]) },
		"stranger": func(a []string) error { return stranger(a[0]) },
	}
}

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		if verb, known := verbs()[os.Args[1]]; known {
			exit(verb(os.Args[2:]))
		}
	}
	if err := os.Setenv(labtest.Mark, fmt.Sprintf("site-%d", os.Getpid())); err != nil {
		exit(err)
	}
	os.Exit(m.Run())
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// stranger calls a keeper and prints what it says before it has been asked.
func stranger(address string) error {
	conn, err := net.Dial("unix", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	answer := make([]byte, 1<<10)
	n, err := conn.Read(answer)
	fmt.Printf("%s", answer[:n])
	return err
}
