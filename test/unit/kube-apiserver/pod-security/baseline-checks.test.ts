import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Version } from '../../../../src/kube-apiserver/pod-security/levels.ts';
import { containersWith, judged, type PodFields } from './pods.ts';

const appArmor = 'container.apparmor.security.beta.kubernetes.io/';
const seccomp = 'seccomp.security.alpha.kubernetes.io/pod';
const ofContainer = 'container.seccomp.security.alpha.kubernetes.io/';
const sysctls = (...names: string[]) => ({
  securityContext: { sysctls: names.map((name) => ({ name, value: '1' })) },
});
const unmasked = { hostUsers: false, ...containersWith({ procMount: 'Unmasked' }) };
const one = (fields: object) => ({ containers: [{ name: 'a', ...fields }] });
const profile = (field: string, type: string) => ({ [field]: { type } });

const allowed: [what: string, pod: PodFields, version?: Version][] = [
  ['a pod without these fields', {}],
  ['its own namespaces', { hostNetwork: false, hostPID: false, hostIPC: false }],
  ['no privileges', containersWith({ privileged: false }, undefined)],
  [
    'capabilities of the default set',
    containersWith({ capabilities: { add: ['CHOWN', 'NET_BIND_SERVICE'] } }),
  ],
  ...[
    ...['AUDIT_WRITE', 'CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'MKNOD', 'NET_BIND_SERVICE'],
    ...['SETFCAP', 'SETGID', 'SETPCAP', 'SETUID', 'SYS_CHROOT'],
  ].map((name): [string, PodFields] => [
    `the capability ${name}`,
    containersWith({ capabilities: { add: [name] } }),
  ]),
  ...Object.entries({
    0: ['kernel.shm_rmid_forced', 'net.ipv4.ip_local_port_range', 'net.ipv4.tcp_syncookies'],
    1: ['net.ipv4.ping_group_range', 'net.ipv4.ip_unprivileged_port_start'],
    27: ['net.ipv4.ip_local_reserved_ports'],
    29: ['net.ipv4.tcp_keepalive_time', 'net.ipv4.tcp_keepalive_intvl', 'net.ipv4.tcp_keepalive_probes'],
    32: ['net.ipv4.tcp_wmem'],
    37: ['net.ipv4.tcp_slow_start_after_idle'],
  }).flatMap(([since, names]) =>
    names.map((name): [string, PodFields, Version] => [
      `${name} at 1.${since}`,
      sysctls(name),
      Number(since),
    ]),
  ),
  ['an emptyDir', { volumes: [{ name: 'v', emptyDir: {} }] }],
  ['a volume type that only restricted forbids', { volumes: [{ name: 'v', nfs: {} }] }],
  [
    'container ports without host ports',
    one({ ports: [{ containerPort: 80 }, { containerPort: 81, hostPort: 0 }] }),
  ],
  ['an unmasked /proc in a user namespace at 1.35', unmasked, 35],
  ['the default /proc mount', containersWith({ procMount: 'Default' })],
  [
    'an unmasked /proc in a user namespace',
    { hostUsers: false, ...containersWith({ procMount: 'Unmasked' }) },
  ],
  ['the runtime’s AppArmor profile', containersWith(profile('appArmorProfile', 'RuntimeDefault'))],
  ['an AppArmor profile of the machine', { securityContext: profile('appArmorProfile', 'Localhost') }],
  [
    'annotations of AppArmor that are allowed',
    {
      annotations: {
        [`${appArmor}a`]: 'runtime/default',
        [`${appArmor}b`]: 'localhost/x',
        [`${appArmor}c`]: '',
      },
    },
  ],
  ['a seccomp profile of the machine', containersWith(profile('seccompProfile', 'Localhost'))],
  ['an old annotation of seccomp since 1.19', { annotations: { [seccomp]: 'unconfined' } }, 19],
  ['an unconfined field before 1.19', containersWith(profile('seccompProfile', 'Unconfined')), 18],
  [
    'annotations of seccomp that were allowed',
    {
      annotations: {
        [seccomp]: 'docker/default',
        [`${ofContainer}a`]: 'localhost/x',
        [`${ofContainer}b`]: 'no',
      },
    },
    18,
  ],
  ['SELinux types for containers', containersWith({ seLinuxOptions: { type: 'container_t', level: 's0' } })],
  [
    'the SELinux type container_engine_t since 1.31',
    containersWith({ seLinuxOptions: { type: 'container_engine_t' } }),
    31,
  ],
  ['safe sysctls', sysctls('kernel.shm_rmid_forced', 'net.ipv4.ip_unprivileged_port_start'), 0],
  ['a sysctl that is safe since 1.27', sysctls('net.ipv4.ip_local_reserved_ports'), 27],
  ['a sysctl that is safe since 1.29', sysctls('net.ipv4.tcp_fin_timeout'), 29],
  ['a sysctl that is safe since 1.32', sysctls('net.ipv4.tcp_rmem'), 32],
  ['a sysctl that is safe since 1.37', sysctls('net.ipv4.tcp_notsent_lowat'), 37],
  ['a probe without a host', one({ livenessProbe: { httpGet: { port: 80, host: '' } } })],
  ['a probe of another host before 1.34', one({ readinessProbe: { tcpSocket: { port: 1, host: 'h' } } }), 33],
  ['hostProcess set to false', { securityContext: { windowsOptions: { hostProcess: false } } }],
  ['to run as root', { securityContext: { runAsUser: 0, runAsNonRoot: false } }],
];

const mixed = (field: string, allowed: object, forbidden: object) => ({
  securityContext: { [field]: allowed },
  ...containersWith({ [field]: forbidden }, { [field]: allowed }, {}),
});

const refused: [what: string, pod: PodFields, reason: string, detail: string, version?: Version][] = [
  [
    'namespaces of the host',
    { hostNetwork: true, hostPID: true, hostIPC: true },
    'host namespaces',
    'hostNetwork=true, hostPID=true, hostIPC=true',
  ],
  ['one namespace of the host', { hostIPC: true }, 'host namespaces', 'hostIPC=true'],
  [
    'a privileged container',
    containersWith({ privileged: true }),
    'privileged',
    'container "a" must not set securityContext.privileged=true',
  ],
  [
    'privileged containers, init containers and ephemeral containers',
    {
      containers: [{ name: 'a', securityContext: { privileged: true } }],
      initContainers: [{ name: 'i', securityContext: { privileged: true } }],
      ephemeralContainers: [{ name: 'e', securityContext: { privileged: true } }],
    },
    'privileged',
    'containers "i", "a", "e" must not set securityContext.privileged=true',
  ],
  [
    'other capabilities',
    containersWith(
      { capabilities: { add: ['SYS_ADMIN', 'CHOWN', 'NET_RAW'] } },
      { capabilities: { add: ['ALL'] } },
    ),
    'non-default capabilities',
    'containers "a", "b" must not include "ALL", "NET_RAW", "SYS_ADMIN" in securityContext.capabilities.add',
  ],
  [
    'a capability in lower case',
    containersWith({ capabilities: { add: ['chown'] } }),
    'non-default capabilities',
    'container "a" must not include "chown" in securityContext.capabilities.add',
  ],
  [
    'hostPath volumes',
    {
      volumes: [
        { name: 'v', hostPath: { path: '/' } },
        { name: 'w', emptyDir: {} },
        { name: 'x', hostPath: { path: '/x' } },
      ],
    },
    'hostPath volumes',
    'volumes "v", "x"',
  ],
  ['one hostPath volume', { volumes: [{ name: 'v', hostPath: {} }] }, 'hostPath volumes', 'volume "v"'],
  [
    'a host port',
    one({ ports: [{ containerPort: 1, hostPort: 80 }] }),
    'hostPort',
    'container "a" uses hostPort 80',
  ],
  [
    'host ports',
    {
      containers: [
        { name: 'a', ports: [{ containerPort: 1, hostPort: 9 }] },
        { name: 'b', ports: [{ containerPort: 2, hostPort: 80 }] },
      ],
    },
    'hostPort',
    'containers "a", "b" use hostPorts 80, 9',
  ],
  [
    '/proc unmasked',
    containersWith({ procMount: 'Unmasked' }),
    'procMount',
    'container "a" must not set securityContext.procMount to "Unmasked"',
  ],
  [
    'an unmasked /proc before 1.35, even in a user namespace',
    { hostUsers: false, ...containersWith({ procMount: 'Unmasked' }) },
    'procMount',
    'container "a" must not set securityContext.procMount to "Unmasked"',
    34,
  ],
  [
    'no AppArmor',
    {
      ...containersWith(profile('appArmorProfile', 'Unconfined'), undefined),
      securityContext: profile('appArmorProfile', 'Unconfined'),
    },
    'forbidden AppArmor profile',
    'pod and container "a" must not set AppArmor profile type to "Unconfined"',
  ],
  [
    'an unconfined AppArmor annotation of any container',
    { annotations: { [`${appArmor}z`]: 'unconfined', [`${appArmor}a`]: 'localhost' } },
    'forbidden AppArmor profiles',
    `annotations must not set AppArmor profile type to "${appArmor}a="localhost"", "${appArmor}z="unconfined""`,
  ],
  [
    'an unconfined AppArmor profile in field and annotation',
    {
      annotations: { [`${appArmor}a`]: 'unconfined' },
      ...containersWith(profile('appArmorProfile', 'Unconfined')),
    },
    'forbidden AppArmor profiles',
    `container "a" and annotation must not set AppArmor profile type to "Unconfined", "${appArmor}a="unconfined""`,
  ],
  [
    'no seccomp',
    {
      securityContext: profile('seccompProfile', 'Unconfined'),
      ...containersWith(profile('seccompProfile', 'Unconfined'), profile('seccompProfile', 'Other')),
    },
    'seccompProfile',
    'pod and containers "a", "b" must not set securityContext.seccompProfile.type to "Other", "Unconfined"',
  ],
  [
    'an unconfined seccomp annotation before 1.19',
    { annotations: { [seccomp]: 'unconfined', [`${ofContainer}a`]: '', [`${ofContainer}b`]: '' } },
    'seccompProfile',
    `forbidden annotations ${ofContainer}a="", ${seccomp}="unconfined"`,
    18,
  ],
  [
    'another SELinux type',
    {
      securityContext: { seLinuxOptions: { type: 'x', user: 'u' } },
      ...containersWith({ seLinuxOptions: { type: 'y' } }, { seLinuxOptions: { role: 'r' } }),
    },
    'seLinuxOptions',
    'pod and containers "a", "b" set forbidden securityContext.seLinuxOptions: types "x", "y"; user may not be set; role may not be set',
  ],
  [
    'the SELinux type container_engine_t before 1.31',
    containersWith({ seLinuxOptions: { type: 'container_engine_t' } }),
    'seLinuxOptions',
    'container "a" set forbidden securityContext.seLinuxOptions: type "container_engine_t"',
    30,
  ],
  [
    'only the container with an unconfined AppArmor profile',
    mixed('appArmorProfile', { type: 'RuntimeDefault' }, { type: 'Unconfined' }),
    'forbidden AppArmor profile',
    'container "a" must not set AppArmor profile type to "Unconfined"',
  ],
  [
    'only the container with an unconfined seccomp profile',
    mixed('seccompProfile', { type: 'Localhost' }, { type: 'Unconfined' }),
    'seccompProfile',
    'container "a" must not set securityContext.seccompProfile.type to "Unconfined"',
  ],
  [
    'only the container with another SELinux type',
    mixed('seLinuxOptions', { type: 'container_t' }, { type: 'x' }),
    'seLinuxOptions',
    'container "a" set forbidden securityContext.seLinuxOptions: type "x"',
  ],
  [
    'other sysctls',
    sysctls('kernel.msgmax', 'net.ipv4.tcp_syncookies', 'net.core.somaxconn'),
    'forbidden sysctls',
    'kernel.msgmax, net.core.somaxconn',
  ],
  ...(
    [
      [27, 'net.ipv4.ip_local_reserved_ports'],
      [29, 'net.ipv4.tcp_keepalive_time'],
      [32, 'net.ipv4.tcp_wmem'],
      [37, 'net.ipv4.tcp_slow_start_after_idle'],
    ] as const
  ).map(
    ([since, name]) =>
      [`${name} before 1.${since}`, sysctls(name), 'forbidden sysctls', name, since - 1] as [
        string,
        PodFields,
        string,
        string,
        Version,
      ],
  ),
  [
    'probes and hooks of other hosts',
    {
      containers: [
        {
          name: 'b',
          livenessProbe: { httpGet: { port: 1, host: 'h' } },
          startupProbe: { tcpSocket: { port: 1, host: 'i' } },
        },
        { name: 'a', lifecycle: { preStop: { httpGet: { port: 1, host: 'h' } } } },
      ],
    },
    'probe or lifecycle host',
    'containers "a", "b" use probe or lifecycle hosts "h", "i"',
    34,
  ],
  [
    'a hook of another host',
    one({ lifecycle: { postStart: { tcpSocket: { port: 1, host: 'h' } } } }),
    'probe or lifecycle host',
    'container "a" uses probe or lifecycle host "h"',
  ],
  [
    'a HostProcess container on Windows',
    {
      securityContext: { windowsOptions: { hostProcess: true } },
      ...containersWith({ windowsOptions: { hostProcess: true } }),
      os: { name: 'windows' },
    },
    'hostProcess',
    'pod and container "a" must not set securityContext.windowsOptions.hostProcess=true',
  ],
];

describe('baseline', () => {
  for (const [what, pod, version] of allowed)
    test(`allows ${what}`, () => assert.deepEqual(judged(pod, 'baseline', version), []));
  for (const [what, pod, reason, detail, version] of refused) {
    test(`refuses ${what}`, () => assert.deepEqual(judged(pod, 'baseline', version), [{ reason, detail }]));
    test(`privileged allows ${what}`, () => assert.deepEqual(judged(pod, 'privileged', version), []));
  }
});
