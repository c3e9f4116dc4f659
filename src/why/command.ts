/**
 * Commands that explanations name. Users paste them into a shell, and other users have written the texts in
 * them: each is one word of the shell, whatever it contains. Pure.
 */
import { shellWord } from '../base/shell-words.ts';

/** Part of a command whose words are quoted already. */
export class Words {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/**
 * Returns a command. Each value is quoted as one word of the shell or as a part of one; each value of a list
 * is a word.
 */
export function command(
  fixed: TemplateStringsArray,
  ...values: readonly (string | Words | readonly string[])[]
) {
  return String.raw({ raw: fixed }, ...values.map(inShell));
}

function inShell(value: string | Words | readonly string[]): string {
  if (value instanceof Words) return value.text;
  return typeof value === 'string' ? shellWord(value) : value.map(shellWord).join(' ');
}
