package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
)

var (
	wrk        = tool{command: "wrk", get: "apt-get install wrk", version: []string{"-v"}}
	ab         = tool{command: "ab", get: "apt-get install apache2-utils", version: []string{"-V"}}
	hey        = tool{command: "hey", get: "apt-get install hey"}
	autocannon = tool{command: "autocannon", get: "npm install autocannon, and put it on the PATH", version: []string{"--version"}}
)

// connections is how many every HTTP client holds.
const connections = 10

// wrkHTTP keeps its connections, or opens one for each request.
func wrkHTTP(keep bool) peer {
	return peer{tool: wrk, server: nginxServer, read: readWrk, argv: func(c call) []string {
		argv := []string{"wrk", "-t1", "-c" + strconv.Itoa(connections), "-d" + c.seconds() + "s"}
		if !keep {
			argv = append(argv, "-H", "Connection: close")
		}
		return append(argv, c.url())
	}}
}

// abHTTP speaks HTTP/1.0: without -k the server closes.
func abHTTP(keep bool) peer {
	return peer{tool: ab, server: nginxServer, read: readAB, argv: func(c call) []string {
		// It makes room for all requests that it might do: a million a second.
		argv := []string{"ab", "-q", "-d", "-S", "-t", c.seconds(), "-n", c.seconds() + "000000", "-c", strconv.Itoa(connections)}
		if keep {
			argv = append(argv, "-k")
		}
		return append(argv, c.url())
	}}
}

func heyHTTP() peer {
	return peer{tool: hey, server: nginxServer, read: readHey, argv: func(c call) []string {
		return []string{"hey", "-z", c.window.String(), "-c", strconv.Itoa(connections), "-cpus", "1", c.url()}
	}}
}

func autocannonHTTP() peer {
	return peer{tool: autocannon, server: nginxServer, read: readAutocannon, argv: func(c call) []string {
		return []string{"autocannon", "-j", "-n", "-c", strconv.Itoa(connections), "-d", c.seconds(), c.url()}
	}}
}

var (
	wrkRate   = regexp.MustCompile(`Requests/sec: +([\d.]+)`)
	wrkNot2xx = regexp.MustCompile(`(?m)^ *(Non-2xx or 3xx responses|Socket errors): .*$`)
	abRate    = regexp.MustCompile(`Requests per second: +([\d.]+)`)
	abFailed  = regexp.MustCompile(`Failed requests: +(\d+)`)
	heyRate   = regexp.MustCompile(`Requests/sec:\s+([\d.]+)`)
	heyNot2xx = regexp.MustCompile(`(?s)Error distribution:.*|\[[^2]\d\d\]\s+\d+ responses`)
)

func readWrk(out printed) (values, error) {
	if wrong := wrkNot2xx.Find(out.client); wrong != nil {
		return nil, errors.New(string(wrong))
	}
	rate, err := number(wrkRate, out.client)
	return values{"rate": rate}, err
}

func readAB(out printed) (values, error) {
	failed, err := number(abFailed, out.client)
	if err != nil {
		return nil, err
	}
	if failed > 0 {
		return nil, fmt.Errorf("%v requests failed", failed)
	}
	rate, err := number(abRate, out.client)
	return values{"rate": rate}, err
}

func readHey(out printed) (values, error) {
	if wrong := heyNot2xx.Find(out.client); wrong != nil {
		return nil, errors.New(string(wrong))
	}
	rate, err := number(heyRate, out.client)
	return values{"rate": rate}, err
}

func readAutocannon(out printed) (values, error) {
	var r struct {
		Duration float64 `json:"duration"`
		OK       float64 `json:"2xx"`
		Others   float64 `json:"non2xx"`
		Errors   float64 `json:"errors"`
	}
	if err := json.Unmarshal(out.client, &r); err != nil {
		return nil, err
	}
	if r.Others+r.Errors > 0 || r.Duration <= 0 {
		return nil, fmt.Errorf("%v errors, %v answers other than 2xx, in %v s", r.Errors, r.Others, r.Duration)
	}
	return values{"rate": r.OK / r.Duration}, nil
}
