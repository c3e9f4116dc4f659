/**
 * Versions since which a field is rejected, shown with a pod that breaks every rule that one pod can break.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judged } from './pods.ts';

const worst = {
  annotations: { 'seccomp.security.alpha.kubernetes.io/pod': 'unconfined' },
  hostNetwork: true,
  securityContext: {
    runAsUser: 0,
    runAsNonRoot: false,
    appArmorProfile: { type: 'Unconfined' },
    seLinuxOptions: { type: 'spc_t' },
    sysctls: [{ name: 'kernel.msgmax', value: '1' }],
    windowsOptions: { hostProcess: true },
  },
  containers: [
    {
      name: 'a',
      ports: [{ containerPort: 1, hostPort: 1 }],
      livenessProbe: { httpGet: { port: 1, host: 'h' } },
      securityContext: { privileged: true, procMount: 'Unmasked', capabilities: { add: ['SYS_ADMIN'] } },
    },
  ],
  volumes: [{ name: 'v', hostPath: {} }],
};

/** Returns the reasons in the order of the message. */
const reasonsAt = (level: 'baseline' | 'restricted', version: number) =>
  judged(worst, level, version).map(({ reason }) => reason);

const both = [
  'forbidden AppArmor profile',
  'non-default capabilities',
  'host namespaces',
  'hostPath volumes',
  'hostPort',
  'privileged',
  'procMount',
  'seLinuxOptions',
  'seccompProfile',
  'forbidden sysctls',
  'hostProcess',
];

const first = {
  baseline: both,
  restricted: [
    ...both.filter((reason) => reason !== 'hostPath volumes'),
    'restricted volume types',
    'runAsNonRoot != true',
  ],
};

/** Reasons that begin and end with a version. The annotation of seccomp ends and the field begins at 1.19. */
const changes = {
  baseline: [
    [19, [], ['seccompProfile']],
    [34, ['probe or lifecycle host'], []],
  ],
  restricted: [
    [8, ['allowPrivilegeEscalation != false'], []],
    [22, ['unrestricted capabilities'], ['non-default capabilities']],
    [23, ['runAsUser=0'], []],
    [34, ['probe or lifecycle host'], []],
  ],
} as const;

for (const level of ['baseline', 'restricted'] as const)
  test(`${level} has refused from the first version on, and since`, () => {
    assert.deepEqual(reasonsAt(level, 0), first[level]);
    const found: [number, string[], string[]][] = [];
    for (let version = 1; version <= 40; version++) {
      const [before, after] = [reasonsAt(level, version - 1), reasonsAt(level, version)];
      const come = after.filter((reason) => !before.includes(reason));
      const gone = before.filter((reason) => !after.includes(reason));
      if (come.length + gone.length > 0) found.push([version, come, gone]);
    }
    assert.deepEqual(found, changes[level]);
  });

test('restricted lists its own violations last', () => {
  assert.deepEqual(reasonsAt('restricted', 35).slice(-7), [
    'allowPrivilegeEscalation != false',
    'unrestricted capabilities',
    'procMount',
    'restricted volume types',
    'runAsNonRoot != true',
    'runAsUser=0',
    'seccompProfile',
  ]);
});
