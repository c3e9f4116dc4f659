/** `ctl set env`: sets variables of containers, one by one or from the keys of a ConfigMap or Secret. */
import { UsageError } from '../../base/usage-error.ts';
import type { Flags, FlagTable } from '../flags/flags.ts';
import { printFlags } from '../flags/output-flags.ts';
import { changeFlags } from '../flags/write-options.ts';
import { localFlag, requireLocal } from '../local/local-objects.ts';
import { findResource, kindName } from '../objects/discovery.ts';
import { targetPath } from '../objects/object-target.ts';
import { metadataOf, recordAt } from '../objects/objects.ts';
import { requireSelection } from '../objects/targets.ts';
import { changedObjects, changeObjects, type ObjectChange, onlyFiles } from '../set/change.ts';
import { listEnv } from '../set/env-list.ts';
import { readsStdin, splitWords, type Variable } from '../set/env-words.ts';
import {
  containersOf,
  type EnvChange,
  isMeant,
  podSpecOf,
  withEnv,
  withPodSpec,
} from '../set/pod-spec-plan.ts';
import type { Verb, VerbContext } from '../verb.ts';

const flagTable = {
  env: {
    type: 'string',
    short: 'e',
    hint: 'NAME=VALUE',
    about: 'a variable, or - for lines of standard input; may be repeated',
  },
  from: { type: 'string', hint: 'TYPE/NAME', about: 'a variable for each key of a ConfigMap or Secret' },
  keys: { type: 'string', hint: 'KEYS', about: 'with --from: keys to import, comma-separated' },
  prefix: { type: 'string', hint: 'TEXT', about: 'prefix of each variable name' },
  containers: {
    type: 'string',
    short: 'c',
    hint: 'NAME',
    about: 'containers to change; * matches any characters',
    usual: '*',
  },
  overwrite: { type: 'boolean', on: true, about: 'also change a variable that is already set' },
  list: { type: 'boolean', about: 'print the variables and change nothing' },
  resolve: { type: 'boolean', about: 'with --list: print the values that ConfigMaps and Secrets have' },
  ...changeFlags,
  ...printFlags,
  ...localFlag,
} as const satisfies FlagTable;

export const setEnv: Verb = {
  about: 'set or remove environment variables of containers',
  words: ['TYPE NAME KEY=VALUE... KEY-...', 'TYPE/NAME KEY=VALUE... KEY-...', '-f FILE KEY=VALUE...'],
  flags: flagTable,
  examples: [
    'ctl set env deployment/web COLOR=blue OLD- # set a variable, and remove another',
    'ctl set env deployment/web --from=configmap/settings # take variables from a ConfigMap',
    'ctl set env deployment/web --list # print the variables',
  ],
  async run(context) {
    const { flags, io } = context;
    const more = flags.texts('env');
    const stdin = readsStdin(flags.words, more) ? await io.readStdin() : '';
    const { words, variables, remove } = splitWords(flags.words, more, stdin);
    requireFitting(flags);
    if (flags.on('local')) requireLocal(flags, words, onlyFiles);
    else requireSelection(flags, words);
    const prefix = flags.text('prefix') ?? '';
    const named = [...variables, ...(await fromSources(context))];
    const set = named.map((one) => ({ ...one, name: prefix + one.name }));
    const containers = flags.text('containers') ?? '*';
    const change = changeOf(context, { set, remove, containers, overwrite: flags.on('overwrite') });
    if (flags.on('list')) {
      const options = { containers, resolve: flags.on('resolve') };
      return listEnv(context, changedObjects(context, words, change), options);
    }
    let failed = false;
    const report = (error: unknown) => {
      failed = true;
      context.report(error);
    };
    await changeObjects({ ...context, report }, words, 'env', change);
    // kubectl changes nothing then, and succeeds; a script may have no variables to set.
    if (set.length + remove.size === 0 && !failed)
      io.err('Note: no variable is given, so nothing is changed: write NAME=VALUE, or NAME- to remove one\n');
  },
};

/** Throws UsageError for flags that exclude or need one another. */
function requireFitting(flags: Flags): void {
  if (flags.on('list') && flags.given('output'))
    throw new UsageError('--list and --output may not be specified together');
  if (flags.given('keys') && !flags.given('from'))
    throw new UsageError('when specifying --keys, a configmap or secret must be provided with --from');
  if (flags.on('resolve') && !flags.on('list'))
    throw new UsageError('--resolve prints values: it needs --list');
  if (flags.on('local') && flags.given('from'))
    throw new UsageError('unsupported resource specified in --from: --local reads nothing from the server');
}

const changeOf =
  ({ io }: VerbContext, env: EnvChange): ObjectChange =>
  (object) => {
    const spec = podSpecOf(object);
    if (!containersOf(spec).some((container) => isMeant(container, env.containers)))
      io.err(
        `Warning: ${object.kind}/${metadataOf(object).name} does not have any containers matching ${JSON.stringify(env.containers)}\n`,
      );
    return withPodSpec(object, withEnv(spec, env));
  };

async function fromSources(context: VerbContext): Promise<Variable[]> {
  const { flags } = context;
  const from = flags.text('from');
  if (from === undefined) return [];
  const keys = flags.texts('keys').flatMap((text) => text.split(','));
  const variables: Variable[] = [];
  const [type = '', source = '', ...more] = from.split('/');
  if (!type || !source || more.length > 0)
    throw new UsageError(`--from takes configmap/NAME or secret/NAME, not ${JSON.stringify(from)}`);
  const cluster = context.cluster();
  const resource = findResource(await cluster.resources(), type);
  const field = { configmap: 'configMapKeyRef', secret: 'secretKeyRef' }[kindName(resource)];
  if (field === undefined) throw new Error('unsupported resource specified in --from');
  const object = await cluster.get(targetPath({ resource, namespace: cluster.namespace, name: source }));
  for (const key of Object.keys(recordAt(object, 'data')).sort()) {
    if (keys.length > 0 && !keys.includes(key)) continue;
    const name = key.replaceAll(/[^a-zA-Z0-9_]/g, '_').toUpperCase();
    if (name !== key) context.io.err(`Warning: key ${key} transferred to ${name}\n`);
    variables.push({ name, valueFrom: { [field]: { name: source, key } } });
  }
  return variables;
}
