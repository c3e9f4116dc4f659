/** PUT of an object or of its status. */
import { deepCopy } from '../../apimachinery/equality.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import { isAlreadyExists, isNotFound, newForbidden } from '../../apimachinery/status-error.ts';
import { valueLimits } from '../../apimachinery/value-limit.ts';
import { refusal } from '../authorization/authorizer.ts';
import { respondObject } from '../encoding/answer.ts';
import { createObject } from '../registry/create.ts';
import { checkAbsent, matchTarget } from '../registry/object-meta.ts';
import type { Part } from '../registry/preparation.ts';
import type { RequestScope } from '../request-scope.ts';
import { type WriteOptions, writeOptions } from '../write-options.ts';
import { changeObject } from './change-object.ts';
import { readObjectBody } from './read-object.ts';

export async function update(scope: RequestScope): Promise<Response> {
  return updatePart(scope, 'main');
}

export async function updatePart(scope: RequestScope, part: Part): Promise<Response> {
  const options = writeOptions(scope, 'UpdateOptions');
  const wanted = await readObjectBody(scope, options);
  const creates = part === 'main' && scope.definition.strategy.createsOnUpdate;
  for (;;) {
    try {
      return await changeObject(scope, { part, options, change: () => deepCopy(wanted) });
    } catch (error) {
      if (!creates || !isNotFound(error)) throw error;
    }
    try {
      return await createInstead(scope, deepCopy(wanted), options);
    } catch (error) {
      // Somebody else has made it meanwhile.
      if (!isAlreadyExists(error)) throw error;
    }
  }
}

/** Of an object that is not there. Throws 403 for a user who may change objects and not make them. */
async function createInstead(
  scope: RequestScope,
  object: KubeObject,
  options: WriteOptions,
): Promise<Response> {
  const { server, definition, served, info, user } = scope;
  const { namespace, name } = info;
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
  const mostValues = valueLimits(scope).created;
  const created = await createObject(server, { definition, namespace, object, options, mostValues });
  scope.warnings.push(...(definition.strategy.warnings?.(created, undefined) ?? []));
  return respondObject(scope, 201, { object: created });
}
