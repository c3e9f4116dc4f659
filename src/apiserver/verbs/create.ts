/** POST to a collection. */
import { valueLimits } from '../../apimachinery/value-limit.ts';
import { respondObject } from '../encoding/answer.ts';
import { createObject } from '../registry/create.ts';
import type { RequestScope } from '../request/request-scope.ts';
import { writeOptions } from '../write-options.ts';
import { readObjectBody } from './read-body.ts';

export async function create(scope: RequestScope): Promise<Response> {
  const options = writeOptions(scope, 'CreateOptions');
  const object = await readObjectBody(scope, options);
  const { server, definition, info, user } = scope;
  if (definition.isReview) {
    const answer = await server.behavior.answerReview(definition, user, info.namespace, object);
    return respondObject(scope, 201, { object: answer });
  }
  const { namespace } = info;
  const maxValues = valueLimits(scope).created;
  const { object: created, kept } = await createObject(server, {
    definition,
    namespace,
    object,
    options,
    maxValues,
  });
  scope.warnings.push(...(definition.strategy.warnings?.(created, undefined) ?? []));
  return respondObject(scope, 201, kept);
}
