package probe

import (
	"testing"
	"time"
)

func TestParsePressure(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n":                                               0,
		"some avg10=100.00 avg60=1.81 avg300=2.70 total=1\n":                                             time.Microsecond,
		"full avg10=9.00 avg60=0.00 avg300=0.00 total=7\nsome avg10=75.25 avg60=0 avg300=0 total=2500\n": 2500 * time.Microsecond,
	} {
		if got, err := parsePressure([]byte(text), "some"); err != nil || got != want {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "some", "full avg10=1.00 total=1\n", "some avg60=1.00\n", "some avg10=1 total=\n",
		"some avg10=1 total=-1\n", "some avg10=1 total=1.5\n", "some avg10=1 total=9223372036854775807\n",
	} {
		if got, err := parsePressure([]byte(text), "some"); err == nil {
			t.Errorf("%q gave %v", text, got)
		}
	}
}

func TestCPUPressure(t *testing.T) {
	if got, ok, err := CPUPressure(vm); !ok || err != nil || got != 25466708*time.Microsecond {
		t.Errorf("captured: %v, %v, %v, want 25.466708s", got, ok, err)
	}
	if got, ok, err := CPUPressure(t.TempDir()); ok || err != nil {
		t.Errorf("a kernel without PSI: %v, %v, %v", got, ok, err)
	}
	garbage := tree(t, map[string]string{"proc/pressure/cpu": "garbage\n"})
	if got, ok, err := CPUPressure(garbage); ok || err == nil {
		t.Errorf("garbage: %v, %v, %v", got, ok, err)
	}
	if got, _, err := CPUPressure("/"); err != nil {
		t.Errorf("this machine: %v, %v", got, err)
	}
}

func FuzzParsePressure(f *testing.F) {
	captured(f, "proc/pressure/cpu")
	f.Add([]byte("some avg10=NaN total=9223372036854775807\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if waited, err := parsePressure(data, "some"); err == nil && waited < 0 {
			t.Fatalf("waited %v", waited)
		}
	})
}
