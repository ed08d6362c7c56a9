package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"tare/result"
	"tare/test/docs/page"
	"tare/test/labtest"
)

// TestSchemaIsOfTheTypes: docs/result.schema.json is what the types and their comments say.
func TestSchemaIsOfTheTypes(t *testing.T) {
	want, err := page.Schema(filepath.Join(root, "result"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(root, "docs/result.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	labtest.Equal(t, "docs/result.schema.json is of today: go run ./test/docs schema", bytes.Equal(got, want), true)
}

// TestEveryFixtureFitsTheSchema: what tare writes is what the schema says, of every result that tests
// read. What tare 0.1 wrote is read, and written anew.
func TestEveryFixtureFitsTheSchema(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs/result.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	whole, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, pattern := range []string{"*/testdata/*.json", "cmd/*/testdata/*.json", "result/testdata/*.json"} {
		paths, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			res, err := result.ReadFile(path)
			if err != nil {
				continue // of another format, as a tool's own output
			}
			seen++
			var written bytes.Buffer
			if err := res.Write(&written); err != nil {
				t.Fatal(err)
			}
			var document any
			if err := json.Unmarshal(written.Bytes(), &document); err != nil {
				t.Fatal(err)
			}
			if err := whole.Validate(document); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
	labtest.AtLeast(t, "results", seen, 10)
	for name, text := range map[string]string{
		"another schema":    `{"schema": "tare.result/1"}`,
		"cells that are no": `{"schema": "tare.result/2", "cells": 3}`,
	} {
		var document any
		if err := json.Unmarshal([]byte(text), &document); err != nil {
			t.Fatal(err)
		}
		labtest.Equal(t, name+" fits", whole.Validate(document) == nil, false)
	}
}
