package experiment

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"testing"

	"tare/agent"
	"tare/network"
	"tare/site"
	"tare/test/labtest"
)

// TestMain is what the test binary is started as inside a lab.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch a := os.Args[1:]; a[0] {
		case site.KeeperVerb:
			exit(site.Keep())
		case site.AgentVerb:
			exit(agent.Serve(context.Background(), os.Stdin, os.Stdout, "test"))
		case network.RelayVerb: // --listen A --to B
			exit(network.Relay(context.Background(), netip.MustParseAddrPort(a[2]), netip.MustParseAddrPort(a[4]), func() error {
				_, err := fmt.Println()
				return err
			}))
		}
	}
	if err := os.Setenv(labtest.Mark, fmt.Sprintf("experiment-%d", os.Getpid())); err != nil {
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
