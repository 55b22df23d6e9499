package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/boxsum/boxsum/internal/cli/console"
)

type completionCmd struct {
	Shell string `arg:"" name:"SHELL" enum:"bash,zsh,fish,powershell" help:"bash, zsh, fish or powershell."`
}

// Run prints a script that makes a shell complete commands, flags and values.
func (c *completionCmd) Run(sh *console.Shell) error {
	write := map[string]func(io.Writer, []verb){"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion, "powershell": powershellCompletion}[c.Shell]
	var b strings.Builder
	write(&b, verbsOf(sh.Model))
	_, err := io.WriteString(sh.Results(), b.String())
	return err
}

// A verb describes a command for completion.
type verb struct {
	name, help string
	words      []string // possible arguments
	flags      []flagWords
}

type flagWords struct {
	name, help string
	short      rune
	takes      bool     // the flag has a value
	words      []string // possible values; files if there are none
}

func (f flagWords) names() []string {
	names := []string{"--" + f.name}
	if f.short != 0 {
		names = append(names, "-"+string(f.short))
	}
	return names
}

// verbsOf returns the commands of the command line's model.
func verbsOf(model *kong.Application) (verbs []verb) {
	for _, node := range model.Leaves(true) {
		v := verb{name: node.Name, help: node.Help}
		for _, arg := range node.Positional {
			v.words = append(v.words, enumWords(arg)...)
		}
		for _, group := range node.AllFlags(true) {
			for _, f := range group {
				help, _, _ := strings.Cut(f.Help, ". ")
				help, _, _ = strings.Cut(help, ": ")
				v.flags = append(v.flags, flagWords{f.Name, help, f.Short, !f.IsBool(), enumWords(f.Value)})
			}
		}
		verbs = append(verbs, v)
	}
	return verbs
}

// enumWords returns the possible values, or the parts of which a value is composed.
func enumWords(v *kong.Value) []string {
	words := cmp.Or(v.Enum, v.Tag.Get("words"))
	if words == "" {
		return nil
	}
	return strings.Split(words, ",")
}

func bashCompletion(w io.Writer, verbs []verb) {
	var names []string
	fmt.Fprint(w, `# bash completion for boxsum: source <(boxsum completion bash)
_boxsum() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]} flags= words=
	COMPREPLY=()
	case $verb in
`)
	for _, v := range verbs {
		names = append(names, v.name)
		var flags []string
		fmt.Fprintf(w, "\t%s)\n\t\twords='%s'\n\t\tcase $prev in\n", v.name, strings.Join(v.words, " "))
		for _, f := range v.flags {
			flags = append(flags, f.names()...)
			if f.takes {
				fmt.Fprintf(w, "\t\t%s) flags=value words='%s' ;;\n", strings.Join(f.names(), "|"), strings.Join(f.words, " "))
			}
		}
		fmt.Fprintf(w, "\t\tesac\n\t\t[[ $flags ]] || flags='%s' ;;\n", strings.Join(flags, " "))
	}
	fmt.Fprintf(w, `	esac
	if [[ $COMP_CWORD == 1 ]]; then
		COMPREPLY=($(compgen -W '%s --help --version' -- "$cur"))
	elif [[ $cur == -* && $flags != value ]]; then
		COMPREPLY=($(compgen -W "$flags" -- "$cur"))
	elif [[ $words ]]; then
		COMPREPLY=($(compgen -W "$words" -- "$cur"))
	else
		compopt -o filenames 2>/dev/null
		local IFS=$'\n'
		COMPREPLY=($(compgen -f -- "$cur"))
	fi
}
complete -F _boxsum boxsum
`, strings.Join(names, " "))
}

func zshCompletion(w io.Writer, verbs []verb) {
	// _arguments and _describe give these characters a meaning.
	plain := strings.NewReplacer("'", "’", "[", "(", "]", ")", ":", " ", `\`, "", "`", "").Replace
	fmt.Fprint(w, "#compdef boxsum\n# zsh completion for boxsum: source <(boxsum completion zsh)\n_boxsum() {\n\tlocal -a verbs\n\tverbs=(\n")
	for _, v := range verbs {
		fmt.Fprintf(w, "\t\t'%s:%s'\n", v.name, plain(v.help))
	}
	fmt.Fprint(w, "\t)\n\tif (( CURRENT == 2 )); then\n\t\t_describe verb verbs\n\t\treturn\n\tfi\n\tlocal verb=$words[2]\n\tshift words\n\t(( CURRENT-- ))\n\tcase $verb in\n")
	values := func(words []string) string {
		if len(words) == 0 {
			return ":_files"
		}
		return ":(" + strings.Join(words, " ") + ")"
	}
	for _, v := range verbs {
		fmt.Fprintf(w, "\t%s)\n\t\t_arguments", v.name)
		for _, f := range v.flags {
			for _, name := range f.names() {
				fmt.Fprintf(w, " \\\n\t\t\t'*%s[%s]", name, plain(f.help))
				if f.takes {
					fmt.Fprint(w, ":value", values(f.words))
				}
				fmt.Fprint(w, "'")
			}
		}
		fmt.Fprintf(w, " \\\n\t\t\t'*:argument%s' ;;\n", values(v.words))
	}
	fmt.Fprint(w, "\tesac\n}\n(( $+functions[compdef] )) && compdef _boxsum boxsum\n")
}

func fishCompletion(w io.Writer, verbs []verb) {
	quote := func(text string) string {
		return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'"
	}
	fmt.Fprint(w, "# fish completion for boxsum: boxsum completion fish | source\ncomplete -c boxsum -e\n")
	for _, v := range verbs {
		fmt.Fprintf(w, "complete -c boxsum -n __fish_use_subcommand -f -a %s -d %s\n", v.name, quote(v.help))
	}
	for _, v := range verbs {
		seen := "complete -c boxsum -n " + quote("__fish_seen_subcommand_from "+v.name)
		if len(v.words) > 0 {
			fmt.Fprintf(w, "%s -f -a %s\n", seen, quote(strings.Join(v.words, " ")))
		}
		for _, f := range v.flags {
			fmt.Fprintf(w, "%s -l %s", seen, f.name)
			if f.short != 0 {
				fmt.Fprintf(w, " -s %c", f.short)
			}
			switch {
			case len(f.words) > 0:
				fmt.Fprintf(w, " -x -a %s", quote(strings.Join(f.words, " ")))
			case f.takes:
				fmt.Fprint(w, " -r")
			}
			fmt.Fprintf(w, " -d %s\n", quote(f.help))
		}
	}
}

func powershellCompletion(w io.Writer, verbs []verb) {
	// PowerShell treats curly quotes like straight ones.
	double := strings.NewReplacer("'", "''", "‘", "‘‘", "’", "’’", "‚", "‚‚", "‛", "‛‛").Replace
	quote := func(text string) string { return "'" + double(text) + "'" }
	list := func(words []string) string {
		quoted := make([]string, len(words))
		for i, word := range words {
			quoted[i] = quote(word)
		}
		return "@(" + strings.Join(quoted, ", ") + ")"
	}
	fmt.Fprint(w, `# PowerShell completion for boxsum: boxsum completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName boxsum, boxsum.exe -ScriptBlock {
	param($wordToComplete, $commandAst, $cursorPosition)
	$verbs = [ordered]@{
`)
	for _, v := range verbs {
		fmt.Fprintf(w, "\t\t%s = @{ help = %s; words = %s; flags = [ordered]@{\n", quote(v.name), quote(v.help), list(v.words))
		for _, f := range v.flags {
			for _, name := range f.names() {
				fmt.Fprintf(w, "\t\t\t%s = @{ help = %s; takes = $%t; words = %s }\n", quote(name), quote(f.help), f.takes, list(f.words))
			}
		}
		fmt.Fprint(w, "\t\t} }\n")
	}
	fmt.Fprint(w, `	}
	$result = {
		param($word, $help)
		if ($word -like "$wordToComplete*") {
			if (-not $help) { $help = $word }
			[System.Management.Automation.CompletionResult]::new($word, $word, 'ParameterValue', $help)
		}
	}
	$typed = @($commandAst.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object { $_.ToString() })
	if ($typed.Count -le 1) {
		foreach ($name in $verbs.Keys) { & $result $name $verbs[$name].help }
		foreach ($name in '--help', '--version') { & $result $name }
		return
	}
	$verb = $verbs[$typed[1]]
	if (-not $verb) { return }
	$words = $verb.words
	$last = $verb.flags[$typed[-1]]
	if ($last -and $last.takes) {
		$words = $last.words
	} elseif ($wordToComplete -like '-*') {
		foreach ($name in $verb.flags.Keys) { & $result $name $verb.flags[$name].help }
		return
	}
	foreach ($word in $words) { & $result $word }
}
`)
}
