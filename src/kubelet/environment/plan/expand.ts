/**
 * Expands variables in a pod's texts. A short text can expand to one that does not fit into memory, so the
 * result is limited.
 */
import { ContainerConfigError } from './container-config-error.ts';

/** Maximum length of one text: Linux requires that it fits, with its terminating zero, into 32 pages. */
const maxTextLength = 131_071;
/**
 * Maximum length of all texts together, arguments and environment. Counted in characters, which have at least
 * one byte.
 */
const maxTogetherLength = 6 * 1024 * 1024;

type LookUp = (name: string) => string | undefined;

/**
 * Expands `$(NAME)` to the variable and `$$` to a dollar; anything else stays
 * (third_party/forked/golang/expansion). Throws ContainerConfigError for a result that is too long for a
 * program.
 */
export function expand(text: string, lookUp: LookUp): string {
  let inserted = 0;
  const value = (whole: string, name: string | undefined) => {
    const found = name === undefined ? '$' : (lookUp(name) ?? whole);
    inserted += found.length;
    if (inserted > maxTextLength)
      throw tooLong(`a text with its variables has more than ${maxTextLength} bytes`);
    return found;
  };
  // No variable is closed after the last parenthesis. Without this bound, the search from each opening
  // parenthesis would run to the end of the text.
  const end = text.lastIndexOf(')') + 1;
  const [head, tail] = [text.slice(0, end), text.slice(end)];
  return `${head.replaceAll(/\$(?:\$|\(([^)]*)\))/g, value)}${tail.replaceAll('$$', () => '$')}`;
}

/**
 * Expands each word of a command. Throws ContainerConfigError as `expand`, and when the words are too long
 * together.
 */
export function expandEach(words: readonly string[], lookUp: LookUp): readonly string[] {
  const room = new Room();
  return words.map((word) => {
    const expanded = expand(word, lookUp);
    room.take(expanded.length);
    return expanded;
  });
}

/** The remaining length for a program's arguments and environment. */
export class Room {
  #left = maxTogetherLength;

  /** Takes room; a negative number gives some back. Throws ContainerConfigError when there is not enough. */
  take(length: number): void {
    this.#left -= length;
    if (this.#left < 0) throw tooLong(`there are more than ${maxTogetherLength} bytes of them`);
  }
}

const tooLong = (why: string) => new ContainerConfigError(`arguments or variables are too long: ${why}`);
