import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import {
  fieldsTreated,
  ordinaryValues,
  podFields,
  type Treatment,
  treatmentOf,
  treatments,
} from '../../../../../../src/api/core/v1/pod/fields.ts';
import type { PodSpec } from '../../../../../../src/api/core/v1/types.gen.ts';
import { kubernetesFields } from '../../../../../../src/api/field-table.ts';
import type { FieldType, ObjectType } from '../../../../../../src/apimachinery/field-types.ts';

const page = join(import.meta.dirname, '../../../../../../docs/pod-fields.md');

const typeNamed = (name: string): ObjectType =>
  kubernetesFields.typeOf(name) ?? assert.fail(`no type ${name} in the table of types`);

const objectIn = (type: FieldType): ObjectType | undefined =>
  type.kind === 'object' ? type.object : type.kind === 'list' ? objectIn(type.items) : undefined;

const classesOf = (type: string, field: string): Treatment[] =>
  (Object.keys(treatments) as Treatment[]).filter((treatment) =>
    (podFields[type]?.[treatment] ?? '').split(' ').includes(field),
  );

/** Returns the types of a pod's specification with a field inside that minik8s acts on. */
function reached(type: ObjectType, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(type.name)) return seen;
  seen.add(type.name);
  for (const field of type.fields.values()) {
    const inner = objectIn(field.type);
    if (inner && treatmentOf(type.name, field.name) === 'honoured') reached(inner, seen);
  }
  return seen;
}

describe('the support of the fields of a pod', () => {
  it('has each field of Kubernetes exactly once', () => {
    const wrong = [...reached(typeNamed('core.v1.PodSpec'))].flatMap((type) =>
      [...typeNamed(type).fields.keys()]
        .map((field) => ({ field: `${type}.${field}`, classes: classesOf(type, field) }))
        .filter(({ classes }) => classes.length !== 1),
    );
    assert.deepEqual(wrong, []);
  });

  it('is what docs/pod-fields.md shows', () => {
    const kinds = (Object.keys(treatments) as Treatment[]).map((name) => `- ${name}: ${treatments[name]}`);
    const lines = [...reached(typeNamed('core.v1.PodSpec'))].flatMap((type) => [
      `**${type.replace('core.v1.', '')}**`,
      '',
      ...(Object.keys(treatments) as Treatment[]).flatMap((treatment) => {
        const names = (podFields[type]?.[treatment] ?? '').split(' ').filter((name) => name !== '');
        if (names.length === 0) return [];
        const shown = names.map((name) => {
          const ordinary = ordinaryValues[`${type}.${name}`];
          return ordinary ? `${name} (other than ${ordinary.join(', ')})` : name;
        });
        return [`- ${treatment}: ${shown.join(', ')}`];
      }),
      '',
    ]);
    const text = readFileSync(page, 'utf8');
    for (const shown of [kinds.join('\n'), lines.join('\n').trimEnd()])
      assert.ok(text.includes(shown), `docs/pod-fields.md does not show:\n\n${shown}\n`);
    assert.ok(text.endsWith(`${lines.join('\n').trimEnd()}\n`), 'docs/pod-fields.md shows more fields');
  });
});

describe('fieldsTreated', () => {
  const spec = (more: object) => ({ containers: [{ name: 'a', image: 'b' }], ...more }) as unknown as PodSpec;
  const cases: readonly (readonly [string, object, Treatment, readonly string[]])[] = [
    ['no unset field', {}, 'held', []],
    ['init containers', { initContainers: [{ name: 'i', restartPolicy: 'Always' }] }, 'held', []],
    [
      'a field of one of several containers',
      { initContainers: [{ name: 'i', restartPolicyRules: [{ action: 'Restart' }] }] },
      'held',
      ['spec.initContainers[0].restartPolicyRules'],
    ],
    ['an empty list', { initContainers: [], containers: [{ name: 'a', lifecycle: {} }] }, 'held', []],
    [
      'a hook of a container',
      { containers: [{ name: 'a', lifecycle: { preStop: { httpGet: { port: 1, protocol: 'HTTP2' } } } }] },
      'held',
      ['spec.containers[0].lifecycle.preStop.httpGet.protocol'],
    ],
    ['a user namespace of its own', { hostUsers: false }, 'held', ['spec.hostUsers']],
    ['the usual user namespace', { hostUsers: true }, 'held', []],
    ['another system', { os: { name: 'windows' } }, 'held', ['spec.os.name']],
    ['this system', { os: { name: 'linux' } }, 'held', []],
    [
      'a seccomp profile of the machine',
      { securityContext: { seccompProfile: { type: 'Localhost', localhostProfile: 'a.json' } } },
      'held',
      [],
    ],
    [
      'the engine’s own seccomp profile',
      { securityContext: { seccompProfile: { type: 'RuntimeDefault' } } },
      'held',
      [],
    ],
    ['a volume without settings', { volumes: [{ name: 'v', csi: {} }] }, 'held', ['spec.volumes[0].csi']],
    ['a volume with a supported source', { volumes: [{ name: 'v', emptyDir: {} }] }, 'held', []],
    ['an unknown field', { neverHeardOf: 1 }, 'held', ['spec.neverHeardOf']],
    [
      'pods that must be near',
      {
        affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'a' }] } },
      },
      'held',
      [],
    ],
    [
      'a required spread constraint',
      { topologySpreadConstraints: [{ whenUnsatisfiable: 'DoNotSchedule' }] },
      'held',
      [],
    ],
  ];
  for (const [name, more, treatment, expected] of cases) {
    it(`finds: ${name}`, () => assert.deepEqual(fieldsTreated(spec(more), treatment), expected));
  }
});
