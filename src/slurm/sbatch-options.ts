/** Options of sbatch that a job may bring along, in `arguments` and in the #SBATCH lines of its script. */

/** Those that change nothing but where, when and with what the job runs. The letter is its short form. */
const allowed: Readonly<Record<string, string>> = {
  account: 'A',
  array: 'a',
  begin: 'b',
  'cluster-constraint': '',
  constraint: 'C',
  contiguous: '',
  'core-spec': 'S',
  'cores-per-socket': '',
  'cpu-freq': '',
  'cpus-per-gpu': '',
  'cpus-per-task': 'c',
  deadline: '',
  'delay-boot': '',
  dependency: 'd',
  distribution: 'm',
  exclude: 'x',
  exclusive: '',
  gpus: 'G',
  'gpu-bind': '',
  'gpu-freq': '',
  'gpus-per-node': '',
  'gpus-per-socket': '',
  'gpus-per-task': '',
  gres: '',
  'gres-flags': '',
  hint: '',
  'job-name': 'J',
  licenses: 'L',
  'mail-type': '',
  'mail-user': '',
  mem: '',
  'mem-bind': '',
  'mem-per-cpu': '',
  'mem-per-gpu': '',
  mincpus: '',
  network: '',
  nice: '',
  'no-requeue': '',
  nodelist: 'w',
  nodes: 'N',
  ntasks: 'n',
  'ntasks-per-core': '',
  'ntasks-per-gpu': '',
  'ntasks-per-node': '',
  'ntasks-per-socket': '',
  oversubscribe: 's',
  partition: 'p',
  prefer: '',
  priority: '',
  profile: '',
  propagate: '',
  qos: 'q',
  reservation: '',
  signal: '',
  'sockets-per-node': '',
  switches: '',
  'thread-spec': '',
  'threads-per-core': '',
  time: 't',
  'time-min': '',
  tmp: '',
  'use-min-nodes': '',
  wckey: '',
};

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

/** Why this word cannot be given to sbatch; undefined when it can. */
export function argumentFault(word: string): string | undefined {
  const name = optionName(word);
  if (name === undefined) return 'is no option: write --NAME or --NAME=VALUE';
  if (hasControls(word)) return 'holds a control character';
  if (name in overridden) return `--${name} is set by minik8s`;
  return name in allowed ? undefined : `--${name} is not among the options that a job may set`;
}

/** One line for each #SBATCH line that the job may not have. */
export function directiveFaults(script: string): string[] {
  return directives(script).flatMap((line) => {
    const words = line.split(/\s+(?=-)/);
    return words.flatMap((word) => {
      const name = optionName(word.trim());
      if (name !== undefined && (name in allowed || name in overridden)) return [];
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
  const known = [...Object.entries(allowed), ...Object.entries(overridden)];
  return known.find(([, short]) => short === letter)?.[0] ?? letter;
}

const hasControls = (text: string) => [...text].some((character) => character < ' ' || character === '\x7f');
