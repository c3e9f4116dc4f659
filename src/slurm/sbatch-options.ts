/** Options of sbatch that a job brings along in the #SBATCH lines of its script. */
import { scriptOptions } from '../api/minik8s/v1/slurm-options.ts';

/** Those of a script that the client sets itself: they are overridden by its command line. */
const overridden: Readonly<Record<string, string>> = {
  chdir: 'D',
  comment: '',
  error: 'e',
  input: 'i',
  'open-mode': '',
  output: 'o',
  export: '',
};

/** One line for each #SBATCH line that the job may not have. */
export function directiveFaults(script: string): string[] {
  return directives(script).flatMap((line) => {
    const words = line.split(/\s+(?=-)/);
    return words.flatMap((word) => {
      const name = optionName(word.trim());
      if (name !== undefined && (Object.hasOwn(scriptOptions, name) || Object.hasOwn(overridden, name)))
        return [];
      return [`#SBATCH ${word.trim()}: not among the options that a job may set`];
    });
  });
}

/** What follows #SBATCH in the lines before the first command, as sbatch reads them: those of before its own options excepted. */
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

/** The long name of an option; undefined when the word is none. */
function optionName(word: string): string | undefined {
  const [, long] = /^--([a-z][a-z-]*)(?:[= ].*)?$/s.exec(word) ?? [];
  if (long !== undefined) return long;
  const [, letter] = /^-([A-Za-z])/.exec(word) ?? [];
  if (letter === undefined) return undefined;
  const known = [...Object.entries(scriptOptions), ...Object.entries(overridden)];
  return known.find(([, short]) => short === letter)?.[0] ?? letter;
}
