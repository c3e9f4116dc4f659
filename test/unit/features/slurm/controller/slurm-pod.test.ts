/**
 * Pod of a client of SlurmJobs: it meets the restricted level, mounts one Secret, and uses few resources of
 * the node.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Pod } from '../../../../../src/api/core/v1/pod/pod.ts';
import {
  clientAccount,
  clientBinding,
  clientPod,
} from '../../../../../src/features/slurm/controller/slurm-pod.ts';

const leaving = (...uids: readonly string[]) => uids.map((uid) => ({ metadata: { uid } }) as Pod);
const nameOf = (secret: string, ...uids: readonly string[]) =>
  clientPod('hpc-users', secret, leaving(...uids)).metadata.name ?? '';

it('the pod runs the executable as an unprivileged user, without capabilities, and mounts only the keys of its Secret', () => {
  const { metadata, spec, ...kind } = clientPod('hpc-users', 'login', []);
  assert.deepEqual(kind, { apiVersion: 'v1', kind: 'Pod' });
  assert.deepEqual(metadata, {
    ...{ name: nameOf('login'), namespace: 'hpc-users' },
    labels: { 'minik8s.io/slurm-client': 'true' },
    annotations: { 'minik8s.io/slurm-secret': 'login' },
  });
  const items = ['host', 'port', 'user', 'password', 'privateKey', 'passphrase', 'knownHosts'];
  const secret = { secretName: 'login', optional: true, defaultMode: 0o400 };
  assert.deepEqual(spec, {
    ...{ serviceAccountName: 'minik8s-slurm-client', enableServiceLinks: false },
    ...{ restartPolicy: 'Always', terminationGracePeriodSeconds: 30 },
    securityContext: {
      ...{ runAsNonRoot: true, runAsUser: 65534, runAsGroup: 65534, fsGroup: 65534 },
      seccompProfile: { type: 'RuntimeDefault' },
    },
    tolerations: ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'].map((key) => ({
      ...{ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 30 },
    })),
    containers: [
      {
        ...{ name: 'client', image: 'minik8s.own/minik8s:node', imagePullPolicy: 'IfNotPresent' },
        command: ['/minik8s', 'slurm-client', '--namespace=hpc-users', '--secret=login'],
        terminationMessagePolicy: 'FallbackToLogsOnError',
        resources: { requests: { cpu: '10m', memory: '96Mi' }, limits: { memory: '512Mi' } },
        securityContext: {
          ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true },
          capabilities: { drop: ['ALL'] },
        },
        volumeMounts: [{ name: 'connection', mountPath: '/connection', readOnly: true }],
      },
    ],
    volumes: [{ name: 'connection', secret: { ...secret, items: items.map((key) => ({ key, path: key })) } }],
  });
});

it('the name of the pod is the same for a connection and its pods that are ending, in any order', () => {
  assert.match(nameOf('x'.repeat(253)), /^minik8s-slurm-[0-9a-f]{10}$/);
  assert.equal(nameOf('login', 'one', 'two'), nameOf('login', 'two', 'one'));
  assert.equal(new Set([nameOf('login'), nameOf('login', 'one'), nameOf('other')]).size, 3);
});

it('the account of the clients has the role of clients, in its namespace alone', () => {
  const name = 'minik8s-slurm-client';
  const metadata = { name, namespace: 'hpc-users' };
  assert.deepEqual(clientAccount('hpc-users'), { apiVersion: 'v1', kind: 'ServiceAccount', metadata });
  const apiGroup = 'rbac.authorization.k8s.io';
  assert.deepEqual(clientBinding('hpc-users'), {
    ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding', metadata },
    roleRef: { apiGroup, kind: 'ClusterRole', name: 'minik8s:slurm-client' },
    subjects: [{ kind: 'ServiceAccount', ...metadata }],
  });
});
