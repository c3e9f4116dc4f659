/** Variables in texts of a pod. A short text can stand for one that no memory holds, so what comes of it has bounds. */
import { ContainerConfigError } from './container-config-error.ts';

/** Linux gives a program no longer text: with its end it has to fit into 32 pages. */
const longestText = 131_071;
/** Nor longer ones together, its arguments and its environment. Characters, which have a byte at least. */
const longestTogether = 6 * 1024 * 1024;

type LookUp = (name: string) => string | undefined;

/**
 * `$(NAME)` becomes the variable, `$$` a dollar; what is not a variable stays (third_party/forked/golang/expansion). Throws
 * ContainerConfigError for what no program could be given.
 */
export function expand(text: string, lookUp: LookUp): string {
  let inserted = 0;
  const value = (whole: string, name: string | undefined) => {
    const found = name === undefined ? '$' : (lookUp(name) ?? whole);
    inserted += found.length;
    if (inserted > longestText) throw tooLong(`a text with its variables has more than ${longestText} bytes`);
    return found;
  };
  // Behind the last parenthesis nothing is closed: each opening one would be looked for to the end.
  const end = text.lastIndexOf(')') + 1;
  const [head, tail] = [text.slice(0, end), text.slice(end)];
  return `${head.replaceAll(/\$(?:\$|\(([^)]*)\))/g, value)}${tail.replaceAll('$$', () => '$')}`;
}

/** Each of a command's words. Throws ContainerConfigError, as `expand`, and for what is too much together. */
export function expandEach(words: readonly string[], lookUp: LookUp): readonly string[] {
  const room = new Room();
  return words.map((word) => {
    const expanded = expand(word, lookUp);
    room.take(expanded.length);
    return expanded;
  });
}

/** For all that a program is given. */
export class Room {
  #left = longestTogether;

  /** Throws ContainerConfigError when there is no room; a number below zero gives some back. */
  take(length: number): void {
    this.#left -= length;
    if (this.#left < 0) throw tooLong(`there are more than ${longestTogether} bytes of them`);
  }
}

const tooLong = (why: string) => new ContainerConfigError(`arguments or variables are too long: ${why}`);
