/** The client pod of a connection, its account, and the binding of that account's role. */
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import type { ServiceAccount } from '../../../api/core/v1/types.gen.ts';
import type { RoleBinding } from '../../../api/rbac/v1/types.gen.ts';
import type { Draft } from '../../../apimachinery/meta.ts';
import { sha256 } from '../../../base/sha256.ts';
import { ownImage, ownProgram } from '../../functions/api/own-image.ts';
import {
  slurmClientAccount,
  slurmClientLabel,
  slurmClientRole,
  slurmConnectionDirectory,
  slurmConnectionKeys,
  slurmSecretAnnotation,
} from '../api/slurm-client-pod.ts';

/** Uid of the user nobody. */
const user = 65_534;

/** Returns the client pod. `leaving` are earlier pods that still exist; the new pod gets another name. */
export function clientPod(namespace: string, secretName: string, leaving: readonly Pod[]): Draft<Pod> {
  const uids = leaving.map(({ metadata }) => metadata.uid).sort();
  const name = `minik8s-slurm-${sha256(JSON.stringify([secretName, ...uids])).slice(0, 10)}`;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace,
      labels: { [slurmClientLabel]: 'true' },
      annotations: { [slurmSecretAnnotation]: secretName },
    },
    spec: {
      serviceAccountName: slurmClientAccount,
      enableServiceLinks: false,
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: user,
        runAsGroup: user,
        fsGroup: user,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      // After this node is lost, a pod on another node soon takes over the jobs on the cluster.
      tolerations: ['not-ready', 'unreachable'].map((what) => ({
        key: `node.kubernetes.io/${what}`,
        operator: 'Exists',
        effect: 'NoExecute',
        tolerationSeconds: 30,
      })),
      containers: [
        {
          name: 'client',
          image: ownImage,
          imagePullPolicy: 'IfNotPresent',
          command: [ownProgram, 'slurm-client', `--namespace=${namespace}`, `--secret=${secretName}`],
          terminationMessagePolicy: 'FallbackToLogsOnError',
          resources: { requests: { cpu: '10m', memory: '96Mi' }, limits: { memory: '512Mi' } },
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          },
          volumeMounts: [{ name: 'connection', mountPath: slurmConnectionDirectory, readOnly: true }],
        },
      ],
      volumes: [
        {
          name: 'connection',
          // The client itself reports a missing Secret, or a missing key.
          secret: {
            secretName,
            optional: true,
            defaultMode: 0o400,
            items: slurmConnectionKeys.map((key) => ({ key, path: key })),
          },
        },
      ],
    },
  } as unknown as Draft<Pod>;
}

export const clientAccount = (namespace: string): Draft<ServiceAccount> =>
  ({
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: slurmClientAccount, namespace },
  }) as Draft<ServiceAccount>;

export const clientBinding = (namespace: string): Draft<RoleBinding> =>
  ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: slurmClientAccount, namespace },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: slurmClientRole },
    subjects: [{ kind: 'ServiceAccount', name: slurmClientAccount, namespace }],
  }) as Draft<RoleBinding>;
