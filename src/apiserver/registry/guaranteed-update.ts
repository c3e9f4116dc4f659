/**
 * Reads, decides, compares and swaps, and retries if another writer was faster. The first read is from the
 * watch cache, which saves a round trip to the store. A rejection or "no change" that was decided on the
 * cache's state is decided again on the store's own state if the cache was behind (k8s.io/apiserver
 * storage/etcd3 GuaranteedUpdate).
 */
import type { KubeObject } from '../../apimachinery/meta.ts';
import { type ResourceDefinition, storageKey } from '../../apimachinery/resource-definition.ts';
import { newConflict, newNotFound } from '../../apimachinery/status-error.ts';
import { decodeObject, encodeObject } from '../../storage/codec.ts';
import {
  type Claims,
  ClaimTakenError,
  RevisionMismatchError,
  type StoredValue,
  ValueTooLargeError,
} from '../../storage/store.ts';
import type { Kept } from '../encoding/encoder.ts';
import type { Aside } from '../load/shed.ts';
import type { ServerContext } from '../server-context.ts';
import { requireUnclaimed } from './claims.ts';
import { isSurelyNotStored } from './not-stored.ts';
import type { Part } from './preparation.ts';
import { requireRoom } from './require-room.ts';
import { readVersion, shownVersion, writtenVersion } from './written-version.ts';

export type Decision =
  | {
      readonly type: 'write';
      readonly object: KubeObject;
      readonly claims?: Claims | undefined;
      /** Allows the write without managedFields if the store has no room for them. */
      readonly mayForgetOwners?: boolean;
      /**
       * Called when the object is certain not to be stored: another writer was faster, or the store rejected
       * it.
       */
      readonly notStored?: () => void;
    }
  | { readonly type: 'remove'; readonly object: KubeObject; readonly claims?: Claims | undefined }
  /** The object is already as it should be. */
  | { readonly type: 'keep'; readonly object: KubeObject };

export interface Outcome {
  readonly type: Decision['type'];
  /** The object with the resourceVersion of the write; after a removal, its last state. */
  readonly object: KubeObject;
  /** The same object, for an answer. */
  readonly kept: Kept;
}

export interface Attempt {
  /** Copy of the stored object that may be changed, in the version of the definition. */
  readonly current: KubeObject;
  /** True if the object has to be written anew because it is stored in an earlier version of its kind. */
  readonly isOutdated?: boolean;
  /** Claims that turned out to belong to another object during this call. */
  readonly taken: ReadonlySet<string>;
}

interface Snapshot {
  readonly bytes: Buffer;
  readonly revision: number;
  /** True if the snapshot was read from the store, not from the cache. */
  readonly fresh?: true;
}

export interface UpdateTarget {
  readonly definition: ResourceDefinition;
  readonly namespace: string;
  readonly name: string;
  readonly dryRun?: boolean;
  /** Part of the object that can change; defaults to any. */
  readonly part?: Part;
  /** See `Admission.aside`. */
  readonly aside?: Aside | undefined;
}

/** Lost races in a row after which the caller gets a conflict. */
const maxLostRaces = 64;

export async function guaranteedUpdate(
  server: ServerContext,
  target: UpdateTarget,
  decide: (attempt: Attempt) => Decision | Promise<Decision>,
): Promise<Outcome> {
  const { definition, name } = target;
  const key = storageKey(definition, target.namespace, name);
  const taken = new Set<string>();
  let snapshot: Snapshot | undefined = server.cache.get(key) ?? (await readStore(server, key));
  for (let races = 0; races < maxLostRaces; races++) {
    if (!snapshot) throw newNotFound(definition, name);
    const decided = await decideOn(server, { ...target, key }, snapshot, taken, decide);
    if ('store' in decided) {
      snapshot = decided.store;
      continue;
    }
    const { decision } = decided;
    const { type, object } = decision;
    if (decision.type === 'keep') return { type, object, kept: { object } };
    try {
      return { type, object, kept: await keptAfter(server, { ...target, key }, decision, snapshot) };
    } catch (error) {
      snapshot = afterLostRace(error, snapshot, taken);
    }
  }
  throw newConflict(definition, name, 'the object is being modified by too many writers; please try again');
}

async function readStore(server: ServerContext, key: string): Promise<Snapshot | undefined> {
  const stored = await server.store.get(key);
  return stored && { bytes: stored.value, revision: stored.revision, fresh: true };
}

/**
 * Returns the state that the next attempt decides on. Adds a claim that belongs to another object to `taken`.
 * Throws any other error.
 */
