package experiment

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"tare/result"
)

// TestSingleAsksAnyServerOfHTTP drives the http workload against the standard
// library's server.
func TestSingleAsksAnyServerOfHTTP(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RequestURI() != "/page?n=1" || r.Host != "example.test" {
			w.WriteHeader(http.StatusNotFound)
		}
		fmt.Fprint(w, "hello")
	}))
	defer server.Close()
	for path, want := range map[string]string{"/page?n=1": "", "/other": "non-2xx"} {
		run := Single{
			To:       netip.MustParseAddrPort(strings.TrimPrefix(server.URL, "http://")),
			Workload: result.WorkloadPlan{Name: "http", Flows: 2}, Warmup: 0.01, Duration: 0.1, Path: path, Host: "example.test",
		}
		if err := run.Check(); err != nil {
			t.Fatal(err)
		}
		res, err := run.Run(t.Context(), result.Tool{}, result.Environment{})
		if err != nil {
			t.Fatal(err)
		}
		cell := res.Cells[0]
		if cell.Status != result.StatusOK || cell.Metrics[0].Name != "rate" || cell.Metrics[0].Value <= 0 {
			t.Fatalf("%s: %s %s %+v", path, cell.Status, cell.Reason, cell.Metrics)
		}
		if warned := strings.Join(cell.Metrics[0].Warnings, "\n"); !strings.Contains(warned, want) || want == "" && warned != "" {
			t.Errorf("%s: warnings %q, want %q", path, warned, want)
		}
	}
}

// Where nobody listens there is a failed cell.
func TestSingleThatFailsIsAFailedCell(t *testing.T) {
	run := Single{To: netip.MustParseAddrPort("127.0.0.1:1"), Workload: result.WorkloadPlan{Name: "tcp_rr"}, Duration: 0.1}
	res, err := run.Run(t.Context(), result.Tool{}, result.Environment{})
	if err != nil {
		t.Fatal(err)
	}
	if cell := res.Cells[0]; cell.Status != result.StatusFailed || !strings.Contains(cell.Reason, "start tare serve") {
		t.Errorf("status %s, reason %q", cell.Status, cell.Reason)
	}
}
