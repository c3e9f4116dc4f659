/** PUT, PATCH and the subresources that write: updates an existing object. */
import { deepCopy } from '../../apimachinery/equality.ts';
import type { Entries } from '../../apimachinery/managed-fields/tracking.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import type { ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import { rfc3339 } from '../../base/clock.ts';
import type { Admission, ObjectView } from '../admission/plugin.ts';
import type { ServerContext } from '../server-context.ts';
import { RequestWork } from '../transport/request-work.ts';
import type { WriteOptions } from '../write-options.ts';
import { planClaims, releaseClaims } from './claims.ts';
import { isFullyFinalized } from './deletion.ts';
import { entriesIn, isUnchanged, ownersAfter, setOwners, unowned } from './field-ownership.ts';
import { type Attempt, type Decision, guaranteedUpdate, type Outcome } from './guaranteed-update.ts';
import { checkPreconditions, conditionsOf, matchTarget, requireVersion } from './object-meta.ts';
import { countGeneration, type Part, prepareForUpdate, validateForUpdate } from './preparation.ts';
import { keepNote, noteTrace } from './trace-notes.ts';

export interface UpdateRequest {
  readonly definition: ResourceDefinition;
  readonly namespace: string;
  readonly name: string;
  readonly part: Part;
  /** '' for the object itself; only used for admission. */
  readonly subresource: string;
  readonly options: WriteOptions;
  /**
   * Returns the desired state, made from a copy of the current one; called again after a lost race. A
   * resourceVersion or uid in the result is a precondition.
   */
  readonly change: (current: KubeObject) => KubeObject | Promise<KubeObject>;
  /**
   * Decides the ownership of fields: by default the writer owns what it changes; `applied` takes the
   * managedFields that `change` has set in the object; `kept` leaves the ownership as it is.
   */
  readonly owners?: 'applied' | 'kept';
  /** See `Admission.view`. */
  readonly view?: ObjectView;
  /** See `Admission.isStep`. */
  readonly isStep?: boolean;
}

/** Resolves to the stored object, or to its last state if this update removed the last finalizer. */
export function updateObject(server: ServerContext, request: UpdateRequest): Promise<Outcome> {
  const { dryRun, aside } = request.options;
  const target = { ...request, dryRun, aside };
  return guaranteedUpdate(server, target, (attempt) => decide(server, request, attempt));
}

async function decide(
  server: ServerContext,
  request: UpdateRequest,
  { current, isOutdated, taken }: Attempt,
): Promise<Decision> {
  const { definition, subresource } = request;
  const { dryRun, user, served, warn, fieldManager, aside } = request.options;
  const context = { user, now: rfc3339(server.clock.now()), subresource };
  const work = new RequestWork(server);
  const old = deepCopy(unowned(current));
  // managedFields are never changed in place.
  setOwners(old, entriesIn(current));
  await work.pause();
  const object = await request.change(current);
  matchTarget(object, definition, request);
  keepNote(server, object, old);
  requireVersion(definition, object);
  checkPreconditions(definition, old, conditionsOf(object.metadata));
  const admission: Admission = {
    operation: 'update',
    definition,
    namespace: request.namespace,
    name: request.name,
    subresource,
    user,
    warn,
    dryRun,
    object,
    old,
    served,
    fieldManager,
    aside,
    ...(request.view && { view: request.view }),
    ...(request.isStep && { isStep: true }),
  };
  if (request.part === 'main') {
    definition.strategy.setDefaults?.(object);
    definition.strategy.setDefaults?.(old);
  }
  await work.pause();
  const owners = await ownersOf(server, request, object, old, context.now);
  setOwners(object, owners);
  await work.pause();
  await server.admission.mutate(admission);
  prepareForUpdate(definition, object, old, request.part, context);
  setOwners(object, owners);
  await work.pause();
  const claims = request.part === 'main' ? planClaims(server, definition, object, old, taken) : undefined;
  await work.through(validateForUpdate(definition, object, old, request.part, subresource, served));
  await work.pause();
  const counts = request.part === 'main' || definition.strategy.parts?.[request.part]?.countsGeneration;
  if (counts) countGeneration(definition, object, old);
  await server.admission.validate(admission);
  await work.pause();
  if (isFullyFinalized(definition, object))
    return { type: 'remove', object, claims: releaseClaims(server, definition, old) };
  if (isUnchanged(object, old) && !isOutdated) return { type: 'keep', object: old };
  if (request.part === 'main') noteTrace(server, object, old, request.options);
  const notStored = () => server.admission.notStored(admission);
  return { type: 'write', object, claims, mayForgetOwners: request.owners === undefined, notStored };
}

async function ownersOf(
  server: ServerContext,
  { owners, definition, subresource, options }: UpdateRequest,
  object: KubeObject,
  old: KubeObject,
  now: string,
): Promise<Entries> {
  if (owners === 'kept') return entriesIn(old);
  if (owners === 'applied') return entriesIn(object);
  return ownersAfter(server, object, old, { definition, subresource, options, now });
}
