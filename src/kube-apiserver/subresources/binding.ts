/** POST pods/NAME/binding: the scheduler's decision. A pod is bound once. */
import { type Pod, podResource } from '../../api/core/v1/pod/pod.ts';
import type { JsonObject } from '../../apimachinery/equality.ts';
import { requiredCause } from '../../apimachinery/field-error.ts';
import { newBadRequest, newConflict, newInvalid, newStatusError } from '../../apimachinery/status-error.ts';
import { respondOther } from '../../apiserver/encoding/answer.ts';
import { checkPreconditions, conditionsOf } from '../../apiserver/registry/object-meta.ts';
import { updateObject } from '../../apiserver/registry/update.ts';
import type { RequestScope } from '../../apiserver/request/request-scope.ts';
import { objectField, readKind, stringField } from '../../apiserver/verbs/read-body.ts';
import { writeOptions } from '../../apiserver/write-options.ts';
import { rfc3339 } from '../../base/clock.ts';
import { reviewBody } from './review.ts';

type Condition = NonNullable<NonNullable<Pod['status']>['conditions']>[number];

export async function bindPod(scope: RequestScope): Promise<Response> {
  const options = writeOptions(scope, 'CreateOptions');
  const binding = await readKind(scope, 'core.v1.Binding');
  const { server, info } = scope;
  const target = objectField(binding, 'target');
  const node = stringField(target, 'name');
  const kind = stringField(target, 'kind');
  const metadata = objectField(binding, 'metadata');
  const conditions = conditionsOf({
    uid: stringField(metadata, 'uid'),
    resourceVersion: stringField(metadata, 'resourceVersion'),
  });
  const annotations = annotationsOf(metadata);
  const named = stringField(metadata, 'name');
  if (named && named !== info.name) throw newBadRequest('name in URL does not match name in Binding object');
  if (!node) throw invalidBinding(info.name, 'target.name');
  if (kind && kind !== 'Node') {
    throw newInvalid({ group: '', kind: 'Binding' }, info.name, [
      {
        reason: 'FieldValueNotSupported',
        field: 'target.kind',
        message: `Unsupported value: ${JSON.stringify(kind)}: supported values: "Node", "<empty>"`,
      },
    ]);
  }
  await reviewBody(scope, options, { apiVersion: 'v1', kind: 'Binding', ...binding });
  await updateObject(server, {
    definition: podResource,
    namespace: info.namespace,
    name: info.name,
    part: 'binding',
    subresource: 'binding',
    options,
    // The scheduler owns no field of the pod, as upstream.
    owners: 'kept',
    isStep: true,
    change(current) {
      checkPreconditions(podResource, current, conditions);
      if (annotations) current.metadata.annotations = { ...current.metadata.annotations, ...annotations };
      return assign(current as Pod, node, rfc3339(server.clock.now()));
    },
  });
  const done = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };
  return respondOther(scope, 201, done);
}

/** Returns the annotations; undefined if there are none. Throws 400 unless they are a map of strings. */
function annotationsOf(metadata: JsonObject): Record<string, string> | undefined {
  if (metadata.annotations === undefined) return undefined;
  const annotations = Object.entries(objectField(metadata, 'annotations'));
  if (annotations.every((pair): pair is [string, string] => typeof pair[1] === 'string'))
    return Object.fromEntries(annotations);
  throw newBadRequest('metadata.annotations must be texts');
}

const invalidBinding = (name: string, field: string) =>
  newInvalid({ group: '', kind: 'Binding' }, name, [requiredCause(field)]);

function assign(pod: Pod, node: string, now: string): Pod {
  const { name } = pod.metadata;
  if (pod.metadata.deletionTimestamp) {
    throw newConflict(
      { group: '', plural: 'pods/binding' },
      name,
      `pod ${name} is being deleted, cannot be assigned to a host`,
    );
  }
  if (pod.spec.nodeName) {
    throw newConflict(
      { group: '', plural: 'pods/binding' },
      name,
      `pod ${name} is already assigned to node ${JSON.stringify(pod.spec.nodeName)}`,
    );
  }
  if (pod.spec.schedulingGates?.length) {
    throw newStatusError('Conflict', `pod ${name} has non-empty .spec.schedulingGates`);
  }
  pod.spec.nodeName = node;
  const scheduled: Condition = { type: 'PodScheduled', status: 'True', lastTransitionTime: now };
  const others = (pod.status?.conditions ?? []).filter((condition) => condition.type !== 'PodScheduled');
  pod.status = { ...pod.status, conditions: [...others, scheduled] };
  return pod;
}
