/** POST: creates an object, with a generated name if only a prefix was given. */
import { deepCopy } from '../../apimachinery/equality.ts';
import { initialStatus } from '../../apimachinery/initial-status.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import { type ResourceDefinition, storageKey } from '../../apimachinery/resource-definition.ts';
import { objectTypeOf } from '../../apimachinery/schema-types.ts';
import {
  isAlreadyExists,
  newAlreadyExists,
  newBadRequest,
  newStatusError,
} from '../../apimachinery/status-error.ts';
import { countOwnValues, tooManyValues } from '../../apimachinery/value-limit.ts';
import { rfc3339 } from '../../base/clock.ts';
import { randomName } from '../../base/random.ts';
import { decodeObject, encodeObject } from '../../storage/codec.ts';
import { type Claims, ClaimTakenError, KeyExistsError } from '../../storage/store.ts';
import type { Admission } from '../admission/plugin.ts';
import type { Kept } from '../encoding/encoder.ts';
import type { ServerContext } from '../server-context.ts';
import { RequestWork } from '../transport/request-work.ts';
import type { WriteOptions } from '../write-options.ts';
import { planClaims, requireUnclaimed } from './claims.ts';
import { type OwnedWrite, ownersAfter, ownersOfNew, setOwners } from './field-ownership.ts';
import { withRoom } from './guaranteed-update.ts';
import { isSurelyNotStored } from './not-stored.ts';
import { initializeMeta, matchTarget } from './object-meta.ts';
import { prepareForCreate, validateForCreate } from './preparation.ts';
import { requireRoom } from './require-room.ts';
import { keepNote, noteTrace } from './trace-notes.ts';
import { shownVersion, writtenVersion } from './written-version.ts';

export interface CreateRequest {
  readonly definition: ResourceDefinition;
  readonly namespace: string;
  readonly options: WriteOptions;
  /** Decoded; becomes the new object. */
  readonly object: KubeObject;
  /** True if the managedFields of the object already name its owners because it was applied. */
  readonly isOwned?: true;
  /** Maximum number of values in the new object, defaults included; more is a 413. */
  readonly maxValues: number;
}

/** Number of names that upstream tries before it gives up (registry/generic/registry Store.Create). */
const maxGeneratedNames = 8;
const maxPrefix = 58;

export interface Created {
  /** The object as it was created. */
  readonly object: KubeObject;
  /** The stored object; in a dry run the object that would be stored, without a resourceVersion. */
  readonly kept: Kept;
}

export async function createObject(server: ServerContext, request: CreateRequest): Promise<Created> {
  const { object, definition } = request;
  if (object.metadata.resourceVersion) {
    throw newBadRequest('resourceVersion should not be set on objects to be created');
  }
  matchTarget(object, definition, { namespace: request.namespace, name: '' });
  const { generateName } = object.metadata;
  if (object.metadata.name || !generateName) return createNamed(server, request, object);
  return createWithGeneratedName(server, request, generateName);
}

/** Creates the object under a random name with the prefix; tries another name if one exists. */
async function createWithGeneratedName(
  server: ServerContext,
  request: CreateRequest,
  prefix: string,
): Promise<Created> {
  const draft = JSON.stringify(request.object);
  for (let attempt = 1; ; attempt++) {
    const named = JSON.parse(draft) as KubeObject;
    named.metadata.name = `${prefix.slice(0, maxPrefix)}${randomName(server.random, 5)}`;
    try {
      return await createNamed(server, request, named);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      if (attempt === maxGeneratedNames) throw noUniqueName(request.definition, named.metadata.name);
    }
  }
}

function noUniqueName(definition: ResourceDefinition, name: string) {
  const { message, details } = newAlreadyExists(definition, name).status;
  return newStatusError(
    'AlreadyExists',
    `${message}, the server was not able to generate a unique name for the object`,
    details,
  );
}

