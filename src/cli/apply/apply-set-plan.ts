/**
 * Apply sets (KEP 3659): a parent object, by its labels and annotations, names the kinds and namespaces of
 * the objects that were applied together, and a label on each member names its set. The names are those of
 * kubectl 1.32: both tools can apply the same set alternately. Pure.
 */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { apiVersionOf } from '../../apimachinery/resource-definition.ts';
import { sha256 } from '../../base/sha256.ts';
import { UsageError } from '../../base/usage-error.ts';
import { type ApiResource, type ApiResources, findResource, preferred } from '../objects/discovery.ts';
import { metadataOf, recordAt } from '../objects/objects.ts';

const tooling = 'applyset.kubernetes.io/tooling';
const namespacesAnnotation = 'applyset.kubernetes.io/additional-namespaces';
const kindsAnnotation = 'applyset.kubernetes.io/contains-group-kinds';
const resourcesAnnotation = 'applyset.kubernetes.io/contains-group-resources';
const idLabel = 'applyset.kubernetes.io/id';
const memberLabel = 'applyset.kubernetes.io/part-of';
/** Label of a CustomResourceDefinition whose objects may be parents. */
export const parentTypeLabel = 'applyset.kubernetes.io/is-parent-type';

/** Name of the tool that owns a set: kubectl's name, since the set has kubectl's format. */
const tool = 'kubectl';
const toolVersion = 'v1.32.0';
export const applySetManager = `${tool}-applyset`;

export interface ApplySetParent {
  readonly resource: ApiResource;
  readonly namespace: string;
  readonly name: string;
}

/**
 * Reads `[RESOURCE[.GROUP]/]NAME`; without RESOURCE, the parent is a Secret. Throws UsageError without a
 * name.
 */
export function parentOf(all: ApiResources, text: string, namespace: string | undefined): ApplySetParent {
  const slash = text.indexOf('/');
  const name = text.slice(slash + 1);
  if (name === '')
    throw new UsageError(`invalid parent reference ${JSON.stringify(text)}: name cannot be blank`);
  const resource = findResource(all, slash < 0 ? 'secrets' : text.slice(0, slash));
  if (!resource.namespaced) return { resource, namespace: '', name };
  if (!namespace)
    throw new UsageError('namespace is required to use namespace-scoped ApplySet: give --namespace');
  return { resource, namespace, name };
}

/** Returns true if objects of the kind may be parents without a label on their definition. */
export const isUsualParent = ({ group, plural }: ApiResource): boolean =>
  group === '' && (plural === 'secrets' || plural === 'configmaps');

/** Returns the identity of a set: the digest of the name, namespace, kind and group of its parent. */
export function applySetId({ name, namespace, resource }: ApplySetParent): string {
  const digest = sha256([name, namespace, resource.kind, resource.group].join('.'));
  return `applyset-${Buffer.from(digest, 'hex').toString('base64url')}-v1`;
}

export const memberSelector = (parent: ApplySetParent): string => `${memberLabel}=${applySetId(parent)}`;

/** Returns the object with the label of the set. Throws if the manifest has the label already. */
export function asMember(object: JsonObject, parent: ApplySetParent): JsonObject {
  const metadata = recordAt(object, 'metadata');
  const labels = recordAt(metadata, 'labels');
  if (Object.hasOwn(labels, memberLabel))
    throw new UsageError(`ApplySet label ${JSON.stringify(memberLabel)} already set in input data`);
  return { ...object, metadata: { ...metadata, labels: { ...labels, [memberLabel]: applySetId(parent) } } };
}

/** Kinds, such as `Deployment.apps`, and namespaces of the members of a set. */
export interface Contents {
  readonly kinds: ReadonlySet<string>;
  readonly namespaces: ReadonlySet<string>;
}

export const nothingApplied: Contents = { kinds: new Set(), namespaces: new Set() };

/**
 * Returns the kinds and namespaces that the parent names. Throws if the object is not the parent of this set,
 * or belongs to another tool: what it names must not be deleted.
 */
export function contentsOf(object: JsonObject, parent: ApplySetParent, all: ApiResources): Contents {
  const { labels, annotations } = metadataOf(object);
  const what = `ApplySet parent object ${JSON.stringify(referenceOf(parent))}`;
  const owner = annotations[tooling];
  if (owner === undefined)
    throw new Error(`${what} already exists and is missing required annotation ${JSON.stringify(tooling)}`);
  const ownerName = owner.includes('/') ? owner.slice(0, owner.lastIndexOf('/')) : owner;
  if (ownerName !== tool)
    throw new Error(
      `${what} already exists and is managed by tooling ${JSON.stringify(ownerName)} instead of ${JSON.stringify(tool)}`,
    );
  const id = labels[idLabel];
  if (id === undefined) throw new Error(`${what} exists and does not have required label ${idLabel}`);
  if (id !== applySetId(parent))
    throw new Error(
      `${what} exists and has incorrect value for label ${JSON.stringify(idLabel)} (got: ${id}, want: ${applySetId(parent)})`,
    );
  const namespaces = new Set(listIn(annotations[namespacesAnnotation]));
  if (parent.namespace !== '') namespaces.add(parent.namespace);
  return { kinds: new Set(kindsIn(annotations, what, all)), namespaces };
}

function kindsIn(annotations: Readonly<Record<string, string>>, what: string, all: ApiResources): string[] {
  const kinds = annotations[kindsAnnotation];
  if (kinds !== undefined) return listIn(kinds);
  const resources = listIn(annotations[resourcesAnnotation]);
  if (resources.length === 0)
    throw new Error(`${what} needs the annotation ${JSON.stringify(kindsAnnotation)}`);
  return resources.map((name) => groupKind(findResource(all, name)));
}

const listIn = (text: string | undefined): string[] => (text ? text.split(',') : []);

const referenceOf = ({ resource, name }: ApplySetParent) => `${resource.plural}.${resource.group}/${name}`;

export const groupKind = ({ kind, group }: Pick<ApiResource, 'kind' | 'group'>): string =>
  group === '' ? kind : `${kind}.${group}`;

/** Splits the kinds of a set into those that the server serves and those that it does not. */
export function servedKinds(
  { kinds }: Contents,
  all: ApiResources,
): { readonly served: ApiResources; readonly gone: readonly string[] } {
  const byKind = new Map(preferred(all).map((resource) => [groupKind(resource), resource]));
  const names = [...kinds].sort();
  return {
    served: names.flatMap((name) => byKind.get(name) ?? []),
    gone: names.filter((name) => !byKind.has(name)),
  };
}

/** Returns the contents of both sets, which the parent names while the command runs, and after a failure. */
export const superset = (one: Contents, other: Contents): Contents => ({
  kinds: one.kinds.union(other.kinds),
  namespaces: one.namespaces.union(other.namespaces),
});

/** Returns the manifest by which the parent is applied on the server. */
export function parentManifest(parent: ApplySetParent, { kinds, namespaces }: Contents): JsonObject {
  const others = [...namespaces].filter((namespace) => namespace !== parent.namespace).sort();
  return {
    apiVersion: apiVersionOf(parent.resource),
    kind: parent.resource.kind,
    metadata: {
      name: parent.name,
      ...(parent.namespace !== '' && { namespace: parent.namespace }),
      annotations: {
        [tooling]: `${tool}/${toolVersion}`,
        [kindsAnnotation]: [...kinds].sort().join(','),
        [namespacesAnnotation]: others.join(','),
      },
      labels: { [idLabel]: applySetId(parent) },
    },
  };
}
