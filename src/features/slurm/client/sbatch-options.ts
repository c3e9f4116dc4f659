/** Options of sbatch that are allowed in the #SBATCH lines of a job's script. */
import { scriptOptions } from '../api/slurm-options.ts';

/** Options in a script that the client sets itself; its command line overrides them. */
const overridden: Readonly<Record<string, string>> = {
  chdir: 'D',
  comment: '',
  error: 'e',
  input: 'i',
  'open-mode': '',
  output: 'o',
  export: '',
};

/** Returns one message for each #SBATCH line that is not allowed. */
export function directiveFaults(script: string): string[] {
  return directives(script).flatMap((line) => {
    const words = line.split(/\s+(?=-)/);
    return words.flatMap((word) => {
      const name = optionName(word);
      if (name !== undefined && (Object.hasOwn(scriptOptions, name) || Object.hasOwn(overridden, name)))
        return [];
      return [`#SBATCH ${word}: not among the options that a job may set`];
    });
  });
}

/**
 * Returns the text after #SBATCH in the lines before the first command. The program sbatch reads them in the
 * same way, except that the options of its command line take precedence.
 */
export function directives(script: string): string[] {
  const found: string[] = [];
  for (const line of script.split(/\r?\n/)) {
    const text = line.trim();
    const [, option] = /^#SBATCH\s+([^#]*)/.exec(text) ?? [];
    if (option !== undefined) found.push(option.trim());
    else if (text !== '' && !text.startsWith('#')) break;
  }
  return found;
}

/** Returns the long name of an option, or undefined if the word is not an option or is an unknown letter. */
function optionName(word: string): string | undefined {
  const [, long] = /^--([a-z][a-z-]*)(?:[= ].*)?$/s.exec(word) ?? [];
  if (long !== undefined) return long;
  const [, letter] = /^-([A-Za-z])/.exec(word) ?? [];
  if (letter === undefined) return undefined;
  const known = [...Object.entries(scriptOptions), ...Object.entries(overridden)];
  return known.find(([, short]) => short === letter)?.[0];
}
