// Completion scripts for four shells, made from what can be typed: commands, their flags, and the values of both.

import { methods } from "@fedkm/core";
import type { Command, Option } from "commander";

/** A command by the words that lead to it, such as "device run". */
interface TypedCommand {
  readonly path: string;
  readonly about: string;
  readonly flags: readonly Flag[];
  /** Commands within it, or values of its first argument. None: files. */
  readonly words: readonly string[];
}

interface Flag {
  readonly name: string;
  readonly about: string;
  /** Whether a value follows, and which ones there are; none that are known: a file. */
  readonly takesValue: boolean;
  readonly values: readonly string[];
}

/** What the definitions of options leave to the work behind them, which is too slow to load for --help. */
const knownValues: Readonly<Record<string, readonly string[]>> = {
  "--method": [...Object.keys(methods), "shared"],
  "--graph": ["complete", "ring", "path", "star"],
};

/** Every command that can be typed; those that hold others stand before them. */
export function typedCommands(root: Command): TypedCommand[] {
  const general = root.options.filter(({ long }) => long !== "--version");
  return root.commands.flatMap((command) => [
    typed(command, command.name(), general),
    ...command.commands.map((inner) => typed(inner, `${command.name()} ${inner.name()}`, general)),
  ]);
}

function typed(command: Command, path: string, general: readonly Option[]): TypedCommand {
  const named = [...command.options, ...general].filter(({ long }) => long !== undefined);
  const inner = command.commands.map((own) => own.name());
  return {
    path,
    about: command.description(),
    flags: [...named.map(flagOf), { name: "--help", about: "show what it takes", takesValue: false, values: [] }],
    words: inner.length > 0 ? inner : command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
  };
}

function flagOf({ long, description, required, optional, argChoices, parseArg }: Option): Flag {
  const name = long ?? "";
  const { choices } = (parseArg ?? {}) as { readonly choices?: readonly string[] };
  const values = argChoices ?? choices ?? knownValues[name] ?? [];
  // A value of two words would be offered as two.
  return {
    name,
    about: description,
    takesValue: required || optional,
    values: values.filter((own) => !own.includes(" ")),
  };
}

export const scripts = { bash, zsh, fish, powershell } as const;

export type Shell = keyof typeof scripts;

function topLevel(commands: readonly TypedCommand[]): TypedCommand[] {
  return commands.filter(({ path }) => !path.includes(" "));
}

/** The flags whose values are known, and those that take a file or a number. */
function valued(flags: readonly Flag[]): Flag[] {
  return flags.filter(({ values }) => values.length > 0);
}

function bash(commands: readonly TypedCommand[]): string {
  const cases = commands.map(({ path, flags, words }) => {
    const values = valued(flags).map(({ name, values: own }) => `${name}) values="${own.join(" ")}" ;;`);
    const known = values.length > 0 ? ` case "$before" in ${values.join(" ")} esac ;;` : " ;;";
    return `    "${path}") flags="${flags.map(({ name }) => name).join(" ")}"; words="${words.join(" ")}";${known}`;
  });
  const nested = topLevel(commands).filter((own) => commands.some(({ path }) => path.startsWith(`${own.path} `)));
  return `# bash completion of fedkm: source this file, or put it into /etc/bash_completion.d
_fedkm() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" flags="" words="" values=""
  local typed="\${COMP_WORDS[1]}"
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${topLevel(commands)
      .map(({ path }) => path)
      .join(" ")} --help --version" -- "$current"))
    return
  fi
  case "$typed" in
    ${nested.map(({ path }) => path).join("|")}) if [ "$COMP_CWORD" -gt 2 ]; then typed="$typed \${COMP_WORDS[2]}"; fi ;;
  esac
  case "$typed" in
${cases.join("\n")}
  esac
  if [ -n "$values" ]; then COMPREPLY=($(compgen -W "$values" -- "$current")); return; fi
  case "$current" in
    -*) COMPREPLY=($(compgen -W "$flags" -- "$current")) ;;
    *) if [ -n "$words" ]; then COMPREPLY=($(compgen -W "$words" -- "$current")); else COMPREPLY=($(compgen -f -- "$current")); fi ;;
  esac
}
complete -o filenames -F _fedkm fedkm
`;
}

