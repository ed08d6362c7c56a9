package result

import (
	"reflect"
	"strings"
)

// fillFields fills the arrays and maps of a struct, and of all that it holds.
func fillFields(v reflect.Value) {
	if cell, is := v.Addr().Interface().(*Cell); is {
		cell.fillArrays() // of which there are thousands, with their samples
		return
	}
	for n := range v.NumField() {
		if _, options, _ := strings.Cut(v.Type().Field(n).Tag.Get("json"), ","); v.Type().Field(n).IsExported() {
			fill(v.Field(n), !strings.Contains(options, "omit"))
		}
	}
}

// fill fills a value: itself where a file has it even if it is empty, and what it holds.
func fill(v reflect.Value, always bool) {
	switch v.Kind() {
	case reflect.Struct:
		fillFields(v)
	case reflect.Pointer:
		if !v.IsNil() {
			fill(v.Elem(), true)
		}
	case reflect.Map:
		if v.IsNil() && always {
			v.Set(reflect.MakeMap(v.Type()))
		}
	case reflect.Slice:
		if v.IsNil() && always {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
		for n := range v.Len() {
			fill(v.Index(n), true)
		}
	}
}

// fillArrays is fillFields of a cell.
func (c *Cell) fillArrays() {
	c.Metrics = notNil(c.Metrics)
	c.Samples = notNil(c.Samples)
	c.Findings = notNil(c.Findings)
	c.Clusters = notNil(c.Clusters)
	c.Params = notNilMap(c.Params)
	for i := range c.Metrics {
		c.Metrics[i].Warnings = notNil(c.Metrics[i].Warnings)
	}
	for i := range c.Findings {
		c.Findings[i].Evidence = notNil(c.Findings[i].Evidence)
	}
	for i := range c.Samples {
		s := &c.Samples[i]
		s.Warnings = notNil(s.Warnings)
		s.Readings = notNil(s.Readings)
		s.Metrics = notNilMap(s.Metrics)
		s.Counters = notNilMap(s.Counters)
		s.Series = notNilMap(s.Series)
		for name, points := range s.Series {
			s.Series[name] = notNil(points)
		}
	}
}

func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func notNilMap[V any](values map[string]V) map[string]V {
	if values == nil {
		return map[string]V{}
	}
	return values
}
