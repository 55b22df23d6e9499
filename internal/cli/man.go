package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/boxsum/boxsum/internal/cli/console"
)

type manCmd struct{}

// Run prints the manual page, made from the command line's model.
func (*manCmd) Run(sh *console.Shell) error {
	var b strings.Builder
	text := strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n.", "\n\\&.", "\n'", "\n\\&'").Replace
	b.WriteString(".TH BOXSUM 1 \"\" \"" + text(thisBuild().Version) + "\" \"boxsum\"\n.SH NAME\nboxsum \\- make and query summed\\-area tables of images\n")
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B boxsum\n.I verb\n[argument ...] [flag ...]\n.SH DESCRIPTION\n%s\n.SH VERBS\n", text(sh.Model.Help))
	for _, node := range sh.Model.Leaves(true) {
		fmt.Fprintf(&b, ".SS boxsum %s\n%s\n", text(node.Summary()), text(node.Help))
		for _, f := range node.Flags {
			fmt.Fprint(&b, ".TP\n.B ")
			if f.Short != 0 {
				fmt.Fprintf(&b, `\-%c, `, f.Short)
			}
			fmt.Fprintf(&b, `\-\-%s`, text(f.Name))
			if !f.IsBool() {
				fmt.Fprintf(&b, ` \fI%s\fR`, text(f.FormatPlaceHolder()))
			}
			fmt.Fprintf(&b, "\n%s\n", text(f.Help))
		}
		fmt.Fprintf(&b, ".PP\n.nf\n%s\n.fi\n", text("\n" + node.Detail)[1:])
	}
	b.WriteString(".SH EXIT STATUS\n0 on success, 2 for invalid arguments, 128+n when killed by signal n, 1 for any other error.\n")
	_, err := io.WriteString(sh.Results(), b.String())
	return err
}
