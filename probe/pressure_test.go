package probe

import (
	"math"
	"testing"
)

func TestParsePressure(t *testing.T) {
	for text, want := range map[string]float64{
		"some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n":                                            0,
		"some avg10=100.00 avg60=1.81 avg300=2.70 total=1\n":                                          1,
		"full avg10=9.00 avg60=0.00 avg300=0.00 total=0\nsome avg10=75.25 avg60=0 avg300=0 total=1\n": 0.7525,
	} {
		if got, err := ParsePressure([]byte(text)); err != nil || math.Abs(got-want) > 1e-12 {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "some", "full avg10=1.00\n", "some avg60=1.00\n", "some avg10=\n",
		"some avg10=-1\n", "some avg10=100.01\n", "some avg10=NaN\n", "some avg10=Inf\n",
	} {
		if got, err := ParsePressure([]byte(text)); err == nil {
			t.Errorf("%q gave %v", text, got)
		}
	}
}

func TestCPUPressure(t *testing.T) {
	if got, ok, err := CPUPressure(vm); !ok || err != nil || math.Abs(got-0.0038) > 1e-12 {
		t.Errorf("captured: %v, %v, %v, want 0.0038", got, ok, err)
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
	f.Add([]byte("some avg10=NaN avg60=0.00\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if ratio, err := ParsePressure(data); err == nil && !(ratio >= 0 && ratio <= 1) {
			t.Fatalf("ratio %v", ratio)
		}
	})
}
