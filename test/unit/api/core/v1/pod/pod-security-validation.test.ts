/** Validation of a pod's security fields, and of the older annotations with the same meaning. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podResource } from '../../../../../../src/api/core/v1/pod/pod.ts';
import { dottedSysctl, sysctlNamespace } from '../../../../../../src/api/core/v1/pod/sysctl-names.ts';
import { newPodWarnings } from '../../../../../../src/api/core/v1/pod/warnings.ts';
import { created, testCreate, testUpdate } from '../../../../../fixtures/kinds.ts';
import { c0, container, pod, spec } from '../../../pod-fixture.ts';

const appArmor = 'container.apparmor.security.beta.kubernetes.io/';
const annotated = (annotations: object) => ({ metadata: { annotations } });
const context = (securityContext: object) => container({ securityContext });
const ofPod = (securityContext: object) => spec({ securityContext });
const seccomp = (profile: object) => context({ seccompProfile: profile });
const at = `${c0}.securityContext`;
const key = `metadata.annotations[${appArmor}web]`;

testCreate(podResource, pod, [
  ['a seccomp profile of the machine', seccomp({ type: 'Localhost', localhostProfile: 'a/b.json' })],
  [
    'a seccomp profile without a name',
    seccomp({ type: 'Localhost' }),
    `${at}.seccompProfile.localhostProfile: Required value: must be set when seccomp type is Localhost`,
  ],
  [
    'a seccomp profile with a path outside of the folder of profiles',
    seccomp({ type: 'Localhost', localhostProfile: '/etc/../x' }),
    `${at}.seccompProfile.localhostProfile: Invalid value: "/etc/../x": must be a relative path`,
    `${at}.seccompProfile.localhostProfile: Invalid value: "/etc/../x": must not contain '..'`,
  ],
  [
    'a localhost name for the runtime’s profile',
    ofPod({ seccompProfile: { type: 'RuntimeDefault', localhostProfile: 'x' } }),
    'spec.securityContext.seccompProfile.localhostProfile: Invalid value: "x": can only be set when seccomp type is Localhost',
  ],
  [
    'an AppArmor profile of the machine',
    context({ appArmorProfile: { type: 'Localhost', localhostProfile: 'x' } }),
  ],
  [
    'an AppArmor profile without a name',
    ofPod({ appArmorProfile: { type: 'Localhost', localhostProfile: '' } }),
    'spec.securityContext.appArmorProfile.localhostProfile: Required value: must be set when AppArmor type is Localhost',
  ],
  [
    'a padded and long AppArmor profile',
    context({ appArmorProfile: { type: 'Localhost', localhostProfile: ` ${'x'.repeat(4095)}` } }),
    `${at}.appArmorProfile.localhostProfile: Invalid value: " x`,
    `${at}.appArmorProfile.localhostProfile: Too long: may not be more than 4095 bytes`,
  ],
  [
    'a localhost name for an unconfined AppArmor profile',
    context({ appArmorProfile: { type: 'Unconfined', localhostProfile: 'x' } }),
    `${at}.appArmorProfile.localhostProfile: Invalid value: "x": can only be set when AppArmor type is Localhost`,
  ],
  [
    'an unmasked /proc with a user namespace',
    { spec: { ...context({ procMount: 'Unmasked' }).spec, hostUsers: false } },
  ],
  ['the default /proc mount', context({ procMount: 'Default' })],
  [
    '/proc unmasked',
    context({ procMount: 'Unmasked' }),
    `${at}.procMount: Invalid value: "Unmasked": \`hostUsers\` must be false to use \`Unmasked\``,
  ],
  [
    'a user namespace beside namespaces of the host',
    spec({ hostUsers: false, hostNetwork: true, hostPID: true, hostIPC: true }),
    'spec.hostNetwork: Forbidden: when `pod.Spec.HostUsers` is false',
    'spec.hostPID: Forbidden: when `pod.Spec.HostUsers` is false',
    'spec.hostIPC: Forbidden: when `pod.Spec.HostUsers` is false',
  ],
  [
    'sysctls of the host',
    spec({
      hostNetwork: true,
      securityContext: {
        sysctls: [
          { name: 'net/ipv4/tcp_syncookies', value: '1' },
          { name: 'kernel.shm_rmid_forced', value: '1' },
        ],
      },
    }),
    'spec.securityContext.sysctls[0].name: Invalid value: "net/ipv4/tcp_syncookies": may not be specified when \'hostNetwork\' is true',
  ],
  [
    'sysctls of the host’s IPC',
    spec({ hostIPC: true, securityContext: { sysctls: [{ name: 'fs.mqueue.msg_max', value: '1' }] } }),
    'spec.securityContext.sysctls[0].name: Invalid value: "fs.mqueue.msg_max": may not be specified when \'hostIPC\' is true',
  ],
  ['Windows', spec({ os: { name: 'windows' }, securityContext: { windowsOptions: { hostProcess: false } } })],
  ['the largest user and group', context({ runAsUser: 2147483647, runAsGroup: 2147483647 })],
  ['root', context({ runAsUser: 0, runAsGroup: 0 })],
  [
    'invalid users and groups',
    {
      spec: {
        ...context({ runAsUser: -1, runAsGroup: -2 }).spec,
        securityContext: { runAsUser: 2147483648, runAsGroup: -3 },
      },
    },
    `${at}.runAsUser: Invalid value: -1: must be between 0`,
    `${at}.runAsGroup: Invalid value: -2: must be between 0`,
    'spec.securityContext.runAsUser: Invalid value: 2147483648: must be between 0 and 2147483647, incl',
    'spec.securityContext.runAsGroup: Invalid value: -3: must be between 0 and 2147483647, inclusive',
  ],
  ['the longest deadline', spec({ activeDeadlineSeconds: 2147483647 })],
  [
    'too long a deadline',
    spec({ activeDeadlineSeconds: 2147483648 }),
    'spec.activeDeadlineSeconds: Invalid value: 2147483648: must be between 1 and 2147483647, inclusive',
  ],
  ['Linux', { spec: { ...context({ privileged: true }).spec, os: { name: 'linux' } } }],
  [
    'another system',
    spec({ os: { name: 'Windows' } }),
    'spec.os: Unsupported value: "Windows": supported values: "linux", "windows"',
  ],
  [
    'an unknown operating system',
    spec({ os: { name: '' } }),
    'spec.os.name: Required value: cannot be empty',
  ],
  [
    'options of Windows on Linux',
    {
      spec: {
        ...context({ windowsOptions: { runAsUserName: 'x' } }).spec,
        os: { name: 'linux' },
        securityContext: { windowsOptions: {} },
      },
    },
    'spec.securityContext.windowsOptions: Forbidden: windows options cannot be set for a linux pod',
    `${at}.windowsOptions: Forbidden: windows options cannot be set for a linux pod`,
  ],
  [
    'options of Linux on Windows',
    {
      spec: {
        ...context({ privileged: true, capabilities: {}, allowPrivilegeEscalation: true }).spec,
        os: { name: 'windows' },
        hostPID: true,
        securityContext: { runAsUser: 0, seccompProfile: { type: 'Unconfined' } },
      },
    },
    'spec.hostPID: Forbidden: cannot be set for a windows pod',
    'spec.securityContext.seccompProfile: Forbidden: cannot be set for a windows pod',
    'spec.securityContext.runAsUser: Forbidden: cannot be set for a windows pod',
    `${at}.capabilities: Forbidden: cannot be set for a windows pod`,
    `${at}.privileged: Forbidden: cannot be set for a windows pod`,
    `${at}.allowPrivilegeEscalation: Forbidden: cannot be set for a windows pod`,
  ],
  ['an AppArmor annotation', annotated({ [`${appArmor}web`]: 'localhost/x' })],
  ['an empty AppArmor annotation', annotated({ [`${appArmor}web`]: '' })],
  [
    'an AppArmor annotation of an unknown container, with an invalid profile',
    annotated({ [`${appArmor}other`]: 'Unconfined' }),
    `metadata.annotations[${appArmor}other]: Invalid value: "other": container not found`,
    `metadata.annotations[${appArmor}other]: Invalid value: "Unconfined": invalid AppArmor profile name: "Unconfined"`,
  ],
  [
    'an AppArmor annotation that contradicts the field',
    {
      ...annotated({ [`${appArmor}web`]: 'unconfined' }),
      ...context({ appArmorProfile: { type: 'RuntimeDefault' } }),
    },
    `${at}.appArmorProfile.type: Forbidden: apparmor type in annotation and field must match`,
  ],
  [
    'an AppArmor annotation of an init container that contradicts the field',
    {
      ...annotated({ [`${appArmor}step`]: 'unconfined' }),
      spec: {
        initContainers: [
          { name: 'step', image: 'a:1', securityContext: { appArmorProfile: { type: 'RuntimeDefault' } } },
        ],
      },
    },
    'spec.initContainers[0].securityContext.appArmorProfile.type: Forbidden: apparmor type in annotation and field must match',
  ],
  [
    'an AppArmor annotation of another profile than the field',
    {
      ...annotated({ [`${appArmor}web`]: 'localhost/a' }),
      ...context({ appArmorProfile: { type: 'Localhost', localhostProfile: 'b' } }),
    },
    `${at}.appArmorProfile.localhostProfile: Forbidden: apparmor profile in annotation and field must match`,
  ],
]);

const asked = {
  ...pod,
  metadata: { ...pod.metadata, annotations: { [`${appArmor}web`]: 'runtime/default' } },
};

testUpdate(podResource, asked, [
  ['another annotation', annotated({ a: 'b' })],
  [
    'a weaker AppArmor annotation',
    annotated({ [`${appArmor}web`]: 'unconfined' }),
    `${key}: Forbidden: may not remove or update AppArmor annotations`,
  ],
  [
    'a removed AppArmor annotation',
    annotated({ [`${appArmor}web`]: null }),
    `${key}: Forbidden: may not remove or update AppArmor annotations`,
  ],
  [
    'a removed annotation of a mirror pod',
    annotated({ 'kubernetes.io/config.mirror': 'x' }),
    'metadata.annotations[kubernetes.io/config.mirror]: Forbidden: may not add mirror pod annotation',
  ],
]);
testUpdate(podResource, pod, [
  [
    'an added AppArmor annotation',
    annotated({ [`${appArmor}web`]: 'unconfined' }),
    `${key}: Forbidden: may not add AppArmor annotations`,
  ],
]);

const profileOf = (annotation: string, fields: object = {}, others: object = {}) =>
  created(podResource, {
    ...pod,
    metadata: { ...pod.metadata, annotations: { [`${appArmor}web`]: annotation } },
    spec: { ...container(fields).spec, ...others },
  }).spec.containers[0]?.securityContext?.appArmorProfile;

test('an AppArmor annotation is copied to the field', () => {
  assert.deepEqual(profileOf('runtime/default'), { type: 'RuntimeDefault' });
  assert.deepEqual(profileOf('unconfined'), { type: 'Unconfined' });
  assert.deepEqual(profileOf('localhost/a'), { type: 'Localhost', localhostProfile: 'a' });
  assert.equal(profileOf('localhost/'), undefined);
  assert.equal(profileOf(''), undefined);
  const own = { securityContext: { appArmorProfile: { type: 'RuntimeDefault' } } };
  assert.deepEqual(profileOf('unconfined', own), { type: 'RuntimeDefault' });
  assert.equal(profileOf('unconfined', {}, { os: { name: 'windows' } }), undefined);
});

test('a create, and no update, returns a warning about profiles in annotations', () => {
  const old = created(podResource, {
    ...pod,
    metadata: {
      ...pod.metadata,
      annotations: {
        'seccomp.security.alpha.kubernetes.io/pod': 'unconfined',
        'container.seccomp.security.alpha.kubernetes.io/web': 'unconfined',
        [`${appArmor}web`]: 'unconfined',
      },
    },
  });
  assert.deepEqual(
    newPodWarnings(old, undefined).map((text) => text.replace(/^metadata\.annotations\[(.*)\]: /, '$1 ')),
    [
      'seccomp.security.alpha.kubernetes.io/pod non-functional in v1.27+; use the "seccompProfile" field instead',
      'container.seccomp.security.alpha.kubernetes.io/web non-functional in v1.27+; use the "seccompProfile" field instead',
      `${appArmor}web deprecated since v1.30; use the "appArmorProfile" field instead`,
    ],
  );
  assert.deepEqual(newPodWarnings(old, old), []);
  assert.deepEqual(newPodWarnings(created(podResource, pod), undefined), []);
});

test('the name of a sysctl determines its namespace', () => {
  const cases: [name: string, namespace: string | undefined][] = [
    ['net.core.somaxconn', 'Net'],
    ['net/core/somaxconn', 'Net'],
    ['net.ipv4.*', 'Net'],
    ['net', undefined],
    ['network.x', undefined],
    ['kernel.msgmax', 'IPC'],
    ['kernel.msg*', 'IPC'],
    ['kernel.shm*', 'IPC'],
    ['kernel.sem', 'IPC'],
    ['kernel.semx', undefined],
    ['fs.mqueue.queues_max', 'IPC'],
    ['fs.mqueue.*', 'IPC'],
    ['kernel.hostname', undefined],
    ['vm.swappiness', undefined],
  ];
  for (const [name, namespace] of cases) assert.equal(sysctlNamespace(dottedSysctl(name)), namespace, name);
});
