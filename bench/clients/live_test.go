package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestMain is also what a contest starts for a turn.
func TestMain(m *testing.M) {
	if args := os.Args[1:]; isTurn(args) {
		if err := turn(context.Background(), os.Stdout, args[0], args[1], args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// TestRealOpenSSLAndOurClient shake hands with the same openssl s_server: a server of
// another library takes our client, and another client verifies our certificates.
func TestRealOpenSSLAndOurClient(t *testing.T) {
	var out strings.Builder
	if err := tlsContest().weigh(t.Context(), &out, 1); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| tls | tare | openssl s_time |", "| rate | ", "| client_cpu | "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

func TestReadSTime(t *testing.T) {
	const printed = "\n\n254 connections in 0.33s; 769.70 connections/user sec, bytes read 272542\n" +
		"254 connections in 2 real seconds, 1073 bytes read per connection\n"
	if f, err := readSTime([]byte(printed)); err != nil || f["count"] != 254 {
		t.Errorf("%v, %v", f, err)
	}
	for _, bad := range []string{"", "ERROR\n", strings.ReplaceAll(printed, "1073", "0")} {
		if f, err := readSTime([]byte(bad)); err == nil {
			t.Errorf("%q was read as %v", bad, f)
		}
	}
}

func TestReadGhz(t *testing.T) {
	const printed = `{"count": 2004, "total": 1000123456, "average": 250000, "rps": 2003.7,
		"statusCodeDistribution": {"OK": 2002, "Canceled": 1, "Unavailable": 1},
		"latencyDistribution": [{"percentage": 50, "latency": 200000}, {"percentage": 99, "latency": 900000}]}`
	f, err := readGhz([]byte(printed))
	if err != nil || f["rate"] != 2003.7 || f["latency_mean"] != 250e-6 || f["latency_p50"] != 200e-6 || f["latency_p99"] != 900e-6 {
		t.Errorf("%v, %v", f, err)
	}
	for _, bad := range []string{"", "{}", strings.Replace(printed, `"OK": 2002`, `"OK": 1`, 1)} {
		if f, err := readGhz([]byte(bad)); err == nil {
			t.Errorf("%q was read as %v", bad, f)
		}
	}
}
