/** `ctl set env`: sets variables of containers, one by one or from the keys of a ConfigMap or Secret. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { UsageError } from '../../base/usage-error.ts';
import type { FlagTable } from '../flags/flags.ts';
import { printFlags } from '../flags/flags.ts';
import { changeFlags } from '../flags/write-options.ts';
import { findResource, kindName } from '../objects/discovery.ts';
import { targetPath } from '../objects/object-target.ts';
import { metadataOf, recordAt } from '../objects/objects.ts';
import { requireSelection, resolveObjects } from '../objects/targets.ts';
import { changeObjects } from '../set/change.ts';
import { containersOf, envLines, isMeant, podSpecOf, withEnv, withPodSpec } from '../set/pod-spec-plan.ts';
import type { Verb, VerbContext } from '../verb.ts';

const flagTable = {
  env: { type: 'string', short: 'e', hint: 'NAME=VALUE', about: 'a variable; may be repeated' },
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
  ...changeFlags,
  ...printFlags,
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
    const { flags } = context;
    const { words, variables, remove } = splitWords(flags.words, flags.texts('env'));
    const containers = flags.text('containers') ?? '*';
    if (flags.on('list')) return listEnv(context, words, containers);
    if (flags.given('keys') && !flags.given('from'))
      throw new UsageError('when specifying --keys, a configmap or secret must be provided with --from');
    requireSelection(flags, words);
    const referred = await fromSources(context);
    if (variables.length + referred.length + remove.size === 0)
      throw new UsageError('at least one environment variable must be provided');
    const prefix = flags.text('prefix') ?? '';
    const set = [...variables, ...referred].map((one) => ({ ...one, name: prefix + one.name }));
    const change = { set, remove, containers, overwrite: flags.on('overwrite') };
    await changeObjects(context, words, 'env', (object) => {
      const spec = podSpecOf(object);
      if (!containersOf(spec).some((container) => isMeant(container, containers)))
        context.io.err(
          `Warning: ${object.kind}/${metadataOf(object).name} does not have any containers matching ${JSON.stringify(containers)}\n`,
        );
      return withPodSpec(object, withEnv(spec, change));
    });
  },
};

/** A variable in the form of a container's `env`. */
type Variable = JsonObject & { readonly name: string };

/** Splits the words into names of objects and changes: `A=1` sets a variable, `A-` removes it. */
function splitWords(all: readonly string[], more: readonly string[]) {
  const isChange = (word: string) => /^.+=/s.test(word) || word.endsWith('-');
  const first = all.findIndex(isChange);
  const words = first < 0 ? all : all.slice(0, first);
  const variables: Variable[] = [];
  const remove = new Set<string>();
  for (const word of [...more, ...all.slice(words.length)]) {
    if (word === '-') throw new UsageError('variables from standard input: kubectl has it and ctl does not');
    if (!isChange(word))
      throw new UsageError(`all resources must be specified before environment changes: ${word}`);
    const at = word.indexOf('=');
    if (at < 0) remove.add(word.slice(0, -1));
    else variables.push({ name: word.slice(0, at), value: word.slice(at + 1) });
  }
  const both = variables.find(({ name }) => remove.has(name));
  if (both)
    throw new UsageError('can not both modify and remove the same environment variable in the same command');
  return { words, variables, remove };
}

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

async function listEnv(context: VerbContext, words: readonly string[], containers: string): Promise<void> {
  const { flags, io } = context;
  if (flags.given('output')) throw new UsageError('--list and --output may not be specified together');
  requireSelection(flags, words);
  for (const target of await resolveObjects(context, words)) {
    const object = await context.cluster().get(targetPath(target));
    io.out(
      envLines(object, containers)
        .map((line) => `${line}\n`)
        .join(''),
    );
  }
}
