package page

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	files "go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"tare/result"
)

// Schema is the JSON Schema of a result, of the types of package result and what their comments say.
// dir is the folder of the package.
func Schema(dir string) ([]byte, error) {
	comments, err := commentsOf(dir)
	if err != nil {
		return nil, fmt.Errorf("read comments of %s: %w", dir, err)
	}
	root := reflect.TypeFor[result.Result]()
	types := []reflect.Type{root}
	for n := 0; n < len(types); n++ {
		for _, field := range reflect.VisibleFields(types[n]) {
			if part := partOf(field.Type); part != nil && !field.Anonymous {
				types = result.AddOnce(types, part)
			}
		}
	}
	asRefs := &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[result.Rate]():     {Type: "number"},
		reflect.TypeFor[result.Settings](): {Type: "object", AdditionalProperties: &jsonschema.Schema{Type: "string"}},
	}}
	for _, t := range types[1:] {
		asRefs.TypeSchemas[t] = &jsonschema.Schema{Ref: "#/$defs/" + t.Name()}
	}
	whole := &jsonschema.Schema{}
	defs := map[string]*jsonschema.Schema{}
	for _, t := range types {
		own := jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{}}
		for of, ref := range asRefs.TypeSchemas {
			if of != t {
				own.TypeSchemas[of] = ref
			}
		}
		s, err := jsonschema.ForType(t, &own)
		if err != nil {
			return nil, fmt.Errorf("describe %s: %w", t.Name(), err)
		}
		describe(s, t, comments)
		if t == root {
			whole = s
			continue
		}
		defs[t.Name()] = s
	}
	whole.Schema, whole.Title, whole.Defs = "https://json-schema.org/draft/2020-12/schema", result.Schema, defs
	whole.Properties["schema"].Const = jsonschema.Ptr[any](result.Schema)
	text, err := json.MarshalIndent(whole, "", " ")
	return append(text, '\n'), err
}

// partOf is the struct of package result that a type holds, or a list, a map or a pointer of it; nil: none.
func partOf(t reflect.Type) reflect.Type {
	for slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map}, t.Kind()) {
		t = t.Elem()
	}
	if t.Kind() == reflect.Struct && t.PkgPath() == reflect.TypeFor[result.Result]().PkgPath() && t != reflect.TypeFor[result.Rate]() {
		return t
	}
	return nil
}

// describe adds what the comments say. A reader accepts unknown fields; nothing is null.
func describe(s *jsonschema.Schema, t reflect.Type, comments map[string]string) {
	s.Description, s.AdditionalProperties = comments[t.Name()], nil
	for _, field := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if at := s.Properties[name]; at != nil {
			withoutNull(at)
			owner := t
			if len(field.Index) > 1 {
				owner = t.FieldByIndex(field.Index[:len(field.Index)-1]).Type
			}
			if text := comments[owner.Name()+"."+field.Name]; text != "" {
				at.Description = text
			}
		}
	}
}

// withoutNull takes null from a schema and those below it.
func withoutNull(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if s.Types = slices.DeleteFunc(s.Types, func(t string) bool { return t == "null" }); len(s.Types) == 1 {
		s.Type, s.Types = s.Types[0], nil
	} else if len(s.Types) == 0 {
		s.Types = nil
	}
	withoutNull(s.Items)
	withoutNull(s.AdditionalProperties)
}

// commentsOf are the comments on the types of a package and their fields, by "Type" and "Type.Field".
func commentsOf(dir string) (map[string]string, error) {
	all := map[string]string{}
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	flat := func(groups ...*ast.CommentGroup) string {
		var texts []string
		for _, g := range groups {
			if text := strings.Join(strings.Fields(g.Text()), " "); text != "" {
				texts = append(texts, text)
			}
		}
		return strings.Join(texts, " ")
	}
	for _, path := range paths {
		file, err := parser.ParseFile(files.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		for _, d := range file.Decls {
			declared, is := d.(*ast.GenDecl)
			if !is {
				continue
			}
			for _, spec := range declared.Specs {
				if t, is := spec.(*ast.TypeSpec); is {
					all[t.Name.Name] = flat(declared.Doc, t.Doc)
					fieldComments(all, t, flat)
				}
			}
		}
	}
	return all, nil
}

// fieldComments adds those on the fields of a struct.
func fieldComments(all map[string]string, t *ast.TypeSpec, flat func(...*ast.CommentGroup) string) {
	fields, is := t.Type.(*ast.StructType)
	if !is {
		return
	}
	for _, f := range fields.Fields.List {
		for _, name := range f.Names {
			all[t.Name.Name+"."+name.Name] = flat(f.Doc, f.Comment)
		}
	}
}
