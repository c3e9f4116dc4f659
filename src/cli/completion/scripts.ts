/** Completion scripts of the shells. All of them get the candidates from `minik8s __complete -- WORDS…`. */

/** Line that requests names of files instead of candidates. */
export const filesLine = ':files';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

// Bash replaces only the part of a word after the last character of COMP_WORDBREAKS, such as = and colon. It
// does not quote what it inserts, and the name of an object could contain a command.
const bash = `# Completion of minik8s for bash: source <(minik8s completion bash)
_minik8s() {
  local line=\${COMP_LINE:0:COMP_POINT} words current cut='' found
  IFS=$' \\t\\n' read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=('')
  current=\${words[\${#words[@]}-1]}
  [[ $COMP_WORDBREAKS == *=* && $current == --*=* ]] && cut=\${current%%=*}=
  [[ $COMP_WORDBREAKS == *:* && $current == *:* ]] && cut=\${current%:*}:
  COMPREPLY=()
  while IFS= read -r found; do
    if [[ $found == '${filesLine}' ]]; then
      compopt -o default 2>/dev/null
      return
    fi
    found=\${found%%$'\\t'*}
    found=\${found#"$cut"}
    [[ $found ]] && printf -v found %q "$found"
    COMPREPLY+=("$found")
  done < <("\${words[0]}" __complete -- "\${words[@]:1}" 2>/dev/null)
}
complete -F _minik8s minik8s
`;

const zsh = `#compdef minik8s
# Completion of minik8s for zsh: source <(minik8s completion zsh)
_minik8s() {
  local line name about
  local -a found shown
  found=("\${(@f)$("\${words[1]}" __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  for line in $found; do
    if [[ $line == '${filesLine}' ]]; then
      _files
      return
    fi
    name=\${line%%$'\\t'*}
    about=\${line#$name}
    shown+=("\${name//:/\\\\\\:}:\${about#$'\\t'}")
  done
  _describe -V minik8s shown
}
if [[ $funcstack[1] == _minik8s ]]; then
  _minik8s "$@"
else
  compdef _minik8s minik8s
fi
`;

const fish = `# Completion of minik8s for fish: minik8s completion fish | source
function __minik8s_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in ($words[1] __complete -- $words[2..-1] 2>/dev/null)
        if test "$line" = '${filesLine}'
            __fish_complete_path (commandline -ct)
        else
            echo $line
        end
    end
end
complete -c minik8s -f -a '(__minik8s_complete)'
`;

const scripts: Readonly<Record<Shell, string>> = { bash, zsh, fish };

/** Returns the script for the name under which the executable is called: its own, or that of a link. */
export const completionScript = (shell: Shell, program: 'minik8s' | 'kubectl' = 'minik8s'): string =>
  scripts[shell].replaceAll('minik8s', program);
