/** Builds the pod of one instance of a FunctionVersion. Pure. */
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import type { EnvVar } from '../../../api/core/v1/types.gen.ts';
import type { Draft, OwnerReference } from '../../../apimachinery/meta.ts';
import { controllerReference } from '../../../controller-runtime/claim.ts';
import { type Fn, functionResource } from '../api/function.ts';
import { functionLabel, functionVersionLabel, instancePort } from '../api/function-instance.ts';
import type { FunctionVersion } from '../api/function-version.ts';
import { instanceVariables, waitsVariable, warmLabel } from '../api/warm-instance.ts';

/** Seconds in addition to the maximum duration of a call, for the termination of an instance. */
const graceSeconds = 5;
/**
 * Maximum seconds until the container listens. The runtime does not install anything while its container
 * runs, so this covers the handler's own imports.
 */
const startSeconds = 600;

export function instanceOf(owner: Fn, version: FunctionVersion): Draft<Pod> {
  const { name } = owner.metadata;
  const { metadata, spec } = version;
  return podOf(version, {
    labels: { [functionLabel]: name, [functionVersionLabel]: metadata.name },
    ownerReferences: [controllerReference(functionResource, owner)],
    env: instanceVariables(version),
    resources: spec.resources ?? {},
    // The pod is ready when it listens. The gateway does not wait for the probe; it detects itself that the
    // pod listens.
    startupProbe: { periodSeconds: 1, failureThreshold: startSeconds },
  });
}

/** Memory request of a waiting instance, by which the scheduler counts it. */
const waitingMemory = { python: '32Mi', nodejs: '64Mi' } as const;

/**
 * Returns a pod that waits on one of these nodes for a function. The pod ends with its program; an assigned
 * pod is never assigned again.
 */
export function waitingInstance(version: FunctionVersion, nodes: readonly string[]): Draft<Pod> {
  const { metadata, spec } = version;
  const { runtime = 'python' } = spec;
  const pod = podOf(version, {
    labels: { [functionVersionLabel]: metadata.name, [warmLabel]: runtime },
    env: [
      { name: 'PORT', value: String(instancePort) },
      { name: waitsVariable, value: 'true' },
    ],
    resources: { requests: { memory: waitingMemory[runtime] } },
    // The pod listens only after it was assigned, however long that takes.
    startupProbe: { periodSeconds: 5, failureThreshold: 2 ** 31 - 1 },
  });
  const onNodes = { key: 'kubernetes.io/hostname', operator: 'In' as const, values: [...nodes] };
  const affinity = {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [onNodes] }],
      },
    },
  };
  return { ...pod, spec: { ...pod.spec, restartPolicy: 'Never', affinity } };
}

interface InstanceParts {
  readonly labels: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly env: readonly EnvVar[];
  readonly resources: object;
  readonly startupProbe: { readonly periodSeconds: number; readonly failureThreshold: number };
}

function podOf({ metadata, spec }: FunctionVersion, parts: InstanceParts): Draft<Pod> {
  const { labels, ownerReferences, env, resources, startupProbe } = parts;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      generateName: `${metadata.name}-`,
      namespace: metadata.namespace,
      labels,
      ...(ownerReferences && { ownerReferences }),
    },
    spec: {
      // A function that uses the API must contain its own credentials.
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      // The kernel ignores signals that process 1 sends to itself, even SIGKILL (pid_namespaces(7)), with
      // which a runtime ends a handler that never returns. With a shared process namespace the pause
      // container is process 1. The program of an image of its own may have to be process 1.
      ...(spec.runtime !== undefined && { shareProcessNamespace: true }),
      terminationGracePeriodSeconds: spec.timeoutSeconds + graceSeconds,
      containers: [
        {
          name: 'function',
          image: spec.image,
          imagePullPolicy: 'IfNotPresent',
          ports: [{ name: 'http', containerPort: instancePort }],
          env: [...env],
          resources,
          terminationMessagePolicy: 'FallbackToLogsOnError',
          startupProbe: { tcpSocket: { port: instancePort }, ...startupProbe },
        },
      ],
    },
  } as unknown as Draft<Pod>;
}
