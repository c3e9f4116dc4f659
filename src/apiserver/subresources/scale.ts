/** `/scale`: the replica count of a workload of any kind as an autoscaling/v1 Scale. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { invalidCause } from '../../apimachinery/field-error.ts';
import { requiredType } from '../../apimachinery/field-types.ts';
import { applied } from '../../apimachinery/managed-fields/applied.ts';
import type { TypeVersion, Versions } from '../../apimachinery/managed-fields/ownership.ts';
import { scaleManagers, scaleVersion, withScaleManagers } from '../../apimachinery/managed-fields/scale.ts';
import { managersOf } from '../../apimachinery/managed-fields/tracking.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import { patchTypes } from '../../apimachinery/patch.ts';
import { apiVersionOf, type ScaleMapping } from '../../apimachinery/resource-definition.ts';
import { newBadRequest, newInternalError, newInvalid } from '../../apimachinery/status-error.ts';
import { rfc3339 } from '../../base/clock.ts';
import { respondOther } from '../encoding/answer.ts';
import { entriesIn, setApplied } from '../registry/field-ownership.ts';
import { updateObject } from '../registry/update.ts';
import type { RequestScope } from '../request/request-scope.ts';
import { readConfiguration } from '../verbs/apply-body.ts';
import { applyRefusal } from '../verbs/apply-refusal.ts';
import { readObject } from '../verbs/get.ts';
import { patchValue, readPatchBody } from '../verbs/patch-body.ts';
import { applyOptions, patchOptions } from '../verbs/patch-options.ts';
import { asKind, mediaType, objectField, readKind, stringField } from '../verbs/read-body.ts';
import { type WriteOptions, writeOptions } from '../write-options.ts';

const scaleTypeOf = ({ server }: RequestScope) => requiredType(server.fields, 'autoscaling.v1.Scale');

function mappingOf(scope: RequestScope): ScaleMapping<KubeObject> {
  const { scale, plural } = scope.definition;
  if (!scale) throw newInternalError(`${plural} have no scale`);
  return scale;
}

function scaleOf(mapping: ScaleMapping<KubeObject>, object: KubeObject): JsonObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  return {
    kind: 'Scale',
    apiVersion: scaleVersion,
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: { replicas: mapping.getReplicas(object) },
    status: { replicas: mapping.statusReplicas(object), selector: mapping.selector(object) },
  };
}

export async function getScale(scope: RequestScope): Promise<Response> {
  const { object } = await readObject(scope);
  return respondOther(scope, 200, scaleOf(mappingOf(scope), object));
}

export async function putScale(scope: RequestScope): Promise<Response> {
  const options = writeOptions(scope, 'UpdateOptions');
  const wanted = await readKind(scope, 'autoscaling.v1.Scale');
  return writeScale(scope, options, () => wanted);
}

export async function patchScale(scope: RequestScope): Promise<Response> {
  if (mediaType(scope.request) === patchTypes.apply) return applyScale(scope);
  const options = patchOptions(scope);
  const scaleType = scaleTypeOf(scope);
  const patch = await readPatchBody(scope, scaleType);
  return writeScale(scope, options, (current) => patchValue(patch, current, scaleType));
}

async function applyScale(scope: RequestScope): Promise<Response> {
  const options = applyOptions(scope);
  const { server, info, served } = scope;
  const type = scaleTypeOf(scope);
  const version: TypeVersion = { apiVersion: scaleVersion, shape: { kind: 'fields', type }, ...sameVersion };
  const versions: Versions = (apiVersion) => (apiVersion === scaleVersion ? version : undefined);
  const typed = { group: 'autoscaling', version: 'v1', kind: 'Scale', type };
  const configuration = await readConfiguration(scope, typed, options.validation);
  const { force, fieldManager: manager } = options;
  const { subresource } = info;
  return writeScale(
    scope,
    options,
    async (current, object) => {
      const owners = managersOf(entriesIn(object));
      const empty = { kind: 'Scale', apiVersion: scaleVersion, metadata: {} };
      const write = {
        manager,
        force,
        subresource,
        apiVersion: scaleVersion,
        now: rfc3339(server.clock.now()),
      };
      try {
        const steps = applied(current, configuration.value, scaleManagers(owners), write, versions, empty);
        const scaled = await scope.work.through(steps);
        setApplied(object, withScaleManagers(owners, scaled.managers, apiVersionOf(served)));
        return scaled.object;
      } catch (error) {
        throw applyRefusal(error, configuration);
      }
    },
    'applied',
  );
}

const sameVersion = { convert: (object: unknown) => object, revert: (object: unknown) => object };

/**
 * Writes a Scale. `change` derives the new Scale from the current one; it may change the object's managers.
 */
async function writeScale(
  scope: RequestScope,
  options: WriteOptions,
  change: (current: JsonObject, object: KubeObject) => unknown,
  owners?: 'applied',
): Promise<Response> {
  const { server, definition, info } = scope;
  const mapping = mappingOf(scope);
  const { object } = await updateObject(server, {
    definition,
    namespace: info.namespace,
    name: info.name,
    part: 'main',
    subresource: 'scale',
    options,
    ...(owners && { owners }),
    view: {
      show: (shown) => scaleOf(mapping, shown),
      take: (target, shown) =>
        mapping.setReplicas(target, replicasOf(asKind(shown, 'Scale', scaleVersion), info.name)),
    },
    async change(current) {
      const scale = asKind(await change(scaleOf(mapping, current), current), 'Scale', scaleVersion);
      const metadata = objectField(scale, 'metadata');
      mapping.setReplicas(current, replicasOf(scale, info.name));
      // Identity and resourceVersion in the Scale are compared as in any update.
      for (const field of ['name', 'namespace', 'uid', 'resourceVersion'] as const) {
        const sent = stringField(metadata, field);
        if (sent) current.metadata[field] = sent;
      }
      return current;
    },
  });
  return respondOther(scope, 200, scaleOf(mapping, object));
}

function replicasOf(scale: JsonObject, name: string): number {
  const replicas = objectField(scale, 'spec').replicas ?? 0;
  // A 32-bit integer: clients cannot decode a list that contains a greater number.
  if (typeof replicas !== 'number' || (replicas | 0) !== replicas)
    throw newBadRequest(`spec.replicas must be an integer of 32 bits, not ${JSON.stringify(replicas)}`);
  if (replicas >= 0) return replicas;
  throw newInvalid({ group: 'autoscaling', kind: 'Scale' }, name, [
    invalidCause('spec.replicas', replicas, 'must be greater than or equal to 0'),
  ]);
}
