/** The pod that is one instance of a FunctionVersion. Pure. */
import type { Pod } from '../../api/core/v1/pod.ts';
import { type Fn, functionResource } from '../../api/minik8s/v1/function.ts';
import { functionLabel, functionVersionLabel, instancePort } from '../../api/minik8s/v1/function-instance.ts';
import type { FunctionVersion } from '../../api/minik8s/v1/function-version.ts';
import type { Draft } from '../../apimachinery/meta.ts';
import { controllerReference } from '../../controller-runtime/claim.ts';

/** Seconds beyond the longest call, for what an instance has to say at its end. */
const graceSeconds = 5;
/** The runtime may install nothing any more when its container runs, so this is for the handler's own imports. */
const startSeconds = 600;

export function instanceOf(owner: Fn, { metadata, spec }: FunctionVersion): Draft<Pod> {
  const { name, namespace } = owner.metadata;
  const variables = {
    PORT: String(instancePort),
    FUNCTION_NAME: name,
    FUNCTION_NAMESPACE: namespace ?? '',
    FUNCTION_VERSION: metadata.name,
    FUNCTION_CONCURRENCY: String(spec.concurrency),
    FUNCTION_TIMEOUT_SECONDS: String(spec.timeoutSeconds),
    ...(spec.handler !== undefined && { FUNCTION_HANDLER: spec.handler }),
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      generateName: `${metadata.name}-`,
      namespace,
      labels: { [functionLabel]: name, [functionVersionLabel]: metadata.name },
      ownerReferences: [controllerReference(functionResource, owner)],
    },
    spec: {
      // A function that needs the API brings its own credentials.
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: spec.timeoutSeconds + graceSeconds,
      containers: [
        {
          name: 'function',
          image: spec.image,
          imagePullPolicy: 'IfNotPresent',
          ports: [{ name: 'http', containerPort: instancePort }],
          env: [...Object.entries(variables).map(([name, value]) => ({ name, value })), ...(spec.env ?? [])],
          resources: spec.resources ?? {},
          terminationMessagePolicy: 'FallbackToLogsOnError',
          // It is ready when it listens; the gateway, which cannot wait for a probe, finds that out by itself.
          startupProbe: {
            tcpSocket: { port: instancePort },
            periodSeconds: 1,
            failureThreshold: startSeconds,
          },
        },
      ],
    },
  } as unknown as Draft<Pod>;
}
