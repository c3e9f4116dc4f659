/** Commands that other programs give another name: `list` for `get`. */

/** Names of one meaning; a word may have several meanings. */
const meanings: readonly (readonly string[])[] = [
  ['get', 'ls', 'list', 'show'],
  ['describe', 'inspect', 'info', 'show'],
  ['delete', 'rm', 'remove', 'destroy'],
  ['create', 'add', 'new', 'load', 'import'],
  ['invoke', 'call', 'run', 'exec', 'fire', 'start', 'trigger'],
  ['stop', 'cancel', 'kill', 'abort'],
  ['update', 'edit', 'replace', 'deploy'],
  ['logs', 'log', 'output'],
];

/** Returns the first known command of the same meaning; undefined if there is none. */
export const sameMeaning = (word: string, known: readonly string[]): string | undefined =>
  meanings
    .filter((names) => names.includes(word))
    .flat()
    .find((name) => name !== word && known.includes(name));
