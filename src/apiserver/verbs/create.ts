/** POST to a collection. */
import { createObject } from '../registry/create.ts';
import type { RequestScope } from '../request-scope.ts';
import { answerReview } from '../reviews.ts';
import { writeOptions } from '../write-options.ts';
import { respondObject } from './get.ts';
import { readObjectBody } from './read-object.ts';

export async function create(scope: RequestScope): Promise<Response> {
  const options = writeOptions(scope, 'CreateOptions');
  const object = await readObjectBody(scope, options);
  const { server, definition, info, user } = scope;
  if (definition.isReview) {
    const answer = await answerReview(server, definition, user, info.namespace, object);
    return respondObject(scope, 201, { object: answer });
  }
  const created = await createObject(server, { definition, namespace: info.namespace, object, options });
  scope.warnings.push(...(definition.strategy.warnings?.(created, undefined) ?? []));
  return respondObject(scope, 201, { object: created });
}
