// Completion scripts, made from the commands as they are defined.

import type { Command } from "commander";

interface Completed {
  readonly name: string;
  readonly about: string;
  readonly options: readonly { readonly flag: string; readonly about: string }[];
  readonly words: readonly string[];
}

export function completionScript(root: Command, shell: "bash" | "zsh" | "fish"): string {
  const commands = root.commands.map(
    (command): Completed => ({
      name: command.name(),
      about: command.description(),
      options: [...command.options, ...root.options]
        .filter((option) => option.long !== undefined && option.long !== "--version")
        .map((option) => ({ flag: option.long ?? "", about: option.description })),
      words: command.registeredArguments.flatMap((argument) => argument.argChoices ?? []),
    }),
  );
  return { bash, zsh, fish }[shell](commands);
}

/** Options and fixed words of the command that was typed; otherwise files. */
function bash(commands: readonly Completed[]): string {
  const cases = commands.map(({ name, options, words }) => {
    const flags = [...options.map(({ flag }) => flag), "--help"].join(" ");
    return `    ${name}) words="${flags}"; plain="${words.join(" ")}" ;;`;
  });
  return `# bash completion of fedkm: source this file, or put it into /etc/bash_completion.d
_fedkm() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words="" plain=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${commands.map(({ name }) => name).join(" ")} --help --version" -- "$current"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${cases.join("\n")}
  esac
  case "$current" in
    -*) COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
    *) if [ -n "$plain" ]; then COMPREPLY=($(compgen -W "$plain" -- "$current")); else COMPREPLY=($(compgen -f -- "$current")); fi ;;
  esac
}
complete -o filenames -F _fedkm fedkm
`;
}

function zsh(commands: readonly Completed[]): string {
  const quote = (text: string) => text.replaceAll("'", "").replaceAll(/[[\]:]/g, " ");
  const cases = commands.map(({ name, options, words }) => {
    const flags = options.map(({ flag, about }) => `'${flag}[${quote(about)}]'`).join(" ");
    return `    ${name}) _arguments ${flags} '*:file:${words.length > 0 ? `(${words.join(" ")})` : "_files"}' ;;`;
  });
  const names = commands.map(({ name, about }) => `'${name}:${quote(about)}'`).join(" ");
  return `#compdef fedkm
# zsh completion of fedkm: put this file as _fedkm into a folder of $fpath
_fedkm() {
  if (( CURRENT == 2 )); then
    local -a commands=(${names})
    _describe command commands
    return
  fi
  local name="$words[2]"
  shift words
  (( CURRENT-- ))
  case "$name" in
${cases.join("\n")}
  esac
}
_fedkm "$@"
`;
}

function fish(commands: readonly Completed[]): string {
  const quote = (text: string) => text.replaceAll("'", "");
  const lines = commands.flatMap(({ name, about, options, words }) => [
    `complete -c fedkm -n __fish_use_subcommand -a ${name} -d '${quote(about)}'`,
    ...words.map((word) => `complete -c fedkm -f -n '__fish_seen_subcommand_from ${name}' -a ${word}`),
    ...options.map(
      ({ flag, about: text }) =>
        `complete -c fedkm -n '__fish_seen_subcommand_from ${name}' -l ${flag.slice(2)} -d '${quote(text)}'`,
    ),
  ]);
  return `# fish completion of fedkm: put this file into ~/.config/fish/completions\n${lines.join("\n")}\n`;
}
