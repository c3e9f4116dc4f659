/** Containers that may be added to a running pod; those that were added before must not change. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  ephemeralContainersPart,
  findContainer,
  withoutEphemeralContainers,
} from '../../../../../../src/api/core/v1/container/ephemeral-containers.ts';
import { mirrorAnnotation } from '../../../../../../src/api/core/v1/pod/annotations.ts';
import type { Pod } from '../../../../../../src/api/core/v1/pod/pod.ts';
import type { EphemeralContainer } from '../../../../../../src/api/core/v1/types.gen.ts';
import { container, pod } from '../../../../controllers/objects.ts';

const look = container({ name: 'look' }) as EphemeralContainer;
const withAdded = (...ephemeralContainers: EphemeralContainer[]): Pod =>
  pod('p', {
    spec: {
      initContainers: [container({ name: 'step' })],
      volumes: [{ name: 'v', emptyDir: {} }],
      ephemeralContainers,
    },
  });
const refused = (now: Pod, old: Pod = withAdded()) =>
  (ephemeralContainersPart.validate?.(now, old) ?? []).map(({ field, message }) => `${field}: ${message}`);

const e0 = 'spec.ephemeralContainers[0]';
const cannotBeSet = 'Forbidden: cannot be set for an Ephemeral Container';
const probe = { tcpSocket: { port: 80 } };

describe('a container is added', () => {
  const mounting = (mount: object) => ({ ...look, volumeMounts: [{ name: 'v', mountPath: '/v', ...mount }] });
  const table: [string, object, string[]][] = [
    ['by its name and image', look, []],
    ['with another container as its target', { ...look, targetContainerName: 'app' }, []],
    ['with an init container as its target', { ...look, targetContainerName: 'step' }, []],
    ['with empty fields', { ...look, targetContainerName: '', ports: [], resources: {} }, []],
    ['with a volume', mounting({}), []],
    [
      'not with the name of another container',
      { ...look, name: 'app' },
      [`${e0}.name: Duplicate value: "app"`],
    ],
    [
      'not with the name of an init container',
      { ...look, name: 'step' },
      [`${e0}.name: Duplicate value: "step"`],
    ],
    ['not without a name', { ...look, name: '' }, [`${e0}.name: Required value`]],
    [
      'not with an unknown target container',
      { ...look, targetContainerName: 'no' },
      [`${e0}.targetContainerName: Not found: "no"`],
    ],
    [
      'not with itself as the target container',
      { ...look, targetContainerName: 'look' },
      [`${e0}.targetContainerName: Not found: "look"`],
    ],
    ['not with a subPath', mounting({ subPath: 'a' }), [`${e0}.volumeMounts[0].subPath: ${cannotBeSet}`]],
    [
      'not with a subPathExpr',
      mounting({ subPathExpr: '$(A)' }),
      [`${e0}.volumeMounts[0].subPathExpr: ${cannotBeSet}`],
    ],
    [
      'not with a volume that does not exist',
      mounting({ name: 'w' }),
      [`${e0}.volumeMounts[0].name: Not found: "w"`],
    ],
    ...(
      [
        ['ports', [{ containerPort: 80, protocol: 'TCP' }]],
        ['resources', { requests: { cpu: '1' } }],
        ['resizePolicy', [{ resourceName: 'cpu', restartPolicy: 'NotRequired' }]],
        ['restartPolicy', 'Always'],
        ['livenessProbe', probe],
        ['readinessProbe', probe],
        ['startupProbe', probe],
        ['lifecycle', { preStop: { exec: { command: ['a'] } } }],
      ] as const
    ).map(([field, value]): [string, object, string[]] => [
      `nor with ${field}`,
      { ...look, [field]: value },
      [`${e0}.${field}: ${cannotBeSet}`],
    ]),
  ];
  for (const [what, added, expected] of table)
    it(what, () => {
      const found = refused(withAdded(added as EphemeralContainer));
      for (const text of expected) assert.ok(found.includes(text), found.join('\n'));
      assert.equal(found.length > 0, expected.length > 0, found.join('\n'));
    });

  it('only beside containers with other names', () => {
    assert.deepEqual(refused(withAdded(look, { ...look, name: 'more' })), []);
    assert.deepEqual(refused(withAdded(look, look)), [
      'spec.ephemeralContainers[1].name: Duplicate value: "look"',
    ]);
  });

  it('not to a static pod of a node', () => {
    const mirror = pod('p', { metadata: { annotations: { [mirrorAnnotation]: 'x' } } });
    assert.deepEqual(refused(withAdded(look), mirror), [
      ': Forbidden: static pods do not support ephemeral containers',
    ]);
  });

  it('after the creation of its pod, and not with it', () => {
    assert.deepEqual(withoutEphemeralContainers(withAdded()), []);
    assert.deepEqual(
      withoutEphemeralContainers(withAdded(look)).map(({ field }) => field),
      ['spec.ephemeralContainers'],
    );
  });

  it('with a name by which it is found, as other containers are', () => {
    const { spec } = withAdded(look);
    for (const name of ['app', 'step', 'look']) assert.equal(findContainer(spec, name)?.name, name);
    assert.equal(findContainer(spec, 'none'), undefined);
  });
});

describe('a container that was added', () => {
  const more = { ...look, name: 'more' };
  const may = (name: string, what: string) =>
    `spec.ephemeralContainers: Forbidden: existing ephemeral containers "${name}" may not be ${what}`;
  const table: [string, EphemeralContainer[], string[]][] = [
    ['may stay, at any position', [more, look], []],
    ['may not be removed', [more], [may('look', 'removed')]],
    ['may not change', [look, { ...more, image: 'other' }], [may('more', 'changed')]],
    ['may not change while the others are removed', [], [may('look', 'removed'), may('more', 'removed')]],
  ];
  for (const [what, now, expected] of table)
    it(what, () => assert.deepEqual(refused(withAdded(...now), withAdded(look, more)), expected));
});
