package jobs

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the headers")

// TestHeaders checks that the headers match the structs.
func TestHeaders(t *testing.T) {
	sources, _ := filepath.Glob("*.go")
	set, files := token.NewFileSet(), []*ast.File(nil)
	for _, source := range sources {
		if strings.HasSuffix(source, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, source, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	pkg, err := new(types.Config).Check("jobs", set, files, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		source := set.Position(file.Pos()).Filename
		name := strings.TrimSuffix(source, ".go") + ".h"
		want := header(source, file, pkg)
		if *update {
			if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%s is not what %s says: run go test ./gpu/internal/kernels/... -update, then make kernels (%v)", name, source, err)
		}
	}
}

// header returns the structs of a file in C.
func header(source string, file *ast.File, pkg *types.Package) string {
	var b strings.Builder
	guard := "JOBS_" + strings.ToUpper(strings.TrimSuffix(source, ".go")) + "_H"
	fmt.Fprintf(&b, "// Code generated from %s. DO NOT EDIT.\n#ifndef %s\n#define %s\n", source, guard, guard)
	for _, d := range file.Decls {
		for _, spec := range d.(*ast.GenDecl).Specs {
			spec := spec.(*ast.TypeSpec)
			b.WriteString("\n")
			for _, c := range d.(*ast.GenDecl).Doc.List {
				b.WriteString(c.Text + "\n")
			}
			b.WriteString("typedef struct {\n")
			for _, f := range spec.Type.(*ast.StructType).Fields.List {
				b.WriteString(field(f))
			}
			size := types.SizesFor("gc", "amd64").Sizeof(pkg.Scope().Lookup(spec.Name.Name).Type())
			fmt.Fprintf(&b, "} %s;\n#ifndef __OPENCL_VERSION__\nstatic_assert(sizeof(%s) == %d, \"Go has another layout\");\n#endif\n", spec.Name.Name, spec.Name.Name, size)
		}
	}
	b.WriteString("\n#endif\n")
	return b.String()
}

// field returns a field of a struct in C. The compiler pads the end of a struct by itself.
func field(f *ast.Field) string {
	length := ""
	t, names := f.Type, []string(nil)
	if array, ok := t.(*ast.ArrayType); ok {
		length, t = "["+array.Len.(*ast.BasicLit).Value+"]", array.Elt
		if f.Names[0].Name == "_" {
			return ""
		}
	}
	c := map[string]string{"int32": "i32", "int64": "i64", "uint32": "u32", "uint64": "u64", "float32": "f32", "float64": "f64"}[t.(*ast.Ident).Name]
	if f.Tag != nil {
		tag, _ := strconv.Unquote(f.Tag.Value)
		c = reflect.StructTag(tag).Get("c")
	}
	for _, n := range f.Names {
		name := strings.ToLower(n.Name[:1]) + n.Name[1:]
		if name == "_" {
			name = "padding"
		}
		names = append(names, name+length)
	}
	line := "\t" + c + " " + strings.Join(names, ", ") + ";"
	if f.Comment != nil {
		line += " // " + strings.TrimSpace(f.Comment.Text())
	}
	return line + "\n"
}
