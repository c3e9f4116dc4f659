/**
 * Each field that minik8s does not implement keeps its pod from starting, wherever the field is, and the
 * pod's status names it.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ordinaryValues, podFields, treatmentOf } from '../../../../../src/api/core/v1/pod/fields.ts';
import type { Pod } from '../../../../../src/api/core/v1/pod/pod.ts';
import { kubernetesFields } from '../../../../../src/api/field-table.ts';
import type { FieldType, ObjectType } from '../../../../../src/apimachinery/field-types.ts';
import { computePodActions } from '../../../../../src/kubelet/pods/plan/compute-pod-actions.ts';
import { computePodStatus } from '../../../../../src/kubelet/pods/plan/pod-status.ts';
import { makeMemory, makePod, now, observed } from '../../builders.ts';

type Wrap = (value: unknown) => object;
interface Place {
  readonly type: string;
  readonly path: string;
  readonly wrap: Wrap;
}

const typeNamed = (name: string): ObjectType => kubernetesFields.typeOf(name) ?? assert.fail(name);

/**
 * Returns the first place of each type below the specification, except fields that can only be added to a
 * running pod.
 */
function places(): readonly Place[] {
  const found: Place[] = [{ type: 'core.v1.PodSpec', path: 'spec', wrap: (value) => value as object }];
  for (const { type, path, wrap } of found) {
    for (const field of typeNamed(type).fields.values()) {
      const isList = field.type.kind === 'list';
      const inner = objectIn(field.type);
      const isKnown = found.some((one) => one.type === inner?.name);
      if (!inner || isKnown || treatmentOf(type, field.name) !== 'honoured') continue;
      if (field.name === 'ephemeralContainers') continue;
      const list = (value: unknown) => (isList ? [named(field.name, value)] : value);
      found.push({
        type: inner.name,
        path: `${path}.${field.name}${isList ? '[0]' : ''}`,
        wrap: (value) => wrap({ [field.name]: list(value) }),
      });
    }
  }
  return found;
}

const objectIn = (type: FieldType): ObjectType | undefined =>
  type.kind === 'object' ? type.object : type.kind === 'list' ? objectIn(type.items) : undefined;

const named = (field: string, value: unknown) =>
  field === 'containers' ? { name: 'main', image: 'app:1', ...(value as object) } : value;

/** Returns a value other than the one without effect. */
function unusual(type: string, field: string): unknown {
  const kind = typeNamed(type).fields.get(field)?.type.kind;
  if (ordinaryValues[`${type}.${field}`]?.includes(true)) return false;
  return kind === 'object' ? { name: 'x' } : kind === 'list' ? [{ name: 'x' }] : 'Unusual';
}

const rows = places().flatMap(({ type, path, wrap }) =>
  (podFields[type]?.held ?? '')
    .split(' ')
    .filter((field) => field !== '')
    .map((field) => ({ path: `${path}.${field}`, spec: wrap({ [field]: unusual(type, field) }) })),
);

function podWith(spec: object): Pod {
  const pod = makePod();
  return { ...pod, spec: { ...pod.spec, ...spec } };
}

describe('an unsupported field', () => {
  it('has a test below, unless only ephemeral containers have it', () => {
    const held = Object.entries(podFields).flatMap(([type, { held: names = '' }]) =>
      type === 'core.v1.EphemeralContainer' ? [] : names.split(' ').filter((name) => name !== ''),
    );
    assert.equal(rows.length, held.length);
    assert.ok(rows.length > 40);
  });

  for (const { path, spec } of rows) {
    it(`keeps its pod from starting, and is named in the status: ${path}`, () => {
      const pod = podWith(spec);
      const input = { pod, observed: observed(), memory: makeMemory(), now };
      assert.deepEqual(computePodActions(input).actions, []);
      const { containerStatuses, initContainerStatuses, conditions } = computePodStatus({
        ...input,
        nodeIP: '192.0.2.1',
      });
      const [first] = [...(initContainerStatuses ?? []), ...(containerStatuses ?? [])];
      assert.equal(first?.state?.waiting?.reason, 'NotSupported');
      assert.ok(first?.state?.waiting?.message?.includes(path));
      const sandbox = conditions?.find(({ type }) => type === 'PodReadyToStartContainers');
      assert.equal(sandbox?.message, first?.state?.waiting?.message);
    });
  }
});
