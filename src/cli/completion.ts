import { Argument, type Command } from 'commander';
import { createCommand, outputFormat } from './shell/command.ts';
import { type Io, write } from './shell/io.ts';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/**
 * Make a shell run `gateway __complete WORDS…`, whose last word is the one being typed. The first line of the output says
 * what is completed (words, files, directories), each further one is a word, a tab and its description. Neither the typed
 * words nor the output are evaluated.
 */
export const scripts: Readonly<Record<Shell, string>> = {
  // Bash also splits words at = and :, replaces only what follows the last of them, and does not remove quotes from words.
  bash: `# bash completion for gateway: source <(gateway completion bash)
_gateway_completion() {
  local line=\${COMP_LINE:0:COMP_POINT} words=() word last=-1 i
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [[ $last -lt 0 || $line == [[:space:]]* ]]; then
      line=\${line#"\${line%%[![:space:]]*}"}
      words[++last]=
    fi
    [[ \${#word} -gt \${#line} ]] && word=$line
    words[last]+=$word
    line=\${line:\${#word}}
  done
  local current=\${words[last]} cut= kind= value
  [[ $COMP_WORDBREAKS == *:* ]] && cut=\${current%"\${current##*[:=]}"}
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ -z $kind ]]; then
      kind=$line
      continue
    fi
    value=\${line%%$'\\t'*}
    [[ $value == "$current"* ]] || continue
    COMPREPLY+=("\${value#"$cut"}")
  done < <("\${words[0]}" __complete "\${words[@]:1}" 2>/dev/null)
  case $kind in
    files) compopt -o default 2>/dev/null || COMPREPLY=($(compgen -f -- "\${current#"$cut"}")) ;;
    directories) compopt -o dirnames 2>/dev/null || COMPREPLY=($(compgen -d -- "\${current#"$cut"}")) ;;
  esac
}
complete -F _gateway_completion gateway
`,
  zsh: `#compdef gateway
# zsh completion for gateway: source <(gateway completion zsh), or this as _gateway in $fpath
_gateway() {
  local -a lines described
  local line kind
  lines=("\${(@f)$("\${words[1]}" __complete "\${(@Q)words[2,CURRENT-1]}" "\${(Q)IPREFIX}\${(Q)PREFIX}" 2>/dev/null)}")
  kind=$lines[1]
  for line in "\${(@)lines[2,-1]}"; do
    described+=("\${\${line%%$'\\t'*}//:/\\\\:}\${\${line#*$'\\t'}:+:\${line#*$'\\t'}}")
  done
  case $kind in
    words) _describe -t gateway gateway described ;;
    files) [[ $PREFIX == --*=* ]] && compset -P '*='; _files ;;
    directories) [[ $PREFIX == --*=* ]] && compset -P '*='; _files -/ ;;
  esac
}
if [[ $funcstack[1] == _gateway ]]; then
  _gateway "$@"
else
  # -i: without asking about folders that others can write to
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i; }
  compdef _gateway gateway
fi
`,
  fish: `# fish completion for gateway: gateway completion fish > ~/.config/fish/completions/gateway.fish
function __gateway_completion
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    set -l program $before[1]
    set -e before[1]
    set -l lines ($program __complete $before "$current" 2>/dev/null)
    set -l kind $lines[1]
    set -e lines[1]
    switch "$kind"
        case words
            printf '%s\\n' $lines
        case files directories
            set -l flag (string match -r -- '^--[^=]*=' "$current")
            set -l path (string replace -- "$flag" '' "$current")
            for entry in (test $kind = files; and __fish_complete_path "$path"; or __fish_complete_directories "$path")
                printf '%s%s\\n' "$flag" $entry
            end
    end
end
complete -c gateway -f -a '(__gateway_completion)'
`,
};

export function build(io: Io): Command {
  return createCommand({
    name: 'completion',
    summary: 'print a completion script for commands, options, models and names',
    examples: [
      "echo 'source <(gateway completion bash)' >> ~/.bashrc",
      "echo 'source <(gateway completion zsh)' >> ~/.zshrc",
      'gateway completion fish > ~/.config/fish/completions/gateway.fish',
    ],
  })
    .addArgument(new Argument('<shell>', 'whose').choices(shells))
    .action(async (shell: Shell, _options: unknown, command: Command) => {
      outputFormat(command, ['text']);
      await write(io.stdout, scripts[shell]);
    });
}
