/**
 * Command lines of other small systems, and the command lines that do the same here. They are looked up only
 * after a command has failed. Pure.
 */
import { shellWord } from '../base/shell-words.ts';
import { isKindWord } from './objects/kind-words.ts';

interface Line {
  /** All words, as they were typed. */
  readonly argv: readonly string[];
  readonly verb: string;
  /** Words that are neither flags nor their values. */
  readonly words: readonly string[];
  /** Value of -f. */
  readonly file: string | undefined;
  /** The other flags, as they were typed. */
  readonly flags: readonly string[];
}

/** Returns the command line to type instead; undefined for a line that is of no other system. */
export function otherForm(argv: readonly string[]): string | undefined {
  const line = lineOf(argv);
  for (const rule of [...(rulesOf[line.verb] ?? []), ...everyVerb]) {
    const words = rule(line);
    if (words !== undefined) return words;
  }
  return undefined;
}

const fileFlags: ReadonlySet<string> = new Set(['-f', '--filename']);
const valued: ReadonlySet<string> = new Set([
  '-k',
  '--kustomize',
  '-f',
  '--filename',
  '-n',
  '--namespace',
  '-o',
  '--output',
  '--image',
  '--replicas',
  '--max',
  '--min',
  '--port',
]);

function lineOf(argv: readonly string[]): Line {
  const words = argv.filter((word, index) => !word.startsWith('-') && !isValue(argv, index));
  const at = argv.findLastIndex((word) => fileFlags.has(word));
  const flags = argv.filter(
    (word, index) =>
      (word.startsWith('-') || isValue(argv, index)) && (at < 0 || (index !== at && index !== at + 1)),
  );
  const [verb = '', ...rest] = words;
  return { argv, verb, words: rest, file: at < 0 ? undefined : argv[at + 1], flags };
}

/** Returns true for the value of the flag before it. */
const isValue = (argv: readonly string[], index: number): boolean => valued.has(argv[index - 1] ?? '');

type Rule = (line: Line) => string | undefined;

const ctl = (...words: readonly string[]) => ['minik8s ctl', ...words.map(shellWord)].join(' ');
const isFile = (word: string | undefined): word is string =>
  word !== undefined && (/\.(ya?ml|json)$/i.test(word) || /^(\.{0,2}\/)/.test(word));
const converted = (file: string) => `${ctl('convert', '-f', file)} | ${ctl('apply', '-f', '-')}`;

/** `apply FILE`, `delete FILE`: the file needs -f. */
const bareFile: Rule = ({ verb, words: [file, ...more], flags }) =>
  isFile(file) && more.length === 0 ? ctl(verb, '-f', file, ...flags) : undefined;

/** `scale NAME --replicas=3`: the kind is missing, and usually is Deployment. */
const bareWorkload: Rule = ({ verb, words: [name = '', ...more], flags }) =>
  name !== '' && more.length === 0 && !name.includes('/') && !isKindWord(name)
    ? ctl(verb, 'deployment', name, ...flags)
    : undefined;

/** `get KIND NAMESPACE/NAME`. */
const namespacedName: Rule = ({ verb, words: [kind, name = '', ...more], flags }) => {
  const [, namespace, own] = /^([a-z0-9-]+)\/([a-z0-9.-]+)$/.exec(name) ?? [];
  // A word such as `pods/web` names an object already.
  if (kind === undefined || kind.includes('/') || more.length > 0) return undefined;
  if (namespace === undefined || own === undefined) return undefined;
  return ctl(verb, otherKinds[kind.toLowerCase()] ?? kind, own, '-n', namespace, ...flags);
};

/** Kinds of other systems, and the kinds that take their place. */
const otherKinds: Readonly<Record<string, string>> = {
  activity: 'functions',
  activities: 'functions',
  gpujob: 'slurmjobs',
  gpujobs: 'slurmjobs',
  statemachine: 'workflows',
  statemachines: 'workflows',
};

const otherKind: Rule = ({ verb, words: [kind = '', ...more], flags }) => {
  const own = otherKinds[kind.toLowerCase()];
  return own === undefined ? undefined : ctl(verb, own, ...more, ...flags);
};

const everyVerb: readonly Rule[] = [otherKind];

const columns =
  'custom-columns=POD:.metadata.name,CONTAINERS:.spec.containers[*].name,IMAGES:.spec.containers[*].image';

