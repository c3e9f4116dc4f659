/** `ctl kustomize`: prints the objects of a kustomization. */
import { UsageError } from '../../base/usage-error.ts';
import type { Flags, FlagTable } from '../flags/flags.ts';
import type { BuildRequest } from '../kustomize/build-plan.ts';
import { buildKustomization } from '../kustomize/program.ts';
import type { Verb } from '../verb.ts';

const restrictors = ['LoadRestrictionsRootOnly', 'LoadRestrictionsNone'] as const;
const orders = ['legacy', 'none'] as const;

const flagTable = {
  output: {
    type: 'string',
    short: 'o',
    hint: 'PATH',
    about: 'file to write to, or existing directory that gets a file for each object',
    usual: 'standard output',
  },
  'load-restrictor': {
    type: 'string',
    hint: restrictors.join('|'),
    about: 'whether a kustomization may load files from outside its directory',
    usual: restrictors[0],
    values: restrictors,
  },
  reorder: {
    type: 'string',
    hint: orders.join('|'),
    about: 'order of the objects (deprecated: use sortOptions in kustomization.yaml)',
    usual: 'as the kustomization says',
    values: orders,
  },
  'enable-managedby-label': {
    type: 'boolean',
    about: 'label each object with app.kubernetes.io/managed-by (deprecated: use buildMetadata)',
  },
} as const satisfies FlagTable;

export const kustomize: Verb = {
  about: 'print the objects of a kustomization: of a directory, or of a git repository',
  group: 'Advanced Commands',
  words: 'DIR',
  flags: flagTable,
  examples: [
    'ctl kustomize overlays/production # print the objects of a directory',
    'ctl kustomize overlays/production -o built.yaml # write them to a file',
  ],
  async run({ io, flags }) {
    for (const warning of deprecations(flags)) io.err(warning);
    const text = await buildKustomization(io, requestOf(flags), flags.text('cache-dir'));
    io.out(text);
  },
};

/** Returns the request. Throws UsageError, in kubectl's words, for a wrong command line. */
function requestOf(flags: Flags): BuildRequest {
  if (flags.words.length > 1) throw new UsageError('specify one path to kustomization.yaml');
  const restrictor = choice(flags, 'load-restrictor', restrictors);
  const reorder = choice(flags, 'reorder', orders);
  return {
    directory: flags.words[0] ?? '.',
    loadsOutside: restrictor === 'LoadRestrictionsNone',
    order: reorder === 'none' ? 'given' : reorder,
    managedBy: flags.on('enable-managedby-label'),
    output: flags.text('output') || undefined,
  };
}

function choice<T extends string>(flags: Flags, name: string, values: readonly T[]): T | undefined {
  const text = flags.text(name);
  const found = values.find((value) => value === text);
  if (text !== undefined && found === undefined)
    throw new UsageError(`illegal flag value --${name} ${text}; legal values: [${values.join(' ')}]`);
  return found;
}

/** Returns kubectl's lines about deprecated flags that were given. */
const deprecations = (flags: Flags): string[] =>
  Object.entries({
    reorder: "use the new 'sortOptions' field in kustomization.yaml instead.",
    'enable-managedby-label':
      'The flag `enable-managedby-label` has been deprecated. ' +
      'Use the `managedByLabel` option in the `buildMetadata` field instead.',
  }).flatMap(([name, advice]) =>
    flags.given(name) ? [`Flag --${name} has been deprecated, ${advice}\n`] : [],
  );
