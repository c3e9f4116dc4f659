/** POST to a collection. */
import { createObject } from '../registry/create.ts';
import { isDryRun, type RequestScope } from '../request-scope.ts';
import { answerReview } from '../reviews.ts';
import { respondObject } from './get.ts';
import { readObjectBody } from './read-object.ts';

export async function create(scope: RequestScope): Promise<Response> {
  const dryRun = isDryRun(scope, 'CreateOptions');
  const object = await readObjectBody(scope, 'CreateOptions');
  const { server, definition, info, user } = scope;
  if (definition.isReview) {
    const answer = await answerReview(server, definition, user, info.namespace, object);
    return respondObject(scope, 201, { object: answer });
  }
  const created = await createObject(server, { definition, namespace: info.namespace, user, dryRun, object });
  scope.warnings.push(...(definition.strategy.warnings?.(created, undefined) ?? []));
  return respondObject(scope, 201, { object: created });
}
