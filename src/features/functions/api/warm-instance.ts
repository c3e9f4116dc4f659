/**
 * Warm instances, which wait for a version: their label and annotation, the versions that they can be
 * assigned to, and the version of a pool. Pure.
 */

import type { EnvVar } from '../../../api/core/v1/types.gen.ts';
import { sortKeys } from '../../../apimachinery/equality.ts';
import type { Draft } from '../../../apimachinery/meta.ts';
import { functionImage } from './function-image.ts';
import { instancePort } from './function-instance.ts';
import { dependencyFile } from './function-validation.ts';
import type { FunctionVersion } from './function-version.ts';

type Runtime = NonNullable<FunctionVersion['spec']['runtime']>;

/** Label of versions and pods of a pool: the runtime. A pod keeps it after its assignment to a function. */
export const warmLabel = 'minik8s.io/warm';

/** Annotation with the time of the assignment to a function, in RFC 3339. */
export const givenAtAnnotation = 'minik8s.io/given-at';

/** Maximum duration of a call to an instance of a pool, in seconds. */
export const warmTimeoutSeconds = 30;

/** Variable that is set in a waiting instance. */
export const waitsVariable = 'FUNCTION_WAITS';

/** Hash of a text, in hex. */
type Digest = (text: string) => string;

/** Returns the version of a pool's instances: the program of the runtime without files. */
export function warmVersion(
  namespace: string,
  runtime: Runtime,
  baseImage: string,
  digest: Digest,
): Draft<FunctionVersion> {
  const name = `warm-${runtime}`;
  const hash = digest(JSON.stringify(sortKeys({ runtime, baseImage, waits: 1 })));
  return {
    apiVersion: 'minik8s.io/v1',
    kind: 'FunctionVersion',
    metadata: { name: `${name}-${hash.slice(0, 10)}`, namespace, labels: { [warmLabel]: runtime } },
    spec: {
      function: name,
      runtime,
      baseImage,
      handler: 'main.handler',
      image: functionImage(namespace, name, hash.slice(0, 32)),
      timeoutSeconds: warmTimeoutSeconds,
      concurrency: 1,
    },
  } as Draft<FunctionVersion>;
}

/** Returns the reason why an instance of a pool cannot be assigned to the version; undefined for none. */
export function warmProblem({ spec }: Pick<FunctionVersion, 'spec'>): string | undefined {
  const { runtime, baseImage, files = {}, binaryFiles = {}, env = [], resources = {}, timeoutSeconds } = spec;
  if (runtime === undefined || !baseImage) return 'it has an image of its own';
  const dependencies = dependencyFile(runtime);
  if (Object.hasOwn(files, dependencies) || Object.hasOwn(binaryFiles, dependencies))
    return `its libraries are in its image (${dependencies})`;
  if (Object.values(resources).some((amounts) => Object.keys(amounts ?? {}).length > 0))
    return 'it has resources of its own';
  if ((env as EnvVar[]).some(({ value = '', valueFrom }) => valueFrom !== undefined || value.includes('$(')))
    return 'its environment is read when a container is made';
  if (timeoutSeconds > warmTimeoutSeconds)
    return `its calls may take more than ${warmTimeoutSeconds} seconds`;
  return undefined;
}

/** Returns the environment of an instance of the version. */
export function instanceVariables({ metadata, spec }: FunctionVersion): readonly EnvVar[] {
  const own = {
    PORT: String(instancePort),
    FUNCTION_NAME: spec.function,
    FUNCTION_NAMESPACE: metadata.namespace ?? '',
    FUNCTION_VERSION: metadata.name,
    FUNCTION_CONCURRENCY: String(spec.concurrency),
    FUNCTION_TIMEOUT_SECONDS: String(spec.timeoutSeconds),
    ...(spec.handler !== undefined && { FUNCTION_HANDLER: spec.handler }),
  };
  const variables = Object.entries(own).map(([name, value]): EnvVar => ({ name, value }));
  return [...variables, ...((spec.env ?? []) as EnvVar[])];
}
