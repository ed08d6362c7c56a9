package iperf3

import "testing"

func TestSmoke(t *testing.T) {
	at, told := ourServer(t, loopback)
	r := realClient(t, at, "-t", "1", "-P", "2")
	t.Logf("%+v\n%s", r.End, told.all())
	r = realClient(t, at, "-t", "1", "-u", "-b", "20M", "-R")
	t.Logf("%+v\n%s", r.End, told.all())
	r = realClient(t, at, "-t", "1", "-u", "-b", "20M")
	t.Logf("%+v\n%s", r.End, told.all())
	r = realClient(t, at, "-n", "50M", "-R")
	t.Logf("%+v\n%s", r.End, told.all())
	r = realClient(t, at, "-t", "1", "--bidir")
	t.Logf("%+v\n%s", r.End, told.all())
	at, reports := realServer(t)
	out, err := Run(t.Context(), at, Test{Duration: 1e9, Interval: 250e6})
	t.Logf("%+v %v", out, err)
	t.Logf("%+v", <-reports)
	at, reports = realServer(t)
	out, err = Run(t.Context(), at, Test{Duration: 1e9, UDP: true, Rate: 20e6, Reverse: true})
	t.Logf("%+v %v", out, err)
	t.Logf("%+v", <-reports)
}
