import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  containerUser,
  nonRootProblem,
  seccompFileOf,
  securityOf,
} from '../../../../../src/kubelet/containers/plan/security.ts';
import { forbiddenSysctl } from '../../../../../src/kubelet/containers/plan/sysctls.ts';
import { missingConfinement } from '../../../../../src/kubelet/runtime/docker-config.ts';
import { plainSecurity } from '../../../../fixtures/container-config.ts';
import { makePod } from '../../builders.ts';

describe('the security of a container', () => {
  const user = (pod: object | undefined, container: object | undefined, image = '') => {
    const made = makePod({
      securityContext: pod,
      containers: [{ name: 'main', image: 'a', securityContext: container }],
    });
    const [wanted] = made.spec.containers;
    assert.ok(wanted);
    return containerUser(made, wanted, image);
  };
  it('has the user of the container, else that of the pod, else that of the image', () => {
    assert.equal(user({}, {}), undefined);
    assert.equal(user({ runAsUser: 5 }, {}), '5');
    assert.equal(user({ runAsUser: 5, runAsGroup: 6 }, { runAsUser: 0 }), '0:6');
    assert.equal(user({}, { runAsGroup: 7 }, 'www:staff'), 'www:7');
    assert.equal(user({}, { runAsGroup: 7 }, ':staff'), '0:7');
    assert.equal(user({}, { runAsGroup: 7 }), '0:7');
  });
  it('has no privileges without a security context', () => {
    const pod = makePod();
    const [plain] = pod.spec.containers;
    assert.ok(plain);
    assert.deepEqual(securityOf(pod, plain), plainSecurity);
  });
  it('has the SELinux options of the container instead of all those of the pod', () => {
    const { securityContext } = makePod({
      securityContext: { seLinuxOptions: { level: 's0', user: 'u' } },
    }).spec;
    const own = { name: 'main', image: 'a', securityContext: { seLinuxOptions: { type: 't' } } };
    const pod = makePod({ securityContext, containers: [own] });
    const [container] = pod.spec.containers;
    assert.ok(container);
    assert.deepEqual(securityOf(pod, container).seLinux, { type: 't' });
  });
  it('has no SELinux option that is empty', () => {
    const pod = makePod({ securityContext: { seLinuxOptions: { level: '', type: 't' } } });
    const [container] = pod.spec.containers;
    assert.ok(container);
    assert.deepEqual(securityOf(pod, container).seLinux, { type: 't' });
  });
  it('includes the process namespace of the pod only with shareProcessNamespace', () => {
    const processesOf = (spec: object) => {
      const pod = makePod(spec);
      const [container] = pod.spec.containers;
      assert.ok(container);
      return securityOf(pod, container).processes;
    };
    assert.equal(processesOf({ shareProcessNamespace: true }), 'pod');
    assert.equal(processesOf({ shareProcessNamespace: false, hostPID: false }), 'own');
  });
  it('includes every security setting of the pod and the container', () => {
    const pod = makePod(
      {
        hostPID: true,
        hostIPC: true,
        securityContext: {
          supplementalGroups: [7],
          fsGroup: 8,
          seccompProfile: { type: 'RuntimeDefault' },
          appArmorProfile: { type: 'Unconfined' },
          seLinuxOptions: { level: 's0', type: 'of_the_pod_t' },
          sysctls: [{ name: 'net/ipv4/tcp_syncookies', value: '0' }],
        },
        containers: [
          {
            name: 'main',
            image: 'a',
            securityContext: {
              readOnlyRootFilesystem: true,
              allowPrivilegeEscalation: false,
              capabilities: { add: ['NET_ADMIN'], drop: ['ALL'] },
            },
          },
        ],
      },
      {},
    );
    const [asking] = pod.spec.containers;
    assert.ok(asking);
    assert.deepEqual(securityOf(pod, asking), {
      privileged: false,
      readOnlyRootFilesystem: true,
      noNewPrivileges: true,
      addCapabilities: ['NET_ADMIN'],
      dropCapabilities: ['ALL'],
      groups: [7, 8],
      sysctls: { 'net.ipv4.tcp_syncookies': '0' },
      seccomp: 'RuntimeDefault',
      appArmor: 'Unconfined',
      seLinux: { level: 's0', type: 'of_the_pod_t' },
      processes: 'host',
      hostIPC: true,
    });
  });

  it('has the profiles of the container, else those of the pod', () => {
    const [strict, loose] = [{ type: 'RuntimeDefault' }, { type: 'Unconfined' }];
    const own = { type: 'Localhost', localhostProfile: 'mine' };
    const profiles = (ofPod: object | undefined, ofContainer: object | undefined) => {
      const both = (profile: object | undefined) =>
        profile && { seccompProfile: profile, appArmorProfile: profile };
      const container = { name: 'main', image: 'a', securityContext: both(ofContainer) };
      const pod = makePod({ securityContext: both(ofPod) ?? {}, containers: [container] });
      const [wanted] = pod.spec.containers;
      assert.ok(wanted);
      const { seccomp, appArmor } = securityOf(pod, wanted);
      return [seccomp, appArmor, seccompFileOf(pod, wanted)];
    };
    assert.deepEqual(profiles(loose, strict), ['RuntimeDefault', 'RuntimeDefault', undefined]);
    assert.deepEqual(profiles(strict, loose), ['Unconfined', 'Unconfined', undefined]);
    assert.deepEqual(profiles(strict, undefined), ['RuntimeDefault', 'RuntimeDefault', undefined]);
    assert.deepEqual(profiles(undefined, undefined), [undefined, undefined, undefined]);
    assert.deepEqual(profiles(strict, own), [undefined, { profile: 'mine' }, 'mine']);
    assert.deepEqual(profiles(own, undefined), [undefined, { profile: 'mine' }, 'mine']);
    assert.deepEqual(profiles(own, loose), ['Unconfined', 'Unconfined', undefined]);
  });

  const mustNotBeRoot = { runAsNonRoot: true };
  const end = '(pod: "web_shop(uid-1)", container: main)';
  const nonRoot: readonly (readonly [string, object, object, string, string | undefined])[] = [
    ['a container without the field', {}, {}, '', undefined],
    [
      'an image of root',
      mustNotBeRoot,
      {},
      '',
      `container has runAsNonRoot and image will run as root ${end}`,
    ],
    [
      'an image of user 00',
      {},
      mustNotBeRoot,
      '00:5',
      `container has runAsNonRoot and image will run as root ${end}`,
    ],
    ['an image of a user id', mustNotBeRoot, {}, '1000:0', undefined],
    [
      'an image of a user name',
      mustNotBeRoot,
      {},
      'www',
      `container has runAsNonRoot and image has non-numeric user (www), cannot verify user is non-root ${end}`,
    ],
    ['a user id of the pod', { ...mustNotBeRoot, runAsUser: 5 }, {}, 'www', undefined],
    [
      'root, by runAsUser of the pod',
      { runAsUser: 0 },
      mustNotBeRoot,
      '1000',
      `container's runAsUser breaks non-root policy ${end}`,
    ],
    ['a user id of the container', mustNotBeRoot, { runAsUser: 5 }, 'www', undefined],
    [
      'root, by runAsUser of the container',
      { ...mustNotBeRoot, runAsUser: 5 },
      { runAsUser: 0 },
      '',
      `container's runAsUser breaks non-root policy ${end}`,
    ],
    ['a container whose own field is false', mustNotBeRoot, { runAsNonRoot: false }, '', undefined],
  ];
  for (const [name, ofPod, ofContainer, image, expected] of nonRoot) {
    it(`with runAsNonRoot ${expected === undefined ? 'permits' : 'forbids'} ${name}`, () => {
      const pod = makePod({
        securityContext: ofPod,
        containers: [{ name: 'main', image: 'a', securityContext: ofContainer }],
      });
      const [wanted] = pod.spec.containers;
      assert.ok(wanted);
      assert.equal(nonRootProblem(pod, wanted, image), expected);
    });
  }

  it('lacks confinement that it requires and the engine does not offer', () => {
    const asked = { seccomp: 'RuntimeDefault', appArmor: undefined } as const;
    assert.equal(missingConfinement(asked, ['name=seccomp,profile=default']), undefined);
    assert.equal(missingConfinement(asked, ['name=seccomp,profile=unconfined']), 'seccomp');
    assert.equal(missingConfinement(asked, ['name=cgroupns']), 'seccomp');
    const both = { seccomp: undefined, appArmor: 'RuntimeDefault' } as const;
    assert.equal(missingConfinement(both, ['name=seccomp,profile=default']), 'AppArmor');
    assert.equal(missingConfinement({ seccomp: 'Unconfined', appArmor: 'Unconfined' }, []), undefined);
    const own = { seccomp: { profile: '{}' }, appArmor: { profile: 'mine' } } as const;
    assert.equal(missingConfinement(own, ['name=seccomp,profile=unconfined', 'name=apparmor']), undefined);
    assert.equal(missingConfinement(own, ['name=apparmor']), 'seccomp');
    assert.equal(missingConfinement(own, ['name=seccomp,profile=default']), 'AppArmor');
  });

  const sysctls = (names: readonly string[], more: object = {}) =>
    makePod({ ...more, securityContext: { sysctls: names.map((name) => ({ name, value: '1' })) } });
  it('permits only safe sysctls, and only in namespaces of the pod', () => {
    assert.equal(forbiddenSysctl(sysctls(['kernel.shm_rmid_forced', 'net/ipv4/tcp_syncookies'])), undefined);
    assert.equal(
      forbiddenSysctl(sysctls(['kernel.msgmax'])),
      'forbidden sysctl: "kernel.msgmax" not allowlisted',
    );
    assert.equal(
      forbiddenSysctl(sysctls(['net.ipv4.tcp_syncookies'], { hostNetwork: true })),
      'forbidden sysctl: "net.ipv4.tcp_syncookies" not allowed with host Net enabled',
    );
    assert.equal(
      forbiddenSysctl(sysctls(['kernel.shm_rmid_forced'], { hostIPC: true })),
      'forbidden sysctl: "kernel.shm_rmid_forced" not allowed with host IPC enabled',
    );
  });
});
