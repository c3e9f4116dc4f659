/** PUT of an object or of its status. */
import { deepCopy } from '../../apimachinery/equality.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import type { Part } from '../registry/preparation.ts';
import type { RequestScope } from '../request/request-scope.ts';
import { type WriteOptions, writeOptions } from '../write-options.ts';
import { changeObject } from './change-object.ts';
import { changeOrCreate, createInstead } from './create-instead.ts';
import { readObjectBody } from './read-body.ts';

export async function update(scope: RequestScope): Promise<Response> {
  return updatePart(scope, 'main');
}

export async function updatePart(scope: RequestScope, part: Part): Promise<Response> {
  const options = writeOptions(scope, 'UpdateOptions');
  if (part === 'status') return updateStatus(scope, options);
  const wanted = await readObjectBody(scope, options);
  const change = () => changeObject(scope, { part, options, change: () => deepCopy(wanted) });
  if (part !== 'main' || !scope.definition.strategy.createsOnUpdate) return change();
  return changeOrCreate(change, () => createInstead(scope, { object: deepCopy(wanted), options }));
}

const ofStatus = (path: string) => /^(metadata|status)\b/.test(path);

/**
 * Updates the status. Clients send objects in which only metadata and status are meaningful; all other fields
 * stay as they are stored.
 */
async function updateStatus(scope: RequestScope, options: WriteOptions): Promise<Response> {
  const { metadata, status } = withStatus(await readObjectBody(scope, options, { judges: ofStatus }));
  const change = (current: KubeObject) => {
    const { status: _, ...desired } = withStatus(current);
    return { ...deepCopy(desired), ...deepCopy({ metadata, ...(status !== undefined && { status }) }) };
  };
  return changeObject(scope, { part: 'status', options, change });
}

const withStatus = (object: KubeObject) => object as KubeObject & { status?: unknown };
