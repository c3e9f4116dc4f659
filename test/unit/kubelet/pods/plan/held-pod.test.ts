import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { holdOf, holdOfEphemeral } from '../../../../../src/kubelet/pods/plan/held-pod.ts';
import { makePod } from '../../builders.ts';

const begins = 'the pod is not started: minik8s does not support these fields yet: ';
const main = (securityContext: object) => ({ containers: [{ name: 'main', image: 'a', securityContext }] });
const engine = { canMountImages: true };
const localhost = { type: 'Localhost', localhostProfile: 'mine' };

describe('a pod', () => {
  for (const [what, pod, fields] of [
    ['for an unsupported field', makePod({ resourceClaims: [{ name: 'a' }] }), 'spec.resourceClaims'],
    [
      'for a user namespace',
      makePod({ hostUsers: false }),
      'spec.hostUsers (Docker maps the users of all containers or of none)',
    ],
    [
      'for an unmasked /proc',
      makePod(main({ procMount: 'Unmasked' })),
      'spec.containers[0].securityContext.procMount',
    ],
    [
      'for supplementalGroupsPolicy Strict without a group, which the engine cannot apply',
      makePod({ securityContext: { supplementalGroupsPolicy: 'Strict' } }),
      'spec.securityContext.supplementalGroupsPolicy (Strict without runAsGroup)',
    ],
    [
      'for supplementalGroupsPolicy Strict with an init container without a security context',
      makePod({
        ...main({ runAsGroup: 5 }),
        initContainers: [{ name: 'i', image: 'a' }],
        securityContext: { supplementalGroupsPolicy: 'Strict' },
      }),
      'spec.securityContext.supplementalGroupsPolicy (Strict without runAsGroup)',
    ],
  ] as const)
    it(`is held ${what}`, () =>
      assert.deepEqual(holdOf(pod, engine), { reason: 'NotSupported', message: `${begins}${fields}` }));

  it('is held with a message that names all unsupported fields', () => {
    const { message } = holdOf(makePod({ hostUsers: false, resourceClaims: [{ name: 'a' }] }), engine) ?? {};
    assert.match(message ?? '', /spec\.hostUsers \(.*\), spec\.resourceClaims$/);
  });

  for (const [what, pod] of [
    ['ordinary fields', makePod()],
    ['localhost profiles', makePod(main({ seccompProfile: localhost, appArmorProfile: localhost }))],
    ['the default /proc mount', makePod(main({ procMount: 'Default' }))],
    [
      'a sysctl',
      makePod({ securityContext: { sysctls: [{ name: 'net.ipv4.tcp_syncookies', value: '1' }] } }),
    ],
    ['supplementalGroupsPolicy Merge', makePod({ securityContext: { supplementalGroupsPolicy: 'Merge' } })],
    [
      'supplementalGroupsPolicy Strict with a group of the pod',
      makePod({ securityContext: { supplementalGroupsPolicy: 'Strict', runAsGroup: 0 } }),
    ],
    [
      'supplementalGroupsPolicy Strict with a group of each container',
      makePod({ ...main({ runAsGroup: 5 }), securityContext: { supplementalGroupsPolicy: 'Strict' } }),
    ],
  ] as const)
    it(`is not held for ${what}`, () => assert.equal(holdOf(pod, engine), undefined));

  it('is held with one and the same message object for equal specifications', () => {
    const held = makePod({ hostUsers: false });
    assert.equal(holdOf(held, engine), holdOf({ ...held }, engine));
  });

  it('is held only as long as it has the field, also with equal metadata', () => {
    const held = makePod({ hostUsers: false });
    assert.ok(holdOf(held, engine));
    assert.equal(holdOf({ ...makePod(), metadata: held.metadata }, engine), undefined);
    assert.ok(holdOf(held, engine));
  });

  it('is held for image volumes as long as the engine cannot mount them', () => {
    const volumes = [
      { name: 'a', emptyDir: {} },
      { name: 'b', image: { reference: 'tools:1' } },
    ];
    const pod = makePod({ volumes });
    const message = `${begins}spec.volumes[1].image (needs Docker 28 or newer on the node)`;
    assert.deepEqual(holdOf(pod, { canMountImages: false }), { reason: 'NotSupported', message });
    assert.equal(holdOf(pod, engine), undefined);
    assert.ok(holdOf(pod, { canMountImages: false }));
    assert.equal(holdOf(makePod(), { canMountImages: false }), undefined);
  });
});

describe('an ephemeral container is held', () => {
  const hold = (policy: string, securityContext: object) => {
    const container = { name: 'e', image: 'a', securityContext };
    const pod = makePod({
      securityContext: { supplementalGroupsPolicy: policy },
      ...main({ runAsGroup: 5 }),
      ephemeralContainers: [container],
    });
    return [
      holdOf(pod, engine),
      holdOfEphemeral(pod, pod.spec.ephemeralContainers?.[0] ?? assert.fail())?.message,
    ];
  };
  it('for supplementalGroupsPolicy Strict without holding its pod', () => {
    const [ofPod, own] = hold('Strict', {});
    assert.equal(ofPod, undefined);
    assert.match(String(own), /^the container is not started: .*\(Strict without runAsGroup\)$/);
    assert.deepEqual(hold('Strict', { runAsGroup: 6 }), [undefined, undefined]);
    assert.deepEqual(hold('Merge', {}), [undefined, undefined]);
  });

  it('only for its own unsupported fields', () => {
    const tty = { name: 'plain', image: 'a' };
    const held = { name: 'held', image: 'a', securityContext: { procMount: 'Unmasked' } };
    for (const ephemeralContainers of [
      [tty, held],
      [held, tty],
    ]) {
      const pod = makePod({ ...main({}), ephemeralContainers });
      const holds = (pod.spec.ephemeralContainers ?? []).map((one) => [
        one.name,
        holdOfEphemeral(pod, one)?.message,
      ]);
      assert.equal(Object.fromEntries(holds).plain, undefined);
      assert.match(String(Object.fromEntries(holds).held), /procMount$/);
    }
  });
});
