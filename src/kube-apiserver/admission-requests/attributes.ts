/** Describes requests for webhooks and policies: names, versions and objects as the client sees them. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import type { Kinds } from '../../apimachinery/kind-set.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import { apiVersionOf, isSameKind, type ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import { asServed } from '../../apimachinery/served-version.ts';
import type { Admission, SubresourceRequest } from '../../apiserver/admission/plugin.ts';
import type { Address, HookedRequest, Operation } from './plan/request.ts';
import { isNamespace } from './plan/request.ts';

const operations = { connect: 'CONNECT', create: 'CREATE', delete: 'DELETE', update: 'UPDATE' } as const;

/** Returns the request of a write, with the labels that its object has now. */
export function requestOf(kinds: Kinds, admission: Admission): HookedRequest {
  const { operation, definition, served = definition, object, old, view } = admission;
  const foreign = foreignKind(definition, view && object ? view.show(object) : object);
  return {
    ...head(kinds, { ...admission, served }, operations[operation], foreign),
    options: optionsOf(admission),
    labels: object?.metadata.labels ?? (object && {}),
    oldLabels: old?.metadata.labels ?? (old && {}),
  };
}

/** Returns the request of a connection, or of an object such as an Eviction. */
export function subresourceRequestOf(kinds: Kinds, request: SubresourceRequest): HookedRequest {
  const { definition, served = definition, body, operation } = request;
  const labels = operation === 'create' ? labelsOf(body) : undefined;
  return {
    ...head(kinds, { ...request, served }, operations[operation], kindOf(body)),
    ...(operation === 'create' && { options: optionsOf(request) }),
    labels,
    oldLabels: undefined,
  };
}

type Named = Pick<Admission, 'definition' | 'dryRun' | 'name' | 'namespace' | 'subresource' | 'user'> & {
  readonly served: ResourceDefinition;
};

function head(kinds: Kinds, named: Named, operation: Operation, foreign: Address['kind'] | undefined) {
  const { definition, served, subresource, user, dryRun = false } = named;
  const address = addressOf(served, foreign);
  return {
    operation,
    address,
    equivalents: kinds.all
      .filter((other) => other !== served && isSameKind(other, definition))
      .map((other) => addressOf(other, foreign)),
    subresource,
    name: named.name,
    namespace: isNamespace(address) ? named.name : named.namespace,
    user,
    dryRun,
  };
}

const addressOf = (
  { group, version, plural: resource, kind }: ResourceDefinition,
  foreign?: Address['kind'],
): Address => ({ group, version, resource, kind: foreign ?? { group, version, kind } });

/** Returns the kind of an object that is not of the definition's kind. */
function foreignKind({ kind }: ResourceDefinition, object: unknown): Address['kind'] | undefined {
  const found = object as Partial<KubeObject> | undefined;
  return found && found.kind !== kind ? kindOf(found as JsonObject) : undefined;
}

function kindOf({ apiVersion, kind }: JsonObject): Address['kind'] {
  const [first = '', second] = String(apiVersion).split('/');
  return second === undefined
    ? { group: '', version: first, kind: String(kind) }
    : { group: first, version: second, kind: String(kind) };
}

function labelsOf({ metadata }: JsonObject): Record<string, string> {
  return (metadata as KubeObject['metadata'] | undefined)?.labels ?? {};
}

const meta = 'meta.k8s.io/v1';

function optionsOf({
  operation,
  dryRun,
  fieldManager,
  deletion,
}: Pick<Admission, 'deletion' | 'dryRun' | 'fieldManager'> & {
  readonly operation: Admission['operation'] | 'connect';
}): JsonObject {
  const dry = dryRun ? { dryRun: ['All'] } : {};
  if (operation === 'delete') {
    const { gracePeriodSeconds, propagationPolicy } = deletion ?? {};
    return {
      kind: 'DeleteOptions',
      apiVersion: meta,
      ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
      ...(propagationPolicy && { propagationPolicy }),
      ...dry,
    };
  }
  const kind = operation === 'create' ? 'CreateOptions' : 'UpdateOptions';
  return { kind, apiVersion: meta, ...(fieldManager && { fieldManager }), ...dry };
}

/**
 * Resolves to an object as a webhook or policy sees it, in the version of `address`. Rejects with the
 * StatusError of a failed conversion.
 */
export async function shownObject(
  kinds: Kinds,
  { definition, view }: Pick<Admission, 'definition' | 'view'>,
  { group, version, resource }: Address,
  object: KubeObject | undefined,
): Promise<JsonObject | undefined> {
  if (!object) return undefined;
  if (view) return view.show(object);
  const served = kinds.find(group, version, resource);
  const isOfKind = object.kind === definition.kind;
  return withoutEmptyFields(isOfKind && served ? await inVersion(served, object) : object);
}

/** Resolves to an object in a served version, from any version or from the stored one. */
const inVersion = async (served: ResourceDefinition, object: KubeObject): Promise<KubeObject> =>
  served.versions ? served.versions.convert(object, apiVersionOf(served)) : asServed(served, object);

/** Fields of metadata that are empty before the server sets them; Kubernetes leaves them out. */
const mayBeEmpty = ['name', 'uid', 'resourceVersion', 'creationTimestamp'] as const;

function withoutEmptyFields(object: KubeObject): JsonObject {
  const metadata: JsonObject = { ...object.metadata };
  for (const field of mayBeEmpty) if (metadata[field] === '') delete metadata[field];
  return { ...object, metadata };
}
