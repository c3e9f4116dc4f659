/** The targets of a command: objects by name, whole collections, or objects in manifests. */
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import { matches } from '../../apimachinery/labels.ts';
import { apiVersionOf } from '../../apimachinery/resource-definition.ts';
import { UsageError } from '../../base/usage-error.ts';
import { nearest } from '../../terminal/nearest.ts';
import type { Cluster } from '../connection/cluster.ts';
import { type Flags, namesManifests } from '../flags/flags.ts';
import { adviseToConvert } from '../manifests/convert-advice.ts';
import { kindMissing, type Manifest, type ManifestEntry, readManifests } from '../manifests/manifests.ts';
import type { VerbContext } from '../verb.ts';
import {
  type ApiResource,
  type ApiResources,
  findResource,
  inCategory,
  resourceOfKind,
  UnknownResourceError,
} from './discovery.ts';
import { notServedKind } from './kubernetes-kinds.ts';
import { selectorOf } from './label-selector.ts';
import { type CollectionTarget, listPath, type ObjectTarget, type Target } from './object-target.ts';
import { metadataOf, recordsAt } from './objects.ts';

/**
 * Reads words such as `pods`, `pods,svc`, `pod web api`, `pod/web deploy/api`, or -f. Errors in manifests are
 * reported.
 */
export async function resolveTargets(
  context: VerbContext,
  words: readonly string[] = context.flags.words,
): Promise<Target[]> {
  const { flags } = context;
  const cluster = context.cluster();
  if (namesManifests(flags)) {
    if (words.length > 0)
      throw new UsageError('-f says which objects: leave out the resource type and names');
    return Array.fromAsync(manifestTargets(context, cluster));
  }
  try {
    return wordTargets(flags, words, cluster, await cluster.resources());
  } catch (error) {
    // The resource may be newer than the list of resources that an earlier command has cached.
    if (!(error instanceof UnknownResourceError)) throw error;
    return wordTargets(flags, words, cluster, await cluster.resources({ fresh: true }));
  }
}

/** Like resolveTargets, with collections replaced by their current objects. */
export async function resolveObjects(
  context: VerbContext,
  words: readonly string[] = context.flags.words,
): Promise<ObjectTarget[]> {
  const objects: ObjectTarget[] = [];
  for (const target of await resolveTargets(context, words))
    objects.push(...(target.name === undefined ? await membersOf(context.cluster(), target) : [target]));
  return objects;
}

async function membersOf(cluster: Cluster, target: CollectionTarget): Promise<ObjectTarget[]> {
  const list = await cluster.get(listPath(target));
  return recordsAt(list, 'items').map((item) => {
    const { name, namespace } = metadataOf(item);
    return { resource: target.resource, namespace, name };
  });
}

/** Rejects a type without names: all objects of a type require --all. */
export function requireSelection(flags: Flags, words: readonly string[] = flags.words): void {
  requireType(flags, words);
  const named = namesManifests(flags) || words.length > 1 || words[0]?.includes('/');
  if (!named && !flags.on('all') && !flags.given('selector') && !flags.given('field-selector'))
    throw new UsageError(
      'resource(s) were provided, but no name was specified: name them, or use -l or --all',
    );
}

/** Throws UsageError if the command line has neither words nor manifests. A type alone is enough. */
export function requireType(flags: Flags, words: readonly string[] = flags.words): void {
  if (words.length === 0 && !namesManifests(flags))
    throw new UsageError('say which objects: TYPE NAME, TYPE/NAME, or -f FILE');
}

