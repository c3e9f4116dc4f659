/**
 * `ctl create KIND NAME`: an object from flags. The files in `src/cli/create` build the objects of each kind.
 */
import { randomName } from '../../base/random.ts';
import { bindingGenerators } from '../create/bindings.ts';
import { configMapGenerators } from '../create/config-maps.ts';
import type { Generator } from '../create/generator.ts';
import { ingressGenerators } from '../create/ingresses.ts';
import { limitGenerators } from '../create/limits.ts';
import { namespaceGenerators } from '../create/namespaces.ts';
import { roleGenerators } from '../create/roles.ts';
import { secretGenerators } from '../create/secrets.ts';
import { serviceGenerators } from '../create/services.ts';
import { sourceFiles } from '../create/source-files.ts';
import { workloadGenerators } from '../create/workloads.ts';
import { makingFlags, nameAndCommand, writeMade } from '../create/write-made.ts';
import type { Verb, VerbGroup } from '../verb.ts';

const createVerb = (generator: Generator): Verb => ({
  about: generator.about,
  words: ['NAME', generator.usage].filter(Boolean).join(' '),
  flags: { ...makingFlags, ...generator.flags },
  ...(generator.examples && { examples: generator.examples.map((words) => `ctl create ${words}`) }),
  async run(context) {
    const { io, flags } = context;
    const [name, command] = nameAndCommand(flags, generator.takesCommand === true);
    const made = generator.make({
      name,
      flags,
      command,
      resources: generator.needsResources ? await context.cluster().resources() : [],
      files: sourceFiles,
      env: io.env,
      suffix: () => randomName(io.random, 5),
      warn: (text) => io.err(`Warning: ${text}\n`),
    });
    await writeMade(context, made, generator);
  },
});

/** Returns the verb of each kind; a generator under several names is one verb. */
function verbsOf(generators: Readonly<Record<string, Generator>>): Readonly<Record<string, Verb>> {
  const made = new Map(Object.values(generators).map((generator) => [generator, createVerb(generator)]));
  return Object.fromEntries(
    Object.entries(generators).map(([kind, generator]) => [
      kind,
      made.get(generator) ?? createVerb(generator),
    ]),
  );
}

const secret: VerbGroup = {
  about: 'create a Secret of a type',
  examples: ['ctl create secret generic login --from-literal=user=ann # create one from values'],
  verbs: verbsOf(secretGenerators),
};
const service: VerbGroup = {
  about: 'create a Service of a type',
  examples: ['ctl create service clusterip web --tcp=80:8080 # create one with an address in the cluster'],
  verbs: verbsOf(serviceGenerators),
};

/** Verbs by the word after `create`. */
export const createObject: Readonly<Record<string, Verb | VerbGroup>> = {
  ...verbsOf({
    ...namespaceGenerators,
    ...configMapGenerators,
    ...workloadGenerators,
    ...ingressGenerators,
    ...roleGenerators,
    ...bindingGenerators,
    ...limitGenerators,
  }),
  secret,
  service,
  svc: service,
};
