/** Creates an object that was made from flags, and prints it: the end of every `ctl create KIND`. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { goJson } from '../../apimachinery/go-json.ts';
import { lastAppliedAnnotation } from '../../apimachinery/last-applied.ts';
import { UsageError } from '../../base/usage-error.ts';
import { collectionPath } from '../../client/resource-path.ts';
import type { Cluster } from '../connection/cluster.ts';
import { givenNamespace } from '../connection/connection.ts';
import { dryRunFlag, dryRunOf, dryRunSuffix, type Flags, type FlagTable } from '../flags/flags.ts';
import { printFlags } from '../flags/output-flags.ts';
import {
  fieldManagerOf,
  fieldValidationOf,
  managerFlag,
  saveConfigFlag,
  validateFlag,
  writeQuery,
} from '../flags/write-options.ts';
import { findResource } from '../objects/discovery.ts';
import { recordAt } from '../objects/objects.ts';
import { madeFormat, qualifiedName, typedFormat } from '../printers/object-format.ts';
import type { VerbContext } from '../verb.ts';

/** Flags of every command that makes an object from flags. */
export const makingFlags = {
  ...dryRunFlag,
  ...printFlags,
  ...validateFlag,
  ...managerFlag,
  ...saveConfigFlag,
} as const satisfies FlagTable;

/** Returns the formats of what a command creates; one that creates several objects separates them. */
export const madeFormats = async ({ io, flags }: Pick<VerbContext, 'io' | 'flags'>) => ({
  format: await typedFormat({ io, flags }),
  formatMade: madeFormat(flags),
});

/**
 * Creates `made`, a new object of the type `resource`, and prints the result. A dry run by the client needs
 * no server. The object gets a namespace only if --namespace is given, as in kubectl.
 */
export async function writeMade(
  { io, flags, cluster: connect }: Pick<VerbContext, 'io' | 'flags' | 'cluster'>,
  made: JsonObject,
  { resource: type, clusterWide }: { readonly resource: string; readonly clusterWide?: true | undefined },
  done = 'created',
  formats = madeFormats({ io, flags }),
): Promise<void> {
  // An unknown format is an error before anything is created.
  const { format, formatMade } = await formats;
  const dryRun = dryRunOf(flags);
  const validation = fieldValidationOf(flags);
  const given = givenNamespace(flags);
  const object = withConfig(given && !clusterWide ? inNamespace(made, given) : made, flags.on('save-config'));
  const line = `${qualifiedName(object)} ${done}${dryRunSuffix[dryRun]}\n`;
  if (dryRun === 'client') return io.out(formatMade?.(object) ?? line);
  const cluster = connect();
  const path = await pathOf(cluster, type);
  const answer = await cluster.send(
    'POST',
    path + writeQuery(dryRun, validation, fieldManagerOf(flags)),
    object,
  );
  io.out(format?.(answer) ?? line);
}

async function pathOf(cluster: Cluster, type: string): Promise<string> {
  const resource = findResource(await cluster.resources(), type);
  return collectionPath(resource, resource.namespaced ? cluster.namespace : '');
}

/** Returns the object with its namespace behind its name, where Go's type has it. */
export function inNamespace(object: JsonObject, namespace: string): JsonObject {
  const { name, ...rest } = recordAt(object, 'metadata');
  return { ...object, metadata: { name, namespace, ...rest } };
}

/** Returns the object; with `saves`, its configuration is kept in an annotation. */
export function withConfig(object: JsonObject, saves: boolean): JsonObject {
  if (!saves) return object;
  const metadata = recordAt(object, 'metadata');
  const annotations = { ...recordAt(metadata, 'annotations') };
  annotations[lastAppliedAnnotation] = `${goJson(object)}\n`;
  return { ...object, metadata: { ...metadata, annotations } };
}

/** Throws UsageError unless one NAME is given; returns it and the command, which stands behind `--`. */
export function nameAndCommand(
  { words, behindDashes = [] }: Pick<Flags, 'words' | 'behindDashes'>,
  takesCommand: boolean,
): readonly [string, readonly string[]] {
  const names = takesCommand ? words.slice(0, words.length - behindDashes.length) : words;
  const [name] = names;
  if (!name || names.length > 1) throw new UsageError(`exactly one NAME is required, got ${names.length}`);
  return [name, behindDashes];
}
