/** The words of `ctl set env`: names of objects, then variables to set and to remove. Pure. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { UsageError } from '../../base/usage-error.ts';

/** A variable in the form of a container's `env`. */
export type Variable = JsonObject & { readonly name: string };

export interface EnvWords {
  /** Words that name objects. */
  readonly words: readonly string[];
  readonly variables: readonly Variable[];
  readonly remove: ReadonlySet<string>;
}

const isChange = (word: string) => /^.+=/s.test(word) || word.endsWith('-');

/** Returns true if variables have to be read from standard input: a word is `-`. */
export const readsStdin = (words: readonly string[], more: readonly string[]): boolean =>
  [...more, ...words].includes('-');

/**
 * Splits the words: `A=1` sets a variable, `A-` removes it, and `-` stands for the lines of `stdin`. `more`
 * are the values of --env. Throws UsageError.
 */
export function splitWords(all: readonly string[], more: readonly string[], stdin: string): EnvWords {
  const first = all.findIndex(isChange);
  const words = first < 0 ? all : all.slice(0, first);
  const changes = [...more, ...all.slice(words.length)];
  const late = changes.find((word) => !isChange(word));
  if (late !== undefined)
    throw new UsageError(`all resources must be specified before environment changes: ${late}`);
  // Beside TYPE/NAME, a word without a slash can only be meant as a variable.
  const bare = words.some((word) => word.includes('/')) && words.find((word) => nameForm.test(word));
  if (bare)
    throw new UsageError(
      `${JSON.stringify(bare)} changes no variable: write ${bare}=VALUE to set it, or ${bare}- to remove it`,
    );
  const typed = changes.filter((word) => word.includes('=')).map(checked);
  const remove = new Set(changes.filter((word) => !word.includes('=') && word !== '-').map(withoutMinus));
  if (typed.some(({ name }) => remove.has(name)))
    throw new UsageError('can not both modify and remove the same environment variable in the same command');
  const variables = changes.flatMap((word) => {
    if (word === '-') return variablesIn(stdin);
    return word.includes('=') ? [variableOf(word)] : [];
  });
  return { words, variables, remove };
}

const withoutMinus = (word: string) => word.slice(0, -1);

/** Returns the variable of a word. Throws UsageError for an impossible name. */
function checked(word: string): Variable {
  const variable = variableOf(word);
  if (nameForm.test(variable.name)) return variable;
  throw new UsageError(
    `${JSON.stringify(variable.name)} is not the name of a variable: ` +
      'use letters, digits, _, - and ., and no digit at the beginning',
  );
}

const nameForm = /^[-._a-zA-Z][-._a-zA-Z0-9]*$/;

function variableOf(word: string): Variable {
  const at = word.indexOf('=');
  return { name: word.slice(0, at), value: word.slice(at + 1) };
}

/** Returns the variables of lines such as `A=1 # a comment`; other lines are ignored. */
const variablesIn = (text: string): Variable[] =>
  text
    .split(/\r?\n/)
    .map((line) => line.replace(/#.*/s, ''))
    .filter((line) => line.includes('='))
    .map(variableOf);
