/** Instances that wait for a version: what marks them, which versions they can be given to, and what they wait in. Pure. */
import { sortKeys } from '../../../apimachinery/equality.ts';
import type { Draft } from '../../../apimachinery/meta.ts';
import type { EnvVar } from '../../core/v1/types.gen.ts';
import { functionImage } from './function-image.ts';
import { instancePort } from './function-instance.ts';
import { dependencyFile } from './function-validation.ts';
import type { FunctionVersion } from './function-version.ts';

type Runtime = NonNullable<FunctionVersion['spec']['runtime']>;

/** Label of versions and pods of a pool: the runtime. A pod keeps it when it is given to a function. */
export const warmLabel = 'minik8s.io/warm';

/** Annotation: when it was given to a function, in RFC 3339. */
export const givenAtAnnotation = 'minik8s.io/given-at';

/** Seconds of the longest call that an instance of a pool can have. */
export const warmTimeoutSeconds = 30;

/** Set where an instance waits. */
export const waitsVariable = 'FUNCTION_WAITS';

/** Of a text, in hex. */
type Digest = (text: string) => string;

/** What the instances of a pool are made of: the program of the runtime and no files. */
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

/** Why an instance of a pool cannot become one of the version; undefined when it can. */
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

/** The environment of an instance of the version. */
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