function zsh(commands: readonly TypedCommand[]): string {
  const quote = (text: string) => text.replaceAll("'", "").replaceAll(/[[\]:]/g, " ");
  const described = (own: readonly TypedCommand[]) =>
    own.map(({ path, about }) => `'${path.split(" ").at(-1)}:${quote(about)}'`).join(" ");
  const value = ({ takesValue, values }: Flag) => {
    if (!takesValue) return "";
    return `:value:${values.length > 0 ? `(${values.join(" ")})` : "_files"}`;
  };
  const argumentsOf = ({ flags, words }: TypedCommand) => {
    const known = flags.map((flag) => `'${flag.name}[${quote(flag.about)}]${value(flag)}'`).join(" ");
    return `_arguments ${known} '*:file:${words.length > 0 ? `(${words.join(" ")})` : "_files"}'`;
  };
  const cases = topLevel(commands).map((own) => {
    const inner = commands.filter(({ path }) => path.startsWith(`${own.path} `));
    if (inner.length === 0) return `    ${own.path}) ${argumentsOf(own)} ;;`;
    const each = inner.map((one) => `        ${one.path.split(" ")[1]}) ${argumentsOf(one)} ;;`);
    return `    ${own.path})
      if (( CURRENT == 2 )); then
        commands=(${described(inner)})
        _describe command commands
        return
      fi
      shift words
      (( CURRENT-- ))
      case "$words[1]" in
${each.join("\n")}
      esac ;;`;
  });
  return `#compdef fedkm
# zsh completion of fedkm: put this file as _fedkm into a folder of $fpath
_fedkm() {
  local -a commands
  if (( CURRENT == 2 )); then
    commands=(${described(topLevel(commands))})
    _describe command commands
    return
  fi
  shift words
  (( CURRENT-- ))
  case "$words[1]" in
${cases.join("\n")}
  esac
}
_fedkm "$@"
`;
}

function fish(commands: readonly TypedCommand[]): string {
  const quote = (text: string) => text.replaceAll("'", "");
  const lines = commands.flatMap(({ path, about, flags, words }) => {
    const [outer, inner] = path.split(" ");
    const seen = `'__fish_seen_subcommand_from ${outer}${inner === undefined ? "" : `; and __fish_seen_subcommand_from ${inner}`}'`;
    const offered =
      inner === undefined ? [`complete -c fedkm -n __fish_use_subcommand -a ${outer} -d '${quote(about)}'`] : [];
    return [
      ...offered,
      ...words.map((word) => `complete -c fedkm -f -n ${seen} -a ${word}`),
      ...flags.map(({ name, about: text, takesValue, values }) => {
        const value = values.length > 0 ? ` -x -a '${quote(values.join(" "))}'` : " -r";
        return `complete -c fedkm -n ${seen} -l ${name.slice(2)}${takesValue ? value : ""} -d '${quote(text)}'`;
      }),
    ];
  });
  return `# fish completion of fedkm: put this file into ~/.config/fish/completions\n${lines.join("\n")}\n`;
}

function powershell(commands: readonly TypedCommand[]): string {
  const list = (words: readonly string[]) => `@(${words.map((word) => `'${word.replaceAll("'", "''")}'`).join(", ")})`;
  const tables = commands.map(({ path, flags, words }) => {
    const values = valued(flags).map(({ name, values: own }) => `'${name}' = ${list(own)}`);
    const flagList = list(flags.map(({ name }) => name));
    return `  '${path}' = @{ flags = ${flagList}; words = ${list(words)}; values = @{ ${values.join("; ")} } }`;
  });
  return `# PowerShell completion of fedkm: dot-source this file in $PROFILE
$fedkmCommands = @{
${tables.join("\n")}
}
Register-ArgumentCompleter -Native -CommandName fedkm -ScriptBlock {
  param($current, $line, $position)
  $typed = @($line.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
  if ($current -and $typed.Count -gt 0) { $typed = @($typed | Select-Object -SkipLast 1) }
  if ($typed.Count -eq 0) {
    $found = ${list(topLevel(commands).map(({ path }) => path))}
  } else {
    $key = $typed[0]
    if ($typed.Count -gt 1 -and $fedkmCommands.ContainsKey("$key $($typed[1])")) { $key = "$key $($typed[1])" }
    $command = $fedkmCommands[$key]
    if ($null -eq $command) { return }
    $before = $typed[-1]
    if ($command.values.ContainsKey($before)) { $found = $command.values[$before] }
    elseif ($current.StartsWith('-')) { $found = $command.flags }
    else { $found = $command.words }
  }
  $found | Where-Object { $_ -like "$current*" } | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
  }
}
`;
}
