package site_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"testing"

	"tare/network/kinds"
	"tare/site"
	"tare/test/labmain"
)

func TestMain(m *testing.M) {
	labmain.Run(m, "site", labmain.Verbs{
		kinds.TunnelVerb:  func(a []string) error { return kinds.RunTunnel(context.Background(), a[0], os.Stdout) },
		"engines":         func([]string) error { return site.Engines() },
		"claim":           func(a []string) error { return claim(a[0]) },
		"hold":            func([]string) error { return hold() },
		"ungrouped":       func([]string) error { return ungrouped() },
		"own":             func([]string) error { return own() },
		"up":              func(a []string) error { return upAgainAndAgain(a[0]) },
		"unauthenticated": func(a []string) error { return unauthenticated(a[0]) },
	})
}

// unauthenticated connects to a keeper and prints what it sends before any request.
func unauthenticated(address string) error {
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