function wordTargets(flags: Flags, words: readonly string[], cluster: Cluster, all: ApiResources): Target[] {
  const [first, ...names] = words;
  if (first === undefined)
    throw new UsageError('say which resource: a type such as pods, TYPE NAME, TYPE/NAME, or -f FILE');
  const everywhere = flags.on('all-namespaces');
  const namespaceOf = ({ namespaced }: ApiResource) => (namespaced && !everywhere ? cluster.namespace : '');
  const selected = flags.given('selector') || flags.given('field-selector') || flags.on('all');
  const object = (resource: ApiResource, name: string): ObjectTarget => {
    if (selected) throw new UsageError('a name cannot be combined with a selector or --all');
    if (everywhere && resource.namespaced)
      throw new UsageError('a resource cannot be retrieved by name across all namespaces');
    return { resource, namespace: resource.namespaced ? cluster.namespace : '', name };
  };
  if (words.some((word) => word.includes('/'))) {
    return words.map((word) => {
      const [type = '', name = '', ...more] = word.split('/');
      if (!type || !name || more.length > 0)
        throw new UsageError(
          `arguments in resource/name form must be TYPE/NAME each, not ${JSON.stringify(word)}`,
        );
      return object(findResource(all, type), name);
    });
  }
  const types = first.split(',');
  const resources = [...new Set(types.flatMap((word) => expand(all, word)))];
  const several = types.find((word) => inCategory(all, word.toLowerCase()).length > 0);
  if (names.length > 0 && several !== undefined)
    throw new UsageError(
      `you must specify only one resource: ${several} stands for several, so a name needs its own type`,
    );
  if (names.length > 0) return resources.flatMap((resource) => names.map((name) => object(resource, name)));
  return resources.map((resource) => ({
    resource,
    namespace: namespaceOf(resource),
    labelSelector: flags.text('selector'),
    fieldSelector: flags.text('field-selector'),
  }));
}

function expand(all: ApiResources, word: string): ApiResources {
  const category = inCategory(all, word.toLowerCase());
  return category.length > 0 ? category : [findResource(all, word)];
}

/**
 * Yields the objects in manifests. A manifest that is unreadable or of an unknown kind is skipped, and
 * reported after the caller is done with the objects before it, as kubectl does. With `verb`, it is an error
 * if the files contain no object.
 */
export async function* manifestTargets(
  context: VerbContext,
  cluster: Cluster,
  verb?: 'apply' | 'create' | 'replace',
): AsyncGenerator<ManifestTarget> {
  const read = await readManifests(context.io, context.flags, { kindless: verb !== undefined });
  const entries = selected(read, context.flags.text('selector'));
  if (verb && entries.length === 0)
    throw new Error(`no objects passed to ${verb}${whyNone(context.flags, read.length)}`);
  const all = await resourcesFor(entries, cluster);
  for (const entry of entries) {
    if ('error' in entry) {
      context.report(entry.error);
      continue;
    }
    const target = reportedTarget(context, entry, cluster, all);
    if (target) yield target;
    else if (verb) await adviseToConvert(context, entry);
  }
}

/**
 * Returns the reason why the files contain no object to process; `read` is the number of objects before -l
 * selected among them.
 */
function whyNone(flags: Flags, read: number): string {
  const files = flags.texts('filename').map((file) => (file === '-' ? 'STDIN' : file));
  if (files.length === 0) return '';
  const named = files.join(', ');
  if (read > 0) return `: no object in ${named} has the labels of -l ${flags.text('selector')}`;
  return `: ${named} ${files.length === 1 ? 'is' : 'are'} empty, or has only comments`;
}

/** Returns the entries whose labels match, and all errors. Throws UsageError for an invalid selector. */
function selected(entries: readonly ManifestEntry[], text: string | undefined): readonly ManifestEntry[] {
  if (!text) return entries;
  const selector = selectorOf(text);
  return entries.filter((entry) => 'error' in entry || matches(selector, metadataOf(entry.object).labels));
}

/**
 * Resolves to the server's resources; asks the server again if a kind of the manifests is not among the
 * cached ones.
 */
