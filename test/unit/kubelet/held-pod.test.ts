import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { holdOf, unusedProbes } from '../../../src/kubelet/plan/held-pod.ts';
import { makePod } from './builders.ts';

const begins = 'the pod is not started: minik8s does not support these fields yet: ';
const appArmor = (container: string, profile: string) => ({
  annotations: { [`container.apparmor.security.beta.kubernetes.io/${container}`]: profile },
});
const sysctl = (name: string) => ({ securityContext: { sysctls: [{ name, value: '1' }] } });

describe('a pod is held', () => {
  for (const [what, pod, fields] of [
    ['for a field', makePod({ hostUsers: false }), 'spec.hostUsers'],
    [
      'for a profile by the older annotation',
      makePod({}, appArmor('main', 'localhost/mine')),
      'metadata.annotations[container.apparmor.security.beta.kubernetes.io/main]',
    ],
    [
      'for a sysctl that is not safe, though only an earlier agent took the pod',
      makePod(sysctl('kernel.msgmax')),
      'spec.securityContext.sysctls',
    ],
  ] as const)
    it(what, () => assert.deepEqual(holdOf(pod), { reason: 'NotSupported', message: `${begins}${fields}` }));

  it('for all of them together', () => {
    const { message } = holdOf(makePod({ hostUsers: false, ...sysctl('kernel.msgmax') })) ?? {};
    assert.match(message ?? '', /spec\.hostUsers, spec\.securityContext\.sysctls$/);
  });

  for (const [what, pod] of [
    ['a plain one', makePod()],
    ['the profile of the runtime', makePod({}, appArmor('main', 'runtime/default'))],
    ['no profile', makePod({}, appArmor('main', 'unconfined'))],
    ['a profile for a container that it does not have', makePod({}, appArmor('other', 'localhost/mine'))],
    ['a sysctl that is safe', makePod(sysctl('net.ipv4.tcp_syncookies'))],
  ] as const)
    it(`but not ${what}`, () => assert.equal(holdOf(pod), undefined));

  it('by one answer for each version of it, however often it is asked', () => {
    const held = makePod({ hostUsers: false });
    assert.equal(holdOf(held), holdOf({ ...held }));
  });

  it('no longer than it asks for it, also by the same metadata', () => {
    const held = makePod({ hostUsers: false });
    assert.ok(holdOf(held));
    assert.equal(holdOf({ ...makePod(), metadata: held.metadata }), undefined);
    assert.ok(holdOf(held));
  });
});

describe('of probes is told', () => {
  const probe = { tcpSocket: { port: 80 } };
  const withContainer = (more: object) => makePod({ containers: [{ name: 'main', image: 'a', ...more }] });
  it('which there are', () => {
    const message = unusedProbes(withContainer({ readinessProbe: probe, livenessProbe: probe }));
    assert.match(message ?? '', /^probes are not run yet: .*spec\.containers\[0\]\.livenessProbe/);
    assert.match(message ?? '', /spec\.containers\[0\]\.readinessProbe/);
  });
  it('nothing where there are none, whatever else is passed over', () => {
    assert.equal(unusedProbes(makePod()), undefined);
    assert.equal(
      unusedProbes(makePod({ imagePullSecrets: [{ name: 'x' }], preemptionPolicy: 'Never' })),
      undefined,
    );
  });
});
