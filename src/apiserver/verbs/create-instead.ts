/** Creates an object on an update: PUT of some kinds, and apply. */
import { isAlreadyExists, isNotFound, newForbidden } from '../../apimachinery/status-error.ts';
import { valueLimits } from '../../apimachinery/value-limit.ts';
import { refusal } from '../authorization/authorizer.ts';
import { respondObject } from '../encoding/answer.ts';
import { type CreateRequest, createObject } from '../registry/create.ts';
import { checkAbsent, matchTarget } from '../registry/object-meta.ts';
import type { RequestScope } from '../request/request-scope.ts';

/** Changes the object, or creates it if it does not exist. Retries if another writer was faster. */
export async function changeOrCreate(
  change: () => Promise<Response>,
  create: () => Promise<Response>,
): Promise<Response> {
  for (;;) {
    const changed = await unlessFailedBy(isNotFound, change);
    if (changed) return changed;
    // The creation fails if another writer has created the object meanwhile.
    const created = await unlessFailedBy(isAlreadyExists, create);
    if (created) return created;
  }
}

/** Resolves to undefined if the operation fails with the expected error. */
async function unlessFailedBy(
  isExpected: (error: unknown) => boolean,
  operation: () => Promise<Response>,
): Promise<Response | undefined> {
  try {
    return await operation();
  } catch (error) {
    if (!isExpected(error)) throw error;
    return undefined;
  }
}

/** Throws 403 for a user who may change objects but not create them. */
export async function createInstead(
  scope: RequestScope,
  wanted: Pick<CreateRequest, 'object' | 'options' | 'isOwned'>,
): Promise<Response> {
  const { server, definition, served, info, user } = scope;
  const { namespace, name } = info;
  const { object } = wanted;
  matchTarget(object, definition, info);
  checkAbsent(definition, object);
  const { group } = served;
  const access = {
    type: 'resource',
    user,
    verb: 'create',
    group,
    resource: info.plural,
    namespace,
    name,
  } as const;
  const decision = await server.authorize(access);
  if (!decision.allowed) throw newForbidden(definition, name, refusal(access, decision));
  const maxValues = valueLimits(scope).created;
  const { object: created, kept } = await createObject(server, {
    ...wanted,
    definition,
    namespace,
    maxValues,
  });
  scope.warnings.push(...(definition.strategy.warnings?.(created, undefined) ?? []));
  return respondObject(scope, 201, kept);
}
