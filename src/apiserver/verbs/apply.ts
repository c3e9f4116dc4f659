/** PATCH that applies a configuration: server-side apply (docs/decisions/0035-server-side-apply.md). */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { type AppliedObject, applied } from '../../apimachinery/managed-fields/applied.ts';
import { managersOf } from '../../apimachinery/managed-fields/tracking.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import { checkGrowth } from '../../apimachinery/patch.ts';
import { apiVersionOf } from '../../apimachinery/resource-definition.ts';
import { objectTypeOf } from '../../apimachinery/schema-types.ts';
import { asServed } from '../../apimachinery/served-version.ts';
import { newBadRequest } from '../../apimachinery/status-error.ts';
import { rfc3339 } from '../../base/clock.ts';
import { entriesIn, setApplied, unowned } from '../registry/field-ownership.ts';
import type { Part } from '../registry/preparation.ts';
import { withVersions } from '../registry/type-versions.ts';
import type { RequestScope } from '../request/request-scope.ts';
import { type Configuration, readConfiguration } from './apply-body.ts';
import { applyRefusal } from './apply-refusal.ts';
import { changeObject } from './change-object.ts';
import { changeOrCreate, createInstead } from './create-instead.ts';
import { changedObject } from './patch-body.ts';
import { type ApplyOptions, applyOptions } from './patch-options.ts';

/** Applies to the object, and creates it if it does not exist; a part of an object is only changed. */
export async function applyPart(scope: RequestScope, part: Part): Promise<Response> {
  const options = applyOptions(scope);
  const { served, server } = scope;
  const ref = { ...served, type: objectTypeOf(served, server.fields) };
  const configuration = await readConfiguration(scope, ref, options.validation);
  const change = () =>
    changeObject(scope, {
      part,
      options,
      owners: 'applied',
      change: (current) => appliedTo(scope, configuration, options, current),
    });
  if (part !== 'main') return change();
  return changeOrCreate(change, async () => {
    const object = await appliedTo(scope, configuration, options, undefined);
    requireName(object, scope);
    return createInstead(scope, { object, options, isOwned: true });
  });
}

/**
 * Returns the result of applying to `current`, with its managers; `current` is undefined if the object does
 * not exist.
 */
async function appliedTo(
  scope: RequestScope,
  configuration: Configuration,
  options: ApplyOptions,
  current: KubeObject | undefined,
): Promise<KubeObject> {
  const { served, work } = scope;
  const empty = { apiVersion: apiVersionOf(served), kind: served.kind, metadata: {} };
  const live = current ? (unowned(asServed(served, current)) as unknown as JsonObject) : empty;
  await work.pause();
  const { object, managers } = await merged(scope, live, configuration, options, current, empty);
  await work.pause();
  checkGrowth(live, object);
  const changed = await changedObject(scope, current && live, object, options.validation);
  setApplied(changed, managers);
  await work.pause();
  return changed;
}

async function merged(
  { server, definition, info, served, work }: RequestScope,
  live: JsonObject,
  configuration: Configuration,
  { fieldManager: manager, force }: ApplyOptions,
  current: KubeObject | undefined,
  empty: JsonObject,
): Promise<AppliedObject> {
  const { subresource } = info;
  const now = rfc3339(server.clock.now());
  const write = { manager, apiVersion: apiVersionOf(served), subresource, now, force };
  try {
    const before = managersOf(entriesIn(current));
    return await withVersions(server, definition, subresource, (versions) =>
      work.through(applied(live, configuration.value, before, write, versions, empty)),
    );
  } catch (error) {
    throw applyRefusal(error, configuration);
  }
}

/** Throws 400 for an object without a name. An existing object always has one. */
function requireName({ metadata }: KubeObject, { info }: RequestScope): void {
  if (metadata.name) return;
  const why = 'name must be provided';
  throw newBadRequest(`the name of the object (${info.name} based on URL) was undeterminable: ${why}`);
}
