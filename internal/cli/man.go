package cli

import (
	"fmt"
	"io"
	"strings"
)

type manCmd struct{}

// Run prints the manual page, from the command line itself, for man.
func (*manCmd) Run(sh *shell) error {
	var b strings.Builder
	text := strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n.", "\n\\&.", "\n'", "\n\\&'").Replace
	b.WriteString(".TH BOXSUM 1 \"\" \"" + text(thisBuild().Version) + "\" \"boxsum\"\n.SH NAME\nboxsum \\- summed\\-area tables of images, and what is made of them\n")
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B boxsum\n.I verb\n[argument ...] [flag ...]\n.SH DESCRIPTION\n%s\n.SH VERBS\n", text(sh.line.Help))
	for _, verb := range sh.line.Verbs {
		if verb.Hidden {
			continue
		}
		fmt.Fprintf(&b, ".SS boxsum %s\n%s\n", text(verb.Usage()), text(verb.Help))
		for _, f := range verb.Flags {
			fmt.Fprint(&b, ".TP\n.B ")
			if f.Short != 0 {
				fmt.Fprintf(&b, `\-%c, `, f.Short)
			}
			fmt.Fprintf(&b, `\-\-%s`, text(f.Name))
			if !f.IsBool() {
				fmt.Fprintf(&b, ` \fI%s\fR`, text(f.Form()))
			}
			fmt.Fprintf(&b, "\n%s\n", text(f.Help))
		}
		fmt.Fprintf(&b, ".PP\n.nf\n%s\n.fi\n", text("\n" + verb.Detail)[1:])
	}
	b.WriteString(".SH EXIT STATUS\n0, or 2 if the arguments cannot be, 128 and the number of a signal, and 1 otherwise.\n")
	_, err := io.WriteString(sh.results(), b.String())
	return err
}