const serverless: Readonly<Record<string, Rule>> = {
  create: ({ file, words: [, name] }) =>
    file === undefined && !isFile(name)
      ? ctl('function', 'create', name ?? 'NAME', '--from', 'FOLDER')
      : converted(file ?? name ?? 'FILE'),
  delete: ({ words: [, name = 'NAME'] }) => ctl('delete', 'function', name),
  get: () => ctl('get', 'functions'),
  update: ({ words: [, name = 'NAME'] }) => ctl('update', 'function', name, '--from', 'FOLDER'),
  run: ({ words: [, name = 'NAME', ...input] }) => ctl('execute', name, JSON.stringify(input.join(' '))),
  workflow: ({ file, words: [, name] }) =>
    `${ctl('convert', '--workflow-lines', 'NAME', '-f', file ?? name ?? 'FILE')} | ${ctl('apply', '-f', '-')}`,
  event: () => ctl('trigger', 'create', '--help'),
};

const rulesOf: Readonly<Record<string, readonly Rule[]>> = {
  apply: [bareFile],
  create: [
    ({ words: [kind], file, flags }) =>
      kind !== undefined && file !== undefined ? ctl('create', '-f', file, ...flags) : undefined,
    ({ words: [kind = '', name], flags }) => {
      if (!/^pods?$/i.test(kind)) return undefined;
      const image = flags.some((flag) => flag.startsWith('--image')) ? [] : ['--image=IMAGE'];
      return ctl('run', name ?? 'NAME', ...flags, ...image);
    },
    bareFile,
  ],
  delete: [
    bareFile,
    namespacedName,
    ({ words: [namespace, kind, name, ...more] }) => {
      if (namespace === undefined || kind === undefined || name === undefined || more.length > 0)
        return undefined;
      // A line such as `pod web svc/web` names objects of this system.
      if ([namespace, kind, name].some((word) => word.includes('/'))) return undefined;
      return ctl('delete', kind.toLowerCase(), name, '-n', namespace);
    },
    ({ words: [name, ...more], file, flags }) =>
      name !== undefined &&
      more.length === 0 &&
      file === undefined &&
      flags.length === 0 &&
      !name.includes('/') &&
      !isKindWord(name)
        ? ctl('delete', 'pod', name)
        : undefined,
  ],
  describe: [namespacedName],
  get: [
    namespacedName,
    ({ words: [kind = '', name, ...more] }) =>
      /^job-?results?$/i.test(kind) && more.length === 0
        ? ctl('logs', `slurmjob/${name ?? 'NAME'}`)
        : undefined,
    ({ words: [kind = ''] }) => (/^containers?$/i.test(kind) ? ctl('get', 'pods', '-o', columns) : undefined),
  ],
  edit: [
    ({ words: [kind], file }) =>
      kind !== undefined && file !== undefined ? ctl('apply', '-f', file) : undefined,
  ],
  update: [
    ({ words: [way = ''], file }) =>
      file !== undefined && /^(soft|hard)$/i.test(way) ? converted(file) : undefined,
    ({ words, file }) => {
      const found = file ?? words.find(isFile);
      return found === undefined ? undefined : ctl('apply', '-f', found);
    },
    ({ words: [kind, name, ...more] }) =>
      kind !== undefined && !/^functions?$/i.test(kind) && name !== undefined && more.length === 0
        ? ctl('edit', kind, name)
        : undefined,
  ],
  execute: [
    ({ words: [name, ...input] }) =>
      name !== undefined && input.length > 1 ? ctl('execute', name, JSON.stringify(input)) : undefined,
  ],
  events: [
    ({ words: [object = '', ...more], flags }) =>
      /^[\w.]+\/[\w.-]+$/.test(object) && more.length === 0 && !flags.includes('--for')
        ? ctl('events', '--for', object, ...flags)
        : undefined,
  ],
  exec: [
    ({ argv: [, pod = '', ...command] }) =>
      [pod, ...command.slice(0, 1)].some((word) => word.startsWith('-')) ||
      command.length === 0 ||
      command.includes('--')
        ? undefined
        : ctl('exec', pod, '--', ...command),
  ],
  rollout: [
    ({ words: [command, name = '', ...more], flags }) =>
      command !== undefined && name !== '' && more.length === 0 && !name.includes('/') && !isKindWord(name)
        ? ctl('rollout', command, 'deployment', name, ...flags)
        : undefined,
  ],
  ...{ scale: [bareWorkload], autoscale: [bareWorkload], expose: [bareWorkload] },
  serverless: [(line) => serverless[line.words[0] ?? 'get']?.(line)],
};
