/**
 * `ctl create KIND NAME`: an object from flags. The files in `src/cli/create` build the objects of each kind.
 */
import { UsageError } from '../../base/usage-error.ts';
import { collectionPath } from '../../client/resource-path.ts';
import { bindingGenerators } from '../create/bindings.ts';
import type { Generator } from '../create/generator.ts';
import { limitGenerators } from '../create/limits.ts';
import { namespaceGenerators } from '../create/namespaces.ts';
import { roleGenerators } from '../create/roles.ts';
import { dryRunFlag, dryRunOf, dryRunSuffix, outputFlag } from '../flags/flags.ts';
import { fieldValidationOf, validateFlag, writeQuery } from '../flags/write-options.ts';
import { findResource, kindName } from '../objects/discovery.ts';
import { recordAt } from '../objects/objects.ts';
import { objectFormat, withoutManagedFields } from '../printers/object-format.ts';
import type { Verb } from '../verb.ts';

const createVerb = ({ about, resource: type, flags, make }: Generator): Verb => ({
  about,
  words: 'NAME',
  flags: { ...flags, ...dryRunFlag, ...outputFlag, ...validateFlag },
  async run({ io, flags: given, cluster: connected }) {
    const [name, ...more] = given.words;
    if (!name || more.length > 0)
      throw new UsageError(`exactly one NAME is required, got ${given.words.length}`);
    const format = objectFormat(given.text('output'));
    const dryRun = dryRunOf(given);
    const validation = fieldValidationOf(given);
    const cluster = connected();
    const resources = await cluster.resources();
    const warn = (text: string) => io.err(`Warning: ${text}\n`);
    const object = make({ name, flags: given, resources, warn });
    const resource = findResource(resources, type);
    const { namespace } = cluster;
    // The printed object has a namespace only if --namespace was given, like kubectl's.
    const metadata = {
      ...recordAt(object, 'metadata'),
      ...(resource.namespaced && cluster.namespaceGiven && { namespace }),
    };
    const path = collectionPath(resource, resource.namespaced ? namespace : '');
    const made =
      dryRun === 'client'
        ? { ...object, metadata }
        : await cluster.send('POST', path + writeQuery(dryRun, validation), object);
    const line = `${kindName(resource)}/${name} created${dryRunSuffix[dryRun]}\n`;
    io.out(format?.(withoutManagedFields(made)) ?? line);
  },
});

const generators: Readonly<Record<string, Generator>> = {
  ...roleGenerators,
  ...bindingGenerators,
  ...limitGenerators,
  ...namespaceGenerators,
};

/** Verbs by the word after `create`. */
export const createObject: Readonly<Record<string, Verb>> = Object.fromEntries(
  Object.entries(generators).map(([kind, generator]) => [kind, createVerb(generator)]),
);
