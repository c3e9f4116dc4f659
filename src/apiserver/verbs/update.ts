/** PUT of an object or of its status. */
import { deepCopy } from '../../apimachinery/equality.ts';
import type { Part } from '../registry/preparation.ts';
import type { RequestScope } from '../request-scope.ts';
import { writeOptions } from '../write-options.ts';
import { changeObject } from './change-object.ts';
import { changeOrCreate, createInstead } from './create-instead.ts';
import { readObjectBody } from './read-object.ts';

export async function update(scope: RequestScope): Promise<Response> {
  return updatePart(scope, 'main');
}

export async function updatePart(scope: RequestScope, part: Part): Promise<Response> {
  const options = writeOptions(scope, 'UpdateOptions');
  const wanted = await readObjectBody(scope, options);
  const change = () => changeObject(scope, { part, options, change: () => deepCopy(wanted) });
  if (part !== 'main' || !scope.definition.strategy.createsOnUpdate) return change();
  return changeOrCreate(change, () => createInstead(scope, { object: deepCopy(wanted), options }));
}
