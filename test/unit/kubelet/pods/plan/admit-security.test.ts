import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseUnsafeSysctls } from '../../../../../src/kubelet/containers/plan/sysctls.ts';
import { securityRefusal } from '../../../../../src/kubelet/pods/plan/admit-security.ts';
import { makePod } from '../../builders.ts';

const asks = (type: string) => ({ appArmorProfile: { type } });
const container = (securityContext?: object) => ({ name: 'main', image: 'a', securityContext });

describe('a node without AppArmor', () => {
  const refused = (spec: object, hasAppArmor = false) =>
    securityRefusal(makePod(spec), { hasAppArmor, unsafeSysctls: [] });

  for (const type of ['RuntimeDefault', 'Localhost'])
    for (const [who, spec] of [
      ['a pod', { securityContext: asks(type) }],
      ['a container', { containers: [container(asks(type))] }],
      ['an init container', { containers: [container()], initContainers: [container(asks(type))] }],
    ] as const)
      it(`rejects ${who} with ${type}`, () => {
        assert.deepEqual(refused(spec), {
          reason: 'AppArmor',
          message: 'Pod was rejected: Cannot enforce AppArmor: AppArmor is not enabled on the host',
          gracePeriodSeconds: 0,
          disruption: false,
        });
        assert.equal(refused(spec, true), undefined, 'a node with AppArmor admits it');
      });

  it('admits a pod without a profile', () => {
    assert.equal(refused({}), undefined);
    assert.equal(refused({ securityContext: asks('Unconfined') }), undefined);
  });
});

describe('sysctls', () => {
  const pod = makePod({ securityContext: { sysctls: [{ name: 'kernel.msgmax', value: '1' }] } });
  it('reject a pod unless they are allowed', () => {
    const node = (allowed: string) => ({ hasAppArmor: false, unsafeSysctls: parseUnsafeSysctls(allowed) });
    assert.equal(securityRefusal(pod, node(''))?.reason, 'SysctlForbidden');
    assert.equal(securityRefusal(pod, node('kernel.msg*')), undefined);
  });
});
