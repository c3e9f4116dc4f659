import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Version } from '../../../../src/kube-apiserver/pod-security/levels.ts';
import { containersWith, judged, type PodFields, restrictedContext } from './pods.ts';

const but = (over: object) => ({ ...restrictedContext, ...over });
const volumes = (...sources: object[]) => ({
  ...containersWith(restrictedContext),
  volumes: sources.map((source, index) => ({ name: `v${index}`, ...source })),
});
const { runAsNonRoot: _root, ...noRule } = restrictedContext;
const { seccompProfile: _profile, ...noProfile } = restrictedContext;

const allowed: [what: string, pod: PodFields, version?: Version][] = [
  ['containers with all required fields', containersWith(restrictedContext, restrictedContext)],
  [
    'required fields set by the pod for all containers',
    {
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'Localhost' } },
      ...containersWith(but({ runAsNonRoot: undefined, seccompProfile: undefined })),
    },
  ],
  ['ports below 1024', containersWith(but({ capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] } }))],
  ['a user by number', containersWith(but({ runAsUser: 1 }))],
  [
    'volume types that restricted allows',
    volumes(
      ...['configMap', 'csi', 'downwardAPI', 'emptyDir', 'ephemeral', 'image'].map((type) => ({
        [type]: {},
      })),
      ...['persistentVolumeClaim', 'projected', 'secret'].map((type) => ({ [type]: {} })),
    ),
  ],
  [
    'a pod for Windows, which has no capabilities, since 1.25',
    { os: { name: 'windows' }, ...containersWith({ runAsNonRoot: true }) },
    25,
  ],
  [
    'root in a user namespace since 1.35',
    { hostUsers: false, ...containersWith({ ...noRule, runAsUser: 0 }) },
    35,
  ],
  ['privilege escalation before 1.8', containersWith({ runAsNonRoot: true }), 7],
  ['all capabilities before 1.22', containersWith(but({ capabilities: undefined })), 21],
  ['no seccomp profile before 1.19', containersWith({ ...noProfile }), 18],
  ['user id 0 before 1.23', containersWith(but({ runAsUser: 0 })), 22],
];

const refused: [what: string, pod: PodFields, reason: string, detail: string, version?: Version][] = [
  [
    'privilege escalation',
    containersWith(but({ allowPrivilegeEscalation: true }), but({ allowPrivilegeEscalation: undefined })),
    'allowPrivilegeEscalation != false',
    'containers "a", "b" must set securityContext.allowPrivilegeEscalation=false',
  ],
  [
    'capabilities that are not dropped, in upper and lower case',
    containersWith(but({ capabilities: { drop: ['all'] } }), but({ capabilities: undefined })),
    'unrestricted capabilities',
    'containers "a", "b" must set securityContext.capabilities.drop=["ALL"]',
  ],
  [
    'capabilities that are not dropped, and added ones',
    containersWith(but({ capabilities: { add: ['CHOWN', 'NET_BIND_SERVICE'] } })),
    'unrestricted capabilities',
    'container "a" must set securityContext.capabilities.drop=["ALL"]; container "a" must not include "CHOWN" in securityContext.capabilities.add',
  ],
  [
    'a capability that baseline refuses too, reported once',
    containersWith(but({ capabilities: { drop: ['ALL'], add: ['SYS_ADMIN'] } })),
    'unrestricted capabilities',
    'container "a" must not include "SYS_ADMIN" in securityContext.capabilities.add',
    22,
  ],
  [
    'runAsNonRoot false in pod and container',
    { securityContext: { runAsNonRoot: false }, ...containersWith(but({ runAsNonRoot: false })) },
    'runAsNonRoot != true',
    'pod and container "a" must not set securityContext.runAsNonRoot=false',
  ],
  [
    'runAsNonRoot false in one container only',
    { securityContext: { runAsNonRoot: true }, ...containersWith(but({ runAsNonRoot: false })) },
    'runAsNonRoot != true',
    'container "a" must not set securityContext.runAsNonRoot=false',
  ],
  [
    'runAsNonRoot missing',
    containersWith(restrictedContext, noRule),
    'runAsNonRoot != true',
    'pod or container "b" must set securityContext.runAsNonRoot=true',
  ],
  [
    'user id 0',
    { securityContext: { runAsUser: 0 }, ...containersWith(but({ runAsUser: 0 }), but({ runAsUser: 1 })) },
    'runAsUser=0',
    'pod and container "a" must not set runAsUser=0',
    23,
  ],
  [
    'no profile',
    containersWith(noProfile, restrictedContext),
    'seccompProfile',
    'pod or container "a" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"',
    19,
  ],
  [
    'a profile that is not allowed, reported once',
    containersWith(but({ seccompProfile: { type: 'Unconfined' } })),
    'seccompProfile',
    'container "a" must not set securityContext.seccompProfile.type to "Unconfined"',
  ],
  [
    'a hostPath volume, reported once',
    volumes({ hostPath: {} }),
    'restricted volume types',
    'volume "v0" uses restricted volume type "hostPath"',
  ],
  [
    'network volumes, and a volume of an unknown type',
    volumes({ nfs: {} }, { emptyDir: {} }, { future: {} }, { nfs: {} }),
    'restricted volume types',
    'volumes "v0", "v2", "v3" use restricted volume types "nfs", "unknown"',
  ],
  [
    'an unmasked /proc, even in a user namespace',
    { hostUsers: false, ...containersWith(but({ procMount: 'Unmasked' })) },
    'procMount',
    'container "a" must not set securityContext.procMount to "Unmasked"',
    35,
  ],
  [
    'root in a user namespace before 1.35',
    { hostUsers: false, ...containersWith(noRule) },
    'runAsNonRoot != true',
    'pod or container "a" must set securityContext.runAsNonRoot=true',
    34,
  ],
];

describe('restricted', () => {
  for (const [what, pod, version] of allowed)
    test(`allows ${what}`, () => assert.deepEqual(judged(pod, 'restricted', version), []));
  for (const [what, pod, reason, detail, version] of refused)
    test(`refuses ${what}`, () => assert.deepEqual(judged(pod, 'restricted', version), [{ reason, detail }]));

  for (const type of [
    ...[
      'gcePersistentDisk',
      'awsElasticBlockStore',
      'gitRepo',
      'nfs',
      'iscsi',
      'glusterfs',
      'rbd',
      'flexVolume',
    ],
    ...['cinder', 'cephfs', 'flocker', 'fc', 'azureFile', 'vsphereVolume', 'quobyte', 'azureDisk'],
    ...['photonPersistentDisk', 'portworxVolume', 'scaleIO', 'storageos'],
  ])
    test(`refuses a volume of type ${type}, and names it`, () => {
      const [violation, ...more] = judged(volumes({ [type]: {} }), 'restricted');
      assert.match(violation?.detail ?? '', new RegExp(`type "${type}"$`));
      assert.deepEqual(more, []);
    });

  test('rejects all violations of baseline, which precede its own', () => {
    const pod = { hostNetwork: true, ...containersWith({ privileged: true }), os: { name: 'windows' } };
    const reasons = (version: Version) => judged(pod, 'restricted', version).map(({ reason }) => reason);
    assert.deepEqual(reasons(24), [
      'host namespaces',
      'privileged',
      'allowPrivilegeEscalation != false',
      'unrestricted capabilities',
      'runAsNonRoot != true',
      'seccompProfile',
    ]);
    assert.deepEqual(reasons(25), ['host namespaces', 'privileged', 'runAsNonRoot != true']);
  });
});