async function createNamed(
  server: ServerContext,
  request: CreateRequest,
  object: KubeObject,
): Promise<Created> {
  const { definition } = request;
  const work = new RequestWork(server);
  const { dryRun, user, served, warn, fieldManager, aside } = request.options;
  const context = { user, now: rfc3339(server.clock.now()), subresource: '' };
  keepNote(server, object);
  initializeMeta(object.metadata, {
    uid: server.random.uuid(),
    now: context.now,
    generation: definition.strategy.countsGenerations,
  });
  const admission: Admission = {
    operation: 'create',
    definition,
    namespace: request.namespace,
    name: object.metadata.name,
    subresource: '',
    user,
    warn,
    dryRun,
    object,
    served,
    fieldManager,
    aside,
  };
  definition.strategy.setDefaults?.(object);
  await work.pause();
  const requireFewValues = () => {
    if (countOwnValues(object) > request.maxValues) throw tooManyValues(request.maxValues);
  };
  // Checked before all steps whose duration depends on the number of values.
  requireFewValues();
  await work.pause();
  const owners = request.isOwned ? undefined : await ownersOf(server, object, { ...context, ...request });
  await work.pause();
  await server.admission.mutate(admission);
  prepareForCreate(definition, object, context);
  setInitialStatus(server, definition, object);
  requireFewValues();
  await work.pause();
  await work.through(validateForCreate(definition, object, served));
  await server.admission.validate(admission);
  noteTrace(server, object, undefined, request.options);
  await work.pause();
  try {
    return await store(server, request, object, owners, work);
  } catch (error) {
    if (isSurelyNotStored(error)) server.admission.notStored(admission);
    throw error;
  }
}

/**
 * Sets the status that Kubernetes' kinds always show, unless the kind has set one. Does nothing for a kind
 * whose creator may set the status: the status of a Node shows whether its agent has registered.
 */
function setInitialStatus(
  { fields }: ServerContext,
  definition: ResourceDefinition,
  object: KubeObject,
): void {
  const withStatus = object as KubeObject & { status?: unknown };
  const { hasStatus, strategy } = definition;
  if (!hasStatus || strategy.keepsStatusOnCreate || withStatus.status !== undefined) return;
  const status = initialStatus(objectTypeOf(definition, fields));
  if (status) withStatus.status = status;
}

/**
 * Returns the object's managedFields as text. Returns undefined if the client sent managedFields: then they
 * are set in the object.
 */
async function ownersOf(
  server: ServerContext,
  object: KubeObject,
  write: OwnedWrite,
): Promise<string | undefined> {
  if (object.metadata.managedFields === undefined) return ownersOfNew(server, object, write);
  setOwners(object, await ownersAfter(server, object, undefined, write));
  return undefined;
}

interface Draft {
  readonly object: KubeObject;
  readonly key: string;
  readonly claims: Claims | undefined;
  /** See `ownersOf`. */
  readonly owners: string | undefined;
}

async function store(
  server: ServerContext,
  request: CreateRequest,
  draft: KubeObject,
  owners: string | undefined,
  work: RequestWork,
): Promise<Created> {
  const { definition } = request;
  const { name, namespace = '' } = draft.metadata;
  const key = storageKey(definition, namespace, name);
  const taken = new Set<string>();
  for (;;) {
    // Allocation fills in the object; after a lost race it starts again from what the user requested.
    const object = deepCopy(draft);
    await work.pause();
    const claims = planClaims(server, definition, object, undefined, taken);
    try {
      if (request.options.dryRun)
        return await wouldBeStored(server, request, { object, key, claims, owners });
      const { aside } = request.options;
      const stored = await writtenVersion(definition, object, aside);
      const { value, revision } = await withRoom(stored, owners, !request.isOwned, (bytes) =>
        storeNew(server, definition, { object, key, claims }, bytes),
      );
      object.metadata.resourceVersion = String(revision);
      return { object, kept: await shownVersion(definition, { key, value, revision }, aside) };
    } catch (error) {
      taken.add(lostClaim(error, definition, name));
    }
  }
}

/** Returns the claim that another writer took first; throws for any other error. */
function lostClaim(error: unknown, definition: ResourceDefinition, name: string): string {
  if (error instanceof KeyExistsError) throw newAlreadyExists(definition, name);
  if (!(error instanceof ClaimTakenError)) throw error;
  return error.claim;
}

async function storeNew(
  server: ServerContext,
  definition: ResourceDefinition,
  { object, key, claims }: Omit<Draft, 'owners'>,
  value: Buffer,
) {
  try {
    requireRoom(server, definition, { object, after: value.length, isStatus: false });
  } catch (error) {
    // For an existing object the error is AlreadyExists: clients that may have created it before, such as a
    // master that starts, then continue.
    throw (await server.store.get(key)) ? newAlreadyExists(definition, object.metadata.name) : error;
  }
  return server.store.create(key, value, claims);
}

/** Resolves to what a dry run would store; rejects as the store would. */
async function wouldBeStored(
  server: ServerContext,
  { definition }: CreateRequest,
  { object, key, claims, owners }: Draft,
): Promise<Created> {
  if (await server.store.get(key)) throw newAlreadyExists(definition, object.metadata.name);
  await requireUnclaimed(server, claims);
  return { object, kept: { object: owners ? decodeObject(encodeObject(object, owners)) : object } };
}