async function resourcesFor(
  entries: readonly (Manifest | { readonly error: unknown })[],
  cluster: Cluster,
): Promise<ApiResources> {
  const all = await cluster.resources();
  const isKnown = (entry: Manifest | { readonly error: unknown }) => {
    if ('error' in entry) return true;
    const { apiVersion, kind } = entry.object;
    return resourceOfKind(all, String(apiVersion), String(kind)) !== undefined;
  };
  return entries.every(isKnown) ? all : cluster.resources({ fresh: true });
}

/** Returns the target of a manifest; reports the error and returns undefined if it has none. */
function reportedTarget(
  { report }: VerbContext,
  manifest: Manifest,
  cluster: Cluster,
  all: ApiResources,
): ManifestTarget | undefined {
  try {
    return manifestTarget(manifest, cluster, all);
  } catch (error) {
    report(error);
    return undefined;
  }
}

export interface ManifestTarget extends ObjectTarget {
  readonly manifest: Manifest;
  /** The manifest's object with its namespace filled in. */
  readonly object: JsonObject;
  /** Set if the server chooses the name. */
  readonly generateName: string;
}

function manifestTarget(manifest: Manifest, cluster: Cluster, all: ApiResources): ManifestTarget {
  const { apiVersion, kind, file, line } = manifest;
  const where = `${file}:${line}`;
  if (kind === '') throw new Error(kindMissing(where));
  const resource = resourceOfKind(all, apiVersion, kind);
  if (!resource) throw new Error(`${where}: ${unknownKind(all, apiVersion, kind)}`);
  const metadata = isRecord(manifest.object.metadata) ? manifest.object.metadata : {};
  const name = textField(metadata.name, `${where}: metadata.name`);
  const generateName = textField(metadata.generateName, `${where}: metadata.generateName`);
  if (!name && !generateName) throw new Error(`${where}: metadata.name is missing: the ${kind} needs a name`);
  const own = textField(metadata.namespace, `${where}: metadata.namespace`);
  if (resource.namespaced && own && cluster.namespaceGiven && own !== cluster.namespace)
    throw new Error(
      `${where}: the namespace from the provided object "${own}" does not match the namespace ` +
        `"${cluster.namespace}". You must pass '--namespace=${own}' to perform this operation.`,
    );
  const namespace = resource.namespaced ? own || cluster.namespace : '';
  const object = namespace
    ? { ...manifest.object, metadata: { ...metadata, namespace } }
    : { ...manifest.object, metadata };
  return { resource, namespace, name, generateName, manifest, object };
}

/** Returns the message for an unknown kind, with similar kinds. */
function unknownKind(all: ApiResources, apiVersion: string, kind: string): string {
  const servedAs = (name: string) => all.filter((other) => other.kind === name).map(apiVersionOf);
  const here = servedAs(kind);
  const elsewhere = here.length === 0 ? notServedKind(apiVersion, kind) : undefined;
  if (elsewhere !== undefined) return elsewhere;
  const meant = nearest(
    kind,
    all.map((other) => other.kind),
  ).map((name) => `${name} (${servedAs(name).join(', ')})`);
  const hint = meant.length > 0 ? `; did you mean ${meant.join(' or ')}?` : undefined;
  if (apiVersion === '') {
    if (here.length > 0) return `apiVersion is missing: write apiVersion: ${here.join(' or ')} for a ${kind}`;
    return `apiVersion is missing${hint ?? `: the ${kind} needs one, such as v1 or apps/v1`}`;
  }
  if (here.length > 0)
    return `the server has no kind ${kind} in ${apiVersion}; ${kind} is served as ${here.join(', ')}`;
  return `the server has no kind ${kind} in ${apiVersion}${hint ?? '; see minik8s ctl api-resources for what it serves'}`;
}

function textField(value: unknown, where: string): string {
  if (value === undefined || value === null) return '';
  if (typeof value !== 'string')
    throw new Error(`${where}: expected text, got ${JSON.stringify(value)}: quote it`);
  return value;
}