function afterLostRace(error: unknown, snapshot: Snapshot, taken: Set<string>): Snapshot | undefined {
  if (error instanceof RevisionMismatchError) return afterMismatch(error);
  if (!(error instanceof ClaimTakenError)) throw error;
  taken.add(error.claim);
  return snapshot;
}

function afterMismatch({ current }: RevisionMismatchError): Snapshot | undefined {
  return current && { bytes: current.value, revision: current.revision, fresh: true };
}

/** A decision, or the state of the store if it is newer than the snapshot and has to be decided on. */
type Decided = { readonly decision: Decision } | { readonly store: Snapshot | undefined };

/**
 * Decides on the snapshot. A rejection and "no change" must not rely on a stale cache: they count if the
 * store has the same state.
 */
async function decideOn(
  server: ServerContext,
  { key, ...target }: StoredTarget,
  snapshot: Snapshot,
  taken: ReadonlySet<string>,
  decide: (attempt: Attempt) => Decision | Promise<Decision>,
): Promise<Decided> {
  const newer = async (): Promise<{ readonly store: Snapshot | undefined } | undefined> => {
    const store = snapshot.fresh ? snapshot : await readStore(server, key);
    return store?.revision === snapshot.revision ? undefined : { store };
  };
  try {
    const stored = decodeObject(snapshot.bytes, snapshot.revision);
    const { object, isOutdated } = await readVersion(target.definition, stored, target.aside);
    const decision = await decide({ current: object, isOutdated, taken });
    return (decision.type === 'keep' ? await newer() : undefined) ?? { decision };
  } catch (error) {
    const found = await newer();
    if (found) return found;
    throw error;
  }
}

const keptAfter = (
  server: ServerContext,
  target: StoredTarget,
  decision: Exclude<Decision, { type: 'keep' }>,
  snapshot: Snapshot,
): Promise<Kept> =>
  target.dryRun ? tryClaims(server, decision) : applyOrWithdraw(server, target, decision, snapshot);

/** Returns what would be written; throws ClaimTakenError as the store would. */
async function tryClaims(
  server: ServerContext,
  { object, claims }: Exclude<Decision, { type: 'keep' }>,
): Promise<Kept> {
  await requireUnclaimed(server, claims);
  return { object };
}

type StoredTarget = UpdateTarget & { readonly key: string };

async function applyOrWithdraw(
  server: ServerContext,
  target: StoredTarget,
  decision: Exclude<Decision, { type: 'keep' }>,
  snapshot: Snapshot,
): Promise<Kept> {
  try {
    return await apply(server, target, decision, snapshot);
  } catch (error) {
    if (decision.type === 'write' && isSurelyNotStored(error)) decision.notStored?.();
    throw error;
  }
}

async function apply(
  server: ServerContext,
  { key, definition, part, aside }: StoredTarget,
  decision: Exclude<Decision, { type: 'keep' }>,
  { revision, bytes }: Snapshot,
): Promise<Kept> {
  const { object, claims } = decision;
  const { store } = server;
  if (decision.type === 'remove') {
    object.metadata.resourceVersion = String(await store.delete(key, revision, claims));
    return { object };
  }
  const isStatus = part === 'status';
  const stored = await writtenVersion(definition, object, aside);
  const update = async (value: Buffer) => {
    requireRoom(server, definition, { object, after: value.length, isStatus, old: bytes });
    return store.update(key, value, revision, claims);
  };
  const written = await withRoom(stored, undefined, decision.mayForgetOwners ?? false, update);
  object.metadata.resourceVersion = String(written.revision);
  return shownVersion(definition, { key, ...written }, aside);
}

/**
 * Writes an object and resolves to what was written. If the object is too large and `mayGo` is set, retries
 * without its managedFields, as upstream does; mutates `object`. `owners` are the managedFields as JSON, if
 * the object does not contain them.
 */
export async function withRoom(
  object: KubeObject,
  owners: string | undefined,
  mayGo: boolean,
  write: (value: Buffer) => Promise<number>,
): Promise<Pick<StoredValue, 'value' | 'revision'>> {
  const value = encodeObject(object, owners);
  try {
    return { value, revision: await write(value) };
  } catch (error) {
    const hasOwners = owners !== undefined || object.metadata.managedFields !== undefined;
    if (!mayGo || !(error instanceof ValueTooLargeError) || !hasOwners) throw error;
    delete object.metadata.managedFields;
    const smaller = encodeObject(object);
    return { value: smaller, revision: await write(smaller) };
  }
}
